# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The instructions in report.html: host code against objdump, SASS as nvdisasm prints it, their
# samples against the text, and who may see them. The browser part is in sink_html.sh.
. "${top_srcdir:-.}/tests/lib.sh"

JUDGE=$srcdir/tests/judge
PYTHON3=${PYTHON3:-python3}
golden=$srcdir/tests/golden/nvidia
need "$PYTHON3"

# page NAME MEASUREMENT ARGUMENTS...: the report as $T/NAME, its code as $T/NAME.code, what the text
# says as $T/NAME.facts
page() {
	page_name=$1
	page_of=$2
	shift 2
	"$HPCPROF" -q --to html -o "$T/$page_name" "$@" "$page_of" 2>"$T/err"
	"$PYTHON3" "$JUDGE/read_code.py" "$T/$page_name/report.html" >"$T/$page_name.code"
	"$HPCPROF" -q --to text --all "$page_of" >"$T/all" 2>/dev/null
	"$PYTHON3" "$JUDGE/read_text.py" "$T/all" >"$T/$page_name.facts"
}

# --- host code ---

cat >"$T/spin.c" <<'C'
__attribute__((noinline)) double part(double x) { return x * 1.0000001; }
__attribute__((noinline)) double work(int n, double y)
{
	double x = 1;
	for (int i = 0; i < n; i++)
		x = part(x) + y / (x + 2);
	return x;
}
int main(int argc, char **argv)
{
	(void)argv;
	return work(20000000, argc) < 0;
}
C
objdump=$(command -v objdump || command -v llvm-objdump || true)
if [ -z "${SANITIZER:-}" ] && ${CC:-cc} -g -O1 -o "$T/spin" "$T/spin.c"; then
	"$HPCRUN" -q -e CPUTIME@f1000 -o "$T/m" -- "$T/spin" >/dev/null 2>&1
	page host "$T/m"
	[ -z "$objdump" ] || "$objdump" -d -M intel --no-show-raw-insn "$T/spin" >"$T/dump"
	"$PYTHON3" "$JUDGE/judge_code.py" "$T/host.code" work CPUTIME "$T/host.facts" \
		${objdump:+"$T/dump"} >"$T/said"
	like "host: samples of instructions are the function's" "$(cat "$T/said")" '^samples True'
	case $(uname -m) in
	x86_64) like "host: each instruction has a text" "$(cat "$T/said")" '^texts True' ;;
	*) skip "host: each instruction has a text" "another machine, perhaps without objdump" ;;
	esac
	if [ -n "$objdump" ] && [ "$(uname -m)" = x86_64 ]; then
		like "host: mnemonics as objdump prints them" "$(cat "$T/said")" '^mnemonics True'
	else
		skip "host: mnemonics as objdump prints them" "no objdump for this machine"
	fi
	diag_file "$T/said" 5
	like "host: lines" "$(cat "$T/host.code")" 'spin\.c:6 '
	[ "$(uname -m)" != x86_64 ] || like "host: the name of a function that is called" \
		"$(cat "$T/host.code")" 'spin\.c:6 call 0x[0-9a-f]* <part>$'
	is "host: everyone may read the report" "$(stat -c %a "$T/host/report.html")" 644
	is "host: no copy is left behind" "$(ls "$T/host")" report.html
	page none "$T/m" --no-sources
	is "--no-sources: no instructions" "$(cat "$T/none.code")" ""
	page part "$T/m" --thread 0
	is "a part of the run: no instructions" "$(cat "$T/part.code")" ""
	chmod 700 "$T/spin"
	page private "$T/m"
	is "a private binary makes a private report" "$(stat -c %a "$T/private/report.html")" 600
	sed 's/1\.0000001/1.0000002/' "$T/spin.c" >"$T/other.c"
	${CC:-cc} -g -O1 -o "$T/spin" "$T/other.c"
	page kept "$T/m"
	like "a binary that changed: the copy that the measurement kept" \
		"$(cat "$T/kept.code")" '^0x[0-9a-f]* CPUTIME=.* addsd xmm'
	rm -r "$T/m/binaries"
	page changed "$T/m"
	like "a binary that changed: its addresses" "$(cat "$T/changed.code")" \
		'^0x[0-9a-f]* CPUTIME=.* $'
	like "... and why" "$(cat "$T/changed.code")" '^missing no instructions of .*/spin: '
else
	skip "host code" "no compiler, or a sanitizer"
fi

# --- SASS ---

