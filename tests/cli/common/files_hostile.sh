#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files that are not what they seem: FIFOs, holes of many gigabytes, sections that unpack to
# gigabytes, names that control terminals or are no UTF-8. Readers refuse or read on, and say why.
# shellcheck disable=SC2154 # T and others come from lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/attack/attack.sh" # is_clean

golden=$srcdir/tests/golden
cd "$T" || exit 99
status() { run_limited 20 "$@" >out 2>err; echo $?; }
copy_of() {
	rm -rf m
	cp -R "$1" m && chmod -R u+w m
}

# FIFOs: nobody opens the other end
copy_of "$golden/prof/job"
mkfifo m/y.hpcrun fifo fifo.cubin
is "a FIFO among the measurements" "$(status "$HPCPROF" --no-structs --to text m)" 1
is "... is named" "$(cat err)" "hpcprof-lite: m/y.hpcrun: not a regular file"
is "hpcstruct-lite of such a directory" "$(status "$HPCSTRUCT" -q m)" 1
like "... names it" "$(cat err)" "^hpcstruct-lite: m/y.hpcrun: not a regular file$"
rm m/y.hpcrun
is "hpcstruct-lite of a FIFO" "$(status "$HPCSTRUCT" -o s fifo.cubin)" 1
like "... names it" "$(cat err)" "fifo.cubin: not a regular file"
is "hpcstruct-lite --print of a FIFO" "$(status "$HPCSTRUCT" --print fifo)" 1
is "hpcstruct-lite --print of a device" "$(status "$HPCSTRUCT" --print /dev/zero)" 1
like "... names it" "$(cat err)" "/dev/zero: not a regular file"
rm m/structs/*
find "$golden/prof/job/structs" -name '*.hpcstruct' -exec sh -c 'mkfifo "m/structs/${1##*/}"' \
	sh {} \;
is "FIFOs in place of structures" "$(status "$HPCPROF" --no-structs --to text m)" 0
# The path of a module has the length of one of the golden ones; it names a FIFO.
copy_of "$golden/prof/job"
module=$("$HPCPROF" --no-structs --to text --all m 2>err |
	by_name '$1 == "module" && length(get("path")) > 12 { print get("path"); exit }')
