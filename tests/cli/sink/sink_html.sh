# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# report.html: the file itself, and in a real browser what the page says and does. The browser part
# needs Chromium, its driver and Selenium (Debian: chromium, chromium-driver, python3-selenium).
. "${top_srcdir:-.}/tests/lib.sh"

FIXTURE=$builddir/tests/unit/sink/sink_fixture
GEN=$builddir/tests/gen/gen_measurement
JUDGE=$srcdir/tests/judge
golden=$srcdir/tests/golden
need "${PYTHON3:-python3}"
[ -x "$HPCPROF" ] || skip_all "hpcprof-lite is not built"

report() { # DIRECTORY ARGUMENTS...: the report of a measurement in $T/db
	rm -rf "$T/db"
	"$HPCPROF" -q --no-structs --to html -o "$T/db" "$@" 2>"$T/err"
}

# --- the file ---

report "$golden/prof/gpu" || fail "a report is written" "$(cat "$T/err")"
cp "$T/db/report.html" "$T/gpu.html"
report -j 1 "$golden/prof/gpu"
same "the number of workers changes nothing" "$T/db/report.html" "$T/gpu.html"
is "it loads nothing from elsewhere" "$(sed '/data-section=/d' "$T/gpu.html" |
	grep -cE '(src|href)="[^#]|url\([^#]|@import|https?://')" 0
is "nothing but the report is in the directory" "$(ls "$T/db")" report.html

rm -rf "$T/db"
(
	ulimit -f 20
	"$HPCPROF" -q --no-structs --to html -o "$T/db" "$golden/prof/gpu" >"$T/out" 2>"$T/err"
)
is "no room for it: status" $? 1
like "no room for it: message" "$(cat "$T/err")" 'report\.html: .*File too large'
is "no room for it: nothing is left" "$(ls -d "$T"/db* 2>/dev/null)" ""

# source lines: only around values, none on request, for no one who may not read the file
mkdir "$T/src"
cat >"$T/src/spin.c" <<'C'
int main(int argc, char **argv)
{
	volatile double x = 1;
	(void)argv;
	for (long i = 0; i < 60000000L; i++)
		x = x * 1.0000001 + argc; /* a line of SECRET source */
	return x < 0;
}
C
sections() { # REPORT NAME: the bytes of one section
	sed -n "s|.*data-section=\"$2\">\\([^<]*\\)<.*|\\1|p" "$1" | base64 -d | gzip -dc
}
if [ -z "${SANITIZER:-}" ] && ${CC:-cc} -g -O1 -o "$T/src/spin" "$T/src/spin.c"; then
	hostile='</script><script>document.title="taken"</script><img src=x onerror=alert(1)>'
	rtl=$(printf '\342\200\256desrever\033[31m')
	mv "$T/src/spin" "$T/src/spin$rtl"
	"$HPCRUN" -q -e CPUTIME -o "$T/m" -- "$T/src/spin$rtl" "$hostile" "$rtl" >/dev/null 2>&1
	chmod 600 "$T/src/spin.c"
	"$HPCPROF" -q --to html -o "$T/with" "$T/m" 2>"$T/err"
	like "source lines are in it" "$(sections "$T/with/report.html" sources)" SECRET
	is "a private source makes a private report" "$(stat -c %a "$T/with/report.html")" 600
	"$HPCPROF" -q --to html --no-sources -o "$T/without" "$T/m" 2>"$T/err"
	unlike "--no-sources: none" "$(sections "$T/without/report.html" sources)" SECRET
	is "no name ends its element" "$(grep -c 'onerror=alert' "$T/with/report.html")" 0
else
	skip "source lines" "no compiler, or a sanitizer"
fi

# --- the page ---

# shellcheck source=/dev/null
. "$srcdir/tests/judge/browser.sh"
if [ -z "$browser" ]; then
	skip "the page in a browser" "no chromium, chromium-driver or python3-selenium here"
	done_testing
	exit
fi

judged="contexts profiles total function samples"
PYTHON3=${PYTHON3:-python3}
mkdir "$T/page"

# facts_of N DIRECTORY: the report of a measurement as page N, what the complete text says of it
facts_of() {
	report "$2"
	cp "$T/db/report.html" "$T/page/$1.html"
	"$HPCPROF" -q --no-structs --to text --all "$2" >"$T/all" 2>/dev/null
	"$PYTHON3" "$JUDGE/read_text.py" "$T/all" >"$T/page/$1.want"
}

# a_model N ARGUMENTS: that of a model
a_model() {
	# shellcheck disable=SC2086 # words
	"$FIXTURE" html "$T/page" $2 && mv "$T/page/report.html" "$T/page/$1.html"
	# shellcheck disable=SC2086
	"$FIXTURE" sums - $2 >"$T/page/$1.want"
}

# agrees N NAME: the page's sums are those
agrees() {
	# shellcheck disable=SC2086
	ok "$2: the page says what the text says" "$PYTHON3" "$JUDGE/compare_facts.py" -t 1e-6 \
		"$T/page/$1.facts" "$T/page/$1.want" $judged
}

# used N NAME: every check of a user's session
used() {
	[ -s "$T/page/$1.used" ] || fail "$2: the session ends well" "$(tail -n 3 "$T/err")"
	while read -r result what; do
		if [ "$result" = ok ]; then pass "$2: $what"; else fail "$2: ${what#ok }"; fi
	done <"$T/page/$1.used"
}