mkdir -p "$T/nv/gpubins" "$T/bin" "$T/bad" "$T/empty"
gzip -dc "$golden/paths-bursts.hpcrun.gz" >"$T/nv/norank-vm-1.hpcrun"
for f in "$golden"/gpubins/*.gz; do
	gzip -dc "$f" >"$T/nv/gpubins/$(basename "$f" .gz)"
done
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$(command -v "$PYTHON3")" "$JUDGE/fake_nvdisasm.py" \
	>"$T/bin/nvdisasm"
printf '#!/bin/sh\nexit 1\n' >"$T/bad/nvdisasm"
chmod +x "$T/bin/nvdisasm" "$T/bad/nvdisasm"
kernel=shared_kernel

path=$PATH
PATH=$T/bin:$path
page sass "$T/nv"
PATH=$T/bad:$path
page broken "$T/nv"
PATH=$path
"$PYTHON3" "$JUDGE/judge_code.py" "$T/sass.code" $kernel GINS "$T/sass.facts" >"$T/said"
like "SASS: samples of instructions are the kernel's" "$(cat "$T/said")" '^samples True'
like "SASS: each instruction has a text" "$(cat "$T/said")" '^texts True'
diag_file "$T/said" 5
like "SASS: the text of an address, its label, line and stalls" "$(cat "$T/sass.code")" \
	'^0xbb40 GINS=129015=129015,.*GINS:STL_IDEP=2=2.*truth_kernels.cu:164 \.L_x_2: FFMA R7, R7, R0, 0\.5$'
like "nvdisasm fails: the samples are there" "$(cat "$T/broken.code")" '^0xbb40 GINS=129015'
like "... and why they have no text" "$(cat "$T/broken.code")" \
	'^missing no instructions of .*84ffd5.*: nvdisasm failed or printed too much$'
# two binaries, of which nvdisasm refuses the first that it sees
cubin=$srcdir/tests/golden/cubin/calls.sm_90.lineinfo.cubin
mkdir -p "$T/picky" "$T/hangs"
{ cat "$cubin" && echo; } >"$T/longer.cubin"
for i in "$cubin" "$T/longer.cubin"; do
	run=$T/${i##*/}.run
	"$builddir/tests/gen/gen_pc" "$run" "$i" "$srcdir/tests/golden/prof/pc/calls-h200.txt"
	mkdir "$run/structs"
	for f in "$run"/gpubins/*; do
		"$HPCSTRUCT" -q --no-cache -o "$run/structs/$(basename "$f" .gpubin).hpcstruct" "$f"
	done
done
cat >"$T/picky/nvdisasm" <<SH
#!/bin/sh
for copy; do :; done
[ -e "$T/refused" ] || cp "\$copy" "$T/refused"
if cmp -s "\$copy" "$T/refused"; then
	echo again >>"$T/asked"
	exit 1
fi
exec "$T/bin/nvdisasm" "\$@"
SH
cat >"$T/hangs/nvdisasm" <<SH
#!/bin/sh
sleep 600 &
echo \$! >"$T/child.new"
mv "$T/child.new" "$T/child"
wait
SH
chmod +x "$T/picky/nvdisasm" "$T/hangs/nvdisasm"
PATH=$T/picky:$path
page two "$T/longer.cubin.run" "$T/${cubin##*/}.run"
PATH=$path
is "nvdisasm refuses a binary: the page says so of this one" \
	"$(grep -c '^missing no instructions of /.*: nvdisasm failed' "$T/two.code")" 1
like "... and has the instructions of the other" "$(cat "$T/two.code")" \
	' @!P0 OP[0-9A-F]* R[0-9]*, RZ$'
is "... and asks once about each" "$(wc -l <"$T/asked" | tr -d ' ')" 1

PATH=$T/hangs:$path
"$HPCPROF" -q --to html -o "$T/killed" "$T/nv" >/dev/null 2>&1 &
pid=$!
PATH=$path
n=0
while [ ! -e "$T/child" ] && [ $n -lt 600 ]; do
	sleep 0.05
	n=$((n + 1))
done
kill "$pid"
wait "$pid" || true
child=$(cat "$T/child")
# killed, but perhaps not yet gone
n=0
while grep -qs '^State:.[^XZ]' "/proc/$child/status" && [ $n -lt 200 ]; do
	sleep 0.05
	n=$((n + 1))
done
is "a signal to hpcprof-lite ends nvdisasm and what it started" \
	"$(grep -s '^State:.[^XZ]' "/proc/$child/status")" ""
is "... and leaves nothing behind" "$(find "$T" -maxdepth 1 -name '*killed*')" ""
[ ! -d "/proc/$child" ] || kill "$child" || true

if [ -z "$(command -v nvdisasm || ls /usr/local/cuda*/bin/nvdisasm 2>/dev/null)" ]; then
	CUDA_HOME=$T/empty page absent "$T/nv"
	like "no nvdisasm: the page names it" "$(cat "$T/absent.code")" \
		'^missing no instructions of GPU kernels: nvdisasm is not in PATH'
else
	page real "$T/nv"
	"$PYTHON3" "$JUDGE/judge_code.py" "$T/real.code" $kernel GINS "$T/real.facts" >"$T/said"
	like "SASS: each instruction has a text of nvdisasm" "$(cat "$T/said")" '^texts True'
fi
done_testing