mkdir p
fifo=$(awk -v n=${#module} -v t="/tmp/hlf$$" 'BEGIN { while (length(t) < n) t = t "x"; print t }')
mkfifo "$fifo"
at_exit "rm -f '$fifo'"
for f in m/*.hpcrun; do LC_ALL=C sed "s|$module|$fifo|g" "$f" >p/x && cp p/x "$f"; done
is "a module that names a FIFO" "$(status "$HPCPROF" --to text m)" 0
mkdir run
mkfifo run/.hpcrun-job run/1-x-1.hpcrun
# It is taken for the directory of another run: this one goes to run-2.
is "a FIFO in a run directory of hpcrun-lite" "$(status "$HPCRUN" -q -o run true)" 0
ok "... which the run leaves alone" test -d run-2
is "a FIFO beside the files that the report at the end reads" \
	"$(status "$HPCRUN" -o at-end sh -c 'mkfifo at-end/norank-x-1.hpcrun')" 0
like "... which comes" "$(cat err)" '^hpcrun-lite: .* samples?, '
if "$HPCRUN" replay --help >/dev/null 2>&1; then
	mkdir tape
	mkfifo tape/x.hpctape
	is "a FIFO in place of a recording" "$(status "$HPCRUN" replay -q tape -o r)" 1
fi

# Holes
copy_of "$golden/prof/killed"
"$HPCPROF" -q --no-structs --to text --all m >want 2>err
for f in m/*.hpcrun; do truncate -s 200G "$f"; done 2>err
if [ "$(du -k m | awk '{ print $1; exit }')" -lt 10000 ] &&
	[ "$(stat -c %s m/*.hpcrun)" -gt 200000000000 ]; then
	is "a measurement with a hole of 200 GB" \
		"$(status "$HPCPROF" -q --no-structs --to text --all m)" 0
	like "... is said" "$(cat err)" \
		'warning: a hole of [0-9]+ MiB at offset [0-9]+: what lies behind it is not read'
	for f in out want; do
		by_name -v OFS='\t' '$1 == "ledger" {
			$column[$1, "bytes"] = "bytes of the file" } 1' $f >$f.facts
	done
	same "... and all before it is read" out.facts want.facts
	cp "$golden/struct/shapes-gcc-O2-g.so" a.so
	"$HPCSTRUCT" -q --no-cache -o want.s a.so
	truncate -s 200G a.so
	is "a binary with such a hole" "$(status "$HPCSTRUCT" --no-cache -o s a.so)" 0
	like "... is said" "$(cat err)" 'a.so: warning: a hole of'
	is "... and read" "$("$HPCSTRUCT" --print s | grep -c '^function')" \
		"$("$HPCSTRUCT" --print want.s | grep -c '^function')"
else
	skip "large holes" "the file system makes none"
fi

# Compressed debug information that no compiler makes
cc=${CC:-gcc} # perhaps with a ccache in front
# packed TO FILE: a library whose .debug_str is the file, compressed
packed() {
	objcopy --update-section .debug_str="$2" f.so big.so &&
		objcopy --compress-debug-sections=zlib big.so "$1"
}
# shellcheck disable=SC2086 # several words
if have ${cc%% *} && have objcopy && echo 'int f(void) { return 1; }' >f.c &&
	$cc -g -shared -fPIC -o f.so f.c &&
	head -c 67108864 /dev/zero >zeros && packed bomb.so zeros 2>err &&
	[ "$(stat -c %s bomb.so)" -lt 1000000 ]; then
	is "a section that unpacks to a thousand times its size" \
		"$(status "$HPCSTRUCT" --no-cache -o s bomb.so)" 0
	like "... is said" "$(cat err)" \
		"bomb.so: warning: section .debug_str at file offset 0x[0-9a-f]* claims that its [0-9]+ bytes unpack to 67108864, which no debug information does"
	head -c 300000 /dev/urandom | od -An -tx1 >noise
	packed good.so noise
	is "one that does not" "$(status "$HPCSTRUCT" --no-cache -o s good.so)" 0
	unlike "... is believed" "$(cat err)" "unpack"
else
	skip "compressed sections" "no compiler, or no objcopy that makes them"
fi

# Names. The metric REALTIME of the golden measurement becomes one that controls a terminal and is
# no UTF-8.
copy_of "$golden/prof/job"
for f in m/*.hpcrun; do
	LC_ALL=C sed 's/REALTIME/R\x1b[7m\xff\xc2\x9b/; s/node0/n\xe2\x80\xae0/g' "$f" >x &&
		cp x "$f"
done
ok "the names are there" grep -aq "$(printf 'R\033\\[7m')" m/0-node0-1000.hpcrun
for how in "--to text --threshold 0" "--to text --all"; do
	# shellcheck disable=SC2086 # several words
	is "$how" "$(status "$HPCPROF" --no-structs $how m)" 0
	ok "... nothing controls the terminal" is_clean out
	ok "... nor do the messages" is_clean err
done
like "scripts get them so that they can be turned back" "$(cat out)" '	R\\x1b\[7m\\xff\\xc2\\x9b'
is "--metric without such a name" "$(status "$HPCPROF" --no-structs --to text --metric no m)" 2
ok "... lists what there is, clean" is_clean err
ok "the database is written" "$HPCPROF" -q --no-structs --to cctdb -o db m
ok "default.yaml is UTF-8" iconv -f UTF-8 -t UTF-8 -o /dev/null db/metrics/default.yaml
ok "... without control characters" is_clean db/metrics/default.yaml
ok "... and the whole is sound" "${PYTHON3:-python3}" "$srcdir/tests/judge/read_cctdb.py" db
esc=$(printf '\033')
"$HPCPROF" "absent${esc}[31m" 2>err
ok "names on the command line" is_clean err
"$HPCRUN" -o run/new "./absent${esc}[31m" 2>err
ok "of the launcher, too" is_clean err
done_testing