facts_of gpu "$golden/prof/gpu"
"$GEN" -p 8 -t 3 -r -m 2 -n 400 "$T/ranks" >/dev/null
facts_of ranks "$T/ranks"
# a recording of an NVIDIA GPU with PC samples
mkdir -p "$T/nv/structs" "$T/nv/gpubins"
gzip -dc "$golden/nvidia/paths-bursts.hpcrun.gz" >"$T/nv/norank-vm-1.hpcrun"
for f in "$golden"/nvidia/structs/*.gz; do
	gzip -dc "$f" >"$T/nv/structs/$(basename "$f" .gz)"
done
for f in "$golden"/nvidia/gpubins/*.gz; do
	gzip -dc "$f" >"$T/nv/gpubins/$(basename "$f" .gz)"
done
facts_of nvidia "$T/nv"
mkdir "$T/meter"
gzip -dc "$golden/energy/steps.hpcrun.gz" >"$T/meter/norank-vm-1.hpcrun"
report "$T/meter" && cp "$T/db/report.html" "$T/page/meter.html"
a_model loops "n_metrics=3 n_extra=20 loops=1 n_gpu_ops=30 recursion=800"
for n in 0 1; do
	a_model "few$n" "n_samples=$n n_processes=1 n_threads=1 n_gpu_ops=0"
done

# two sides of a comparison
"$builddir/tests/gen/gen_compare" "$T/base"
"$builddir/tests/gen/gen_compare" --solve 11000 "$T/new"
"$HPCPROF" compare -q --no-structs --html "$T/sides.html" "$T/base" "$T/new" >/dev/null 2>"$T/err"
is "comparison: the page is written" "$?" 0
"$HPCPROF" compare -q --no-structs --html "$T/sides.html" "$T/base" "$T/new" >/dev/null 2>"$T/err"
is "comparison: and replaced" "$? $(cat "$T/err")" "0 "
"$HPCPROF" compare -q --no-structs --html "$T/none/x.html" "$T/base" "$T/new" >/dev/null 2>"$T/err"
is "comparison: a place that is not there" "$?" 1
is "comparison: nothing half is left" "$(find "$T" -name '*partial*')" ""
cp "$T/sides.html" "$T/page/sides.html"
# two runs of a side, which differ a little, and one of the other
"$builddir/tests/gen/gen_compare" --solve 10100 --kernels 40 "$T/base2"
"$builddir/tests/gen/gen_compare" --solve 13000 --kernels 50 "$T/new1"
for sort in self total; do
	COLUMNS=200 "$HPCPROF" compare -q --no-structs --sort $sort --html "$T/page/runs.html" \
		--base "$T/base" --base "$T/base2" "$T/new1" >"$T/page/runs-$sort.txt" 2>"$T/err"
done
mv "$T/page/runs-self.txt" "$T/page/runs.txt"
[ ! -f "$T/with/report.html" ] || cp "$T/with/report.html" "$T/page/with.html"

set --
for n in loops gpu ranks nvidia sides; do
	set -- "$@" "facts=$T/page/$n.facts" "$T/page/$n.html"
done
# blame_golden.sh and advice_golden.sh have views that only the page of PC samples has.
set -- "$@" "keys=$T/page/keys.used" "$T/page/gpu.html"
for n in gpu sides; do
	set -- "$@" "use=$T/page/$n.used" "$T/page/$n.html"
done
set -- "$@" "kernels=$T/page/nvidia.used" "$T/page/nvidia.html" \
	"flame=$T/page/loops.used" "$T/page/loops.html" \
	"power=$T/page/meter.used" "$T/page/meter.html" \
	"compare=$T/page/runs.used" "$T/page/runs.html" \
	"empty=$T/page/few0.used" "$T/page/few0.html" "empty=$T/page/few1.used" "$T/page/few1.html"
[ ! -f "$T/page/with.html" ] || set -- "$@" "title=$T/title" "$T/page/with.html" \
	"empty=$T/page/with.used" "$T/page/with.html" "code=$T/page/code.used" "$T/page/with.html"
ok "the pages in a browser" browse "$@"
diag_file "$T/err" 10
agrees loops "a model with three metrics, loops and GPUs"
agrees ranks "8 ranks of 3 threads, without a GPU"
agrees gpu "OpenCL on two ranks"
used gpu "OpenCL on two ranks"
agrees nvidia "PC samples of a GPU"
used nvidia "PC samples of a GPU"
used sides comparison
used keys keyboard
used meter "a meter of energy"
used loops "recursion and loops"
used runs "comparison of several runs"
used few0 "no samples"
used few1 "one sample"
grep '^total' "$T/page/sides.facts" >"$T/facts"
like "comparison: both sides are there" "$(cat "$T/facts")" 'before'
is "comparison: no side is the other" "$(cut -f 3 "$T/facts" | sort -u | wc -l)" 2

if [ -f "$T/page/with.html" ]; then
	used with "a program"
	used code "a hostile name"
	is "hostile arguments: the title stays, and shows a name as what it is" \
		"$(sed -n 1p "$T/title")" "spin‹U+202E›desrever␛[31m – hpctoolkit-lite"
	is "hostile arguments: no element comes of them" "$(sed -n 2p "$T/title")" 0
	like "hostile arguments: they are shown as a shell reads them" "$(sed -n 3p "$T/title")" \
		"'</script><script>document.*' [$]'.342.200.256desrever.033"
fi
done_testing
