# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# GPUs in the outputs, from a hand-made model: the report for people letter by letter, what its
# options change, its width; and that the complete text, the CCT database and both forms of the OTF2
# archive agree fact by fact on metrics, operations of each queue and the ledger. sink_gpu.sh
# --accept writes the expected reports anew.
. "${top_srcdir:-.}/tests/lib.sh"

FIXTURE=$builddir/tests/unit/sink/sink_fixture
JUDGE=$srcdir/tests/judge
golden=$srcdir/tests/golden/sink
accept=no
[ "${1:-}" = --accept ] && accept=yes
need "${PYTHON3:-python3}"
unset COLUMNS NO_COLOR

# expect NAME ARGUMENTS...: the report equals golden/NAME.txt
expect() {
	name=$1
	shift
	"$FIXTURE" text - "$@" >"$T/out" 2>"$T/err" || fail "$name: status $?"
	if [ $accept = yes ]; then cp "$T/out" "$golden/$name.txt"; fi
	same "$name as expected" "$T/out" "$golden/$name.txt"
}
LC_ALL=C.UTF-8
export LC_ALL
expect gpu-120 n_gpu_ops=30 n_samples=60 n_metrics=1 width=120
expect gpu-100 n_gpu_ops=30 n_samples=60 n_metrics=1 n_processes=1 width=100
expect gpu-only n_gpu_ops=30 n_samples=60 n_metrics=1 n_processes=1 width=120 "metric=GPUOP (sec)"

report() { "$FIXTURE" text - n_gpu_ops=30 n_samples=60 n_metrics=1 n_processes=1 width=140 "$@"; }
is "the way to a kernel: from main to where it is defined" \
	"$(report |
	grep -oE \
	'(main|clEnqueueNDRangeKernel +main.c:14|<gpu kernel>|saxpy[(]float, float const[*], float[*][)] +saxpy.cl:4)$' | head -4 | tr -s ' ' | tr '\n' ';')" \
	"main;clEnqueueNDRangeKernel main.c:14;<gpu kernel>;saxpy(float, float const*, float*) saxpy.cl:4;"
is "of a long way to a kernel the middle is left out, the launch is not" \
	"$(report gpu_depth=20 n_samples=0 |
	grep -oE \
	'(: [0-9]+ more calls|recurse +main.c:2(18|19)|clEnqueueNDRangeKernel +main.c:14|<gpu kernel>|saxpy.* +saxpy.cl:4|⋮ [0-9]+ more calls)$' | head -6 | tr -s ' ' | tr '\n' ';')" \
	"⋮ 14 more calls;recurse main.c:218;recurse main.c:219;clEnqueueNDRangeKernel main.c:14;<gpu kernel>;saxpy(float, float const*, float*) saxpy.cl:4;"
is "no GPU, no word of GPUs" "$("$FIXTURE" text - width=120 | grep -c GPU)" 0
is "... nor a record" "$("$FIXTURE" text - all=1 | grep -cE '^(# )?(gpu-|kernel|copies|queue)')" 0
like "--metric takes those of GPUs" "$(report "metric=GXCOPY:H2D (B)")" \
	'^Functions by their own GXCOPY:H2D \(B\), then by total$'
like "--metric does not need the unit" "$(report metric=GXCOPY:H2D)" \
	'^Functions by their own GXCOPY:H2D'
like "--metric of a mean says that it sums" "$(report metric=GKER:BLKS)" \
	'^Call paths from the top, GKER:BLKS, summed over launches$'
like "a metric without anything" \
	"$("$FIXTURE" text - n_gpu_ops=1 n_samples=5 "metric=GXCOPY (sec)")" \
	'^Nothing of GXCOPY \(sec\)\.$'
like "GPU time is shown where there are no samples" \
	"$("$FIXTURE" text - n_gpu_ops=5 n_samples=0 n_metrics=1)" '<gpu kernel>'
for width in 80 100 120 160; do
	is "no line of $width columns is wider" \
		"$(report "width=$width" | awk -v w=$width \
		'/^(Ledger|GPU ledger|Call paths|Threads|GPU devices)|rank 0 node1|GPU 0|CPU clock|^  [a-zC0-9]/ { next } { gsub(/[^ -~]+/, "x") } length > w' | wc -l)" \
		0
done

# agree NAME ARGUMENTS...: four tests
agree() {
	name=$1
	shift
	rm -rf "$T/db" "$T/el"
	mkdir "$T/db" "$T/el"
	"$FIXTURE" text - all=1 "$@" >"$T/all"
	if "$PYTHON3" "$JUDGE/read_text.py" "$T/all" >"$T/text"; then
		ok "$name: the complete text reads through" true
	else
		fail "$name: the complete text reads through"
	fi
	if "$FIXTURE" cctdb "$T/db" "$@" && "$PYTHON3" "$JUDGE/read_cctdb.py" "$T/db" \
		>"$T/cctdb"; then
		grep -Ev '^(bytes|contexts)' "$T/text" >"$T/text-cctdb"
		ok "$name: text and CCT database agree" "$PYTHON3" "$JUDGE/compare_facts.py" \
			"$T/text-cctdb" "$T/cctdb"
	else
		fail "$name: the CCT database is sound"
	fi
	if [ $otf2 = no ]; then
		skip "$name: text and OTF2 archive agree" "no OTF2, or no otf2-print"
		skip "$name: ... also with Enter and Leave" "no OTF2, or no otf2-print"
		return
	fi
	kinds="profiles total function path samples kind busy bytes launched joined summed-up lost"
	if "$FIXTURE" otf2 "$T/db" "$@" && "$PYTHON3" "$JUDGE/read_otf2.py" \
		"$T/db/otf2/traces.otf2" >"$T/otf2"; then
		# shellcheck disable=SC2086 # a list of words
		ok "$name: text and OTF2 archive agree" "$PYTHON3" "$JUDGE/compare_facts.py" \
			-t 1e-5 "$T/text" "$T/otf2" $kinds ops
	else
		fail "$name: the OTF2 archive is sound"
	fi
	if "$FIXTURE" otf2 "$T/el" form=enterleave "$@" &&
		"$PYTHON3" "$JUDGE/read_otf2.py" "$T/el/otf2/traces.otf2" >"$T/el.facts"; then
		grep -v '^samples' "$T/text" >"$T/text-el" # threads have none in this form
		grep -v '^samples' "$T/el.facts" >"$T/otf2-el"
		# shellcheck disable=SC2086 # a list of words
		ok "$name: ... also with Enter and Leave" "$PYTHON3" "$JUDGE/compare_facts.py" \
			-t 1e-5 "$T/text-el" "$T/otf2-el" $kinds
	else
		fail "$name: the archive of the form enterleave is sound"
	fi
}
otf2=no
if grep -q '^#define HAVE_OTF2 ' "$builddir/config.h" && have otf2-print; then otf2=yes; fi
agree "two ranks" n_gpu_ops=40 loops=1
agree "no ranks" n_gpu_ops=33 n_processes=3 n_threads=1 ranks=0
agree "one operation" n_gpu_ops=1 n_samples=0 n_processes=1
agree "no time lines" n_gpu_ops=20 traces=0
agree "many operations" n_gpu_ops=600 n_samples=10 n_metrics=1

# The comparison must be able to say no: one operation less, another duration, one launch more.
for change in 's/^gpu-op.*\tH2D\t.*$/# &/;t' \
	's/^\(gpu-kind\tall\t.*\t\)[0-9]*\(\t[0-9]*\t[0-9]*\)$/\1999\2/' \
	's/^\(gpu-op\t[0-9]*\t[0-9]*\)[0-9]\(\t\)/\19\2/'; do
	sed "$change" "$T/all" >"$T/changed"
	"$PYTHON3" "$JUDGE/read_text.py" "$T/changed" | grep -Ev '^(bytes|contexts)' >"$T/facts"
	not_ok "the comparison sees $change" "$PYTHON3" "$JUDGE/compare_facts.py" "$T/facts" \
		"$T/cctdb"
done
done_testing
