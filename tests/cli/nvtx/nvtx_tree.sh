#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcprof-lite --nvtx tree: ranges of NVTX are contexts in all outputs that show the tree.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/run_lib.sh"
PROGRAM=$builddir/tests/workload/nvtx/nvtx_program

# prof OPTION...: standard output in $T/out.
prof() {
	rm -rf "$T/db"
	COLUMNS=160 "$HPCPROF" -q -o "$T/db" "$@" "$OUT" >"$T/said" 2>"$T/err" ||
		fail "hpcprof-lite $*" "$(cat "$T/err")"
}
# innermost: of each path in the folded stacks, its last function and its sum, in order.
innermost() {
	cat "$T"/db/folded/* | sed 's/.*;//' |
		awk '{ n = $NF; $NF = ""; sum[$0] += n }
		     END { for (i in sum) print i sum[i] }' | sort
}

measure -q -e CPUTIME@f500 -e NVTX -- "$PROGRAM" ranges
is 'status' "$status" 0
prof --to folded
innermost >"$T/plain"
is 'without the option there are none' "$(grep -c '<range' "$T/plain")" 0
prof --nvtx tree --to folded
innermost >"$T/with"
cp -r "$T/db" "$T/folded"
ok 'there are functions' grep -q '^burn ' "$T/plain"
ok 'the time of no function changes' cmp "$T/plain" "$T/with"
like 'a range in the function that pushed it, with its function again' \
	"$(cat "$T"/folded/folded/*)" \
	';nested;<range outer>;<range inn.*r>;nested;burn '
like 'the same range in two others' "$(cat "$T"/folded/folded/*)" \
	';<range second of two>;<range in both>;twice;burn '
prof --nvtx tree --to text --threshold 0
like 'at the line of the push' "$(grep '<range outer>' "$T/said")" 'nvtx_program.c:[0-9]+$'
prof --nvtx tree --to text --below '<range outer>'
is 'below a range: nothing else' "$(grep -c twice "$T/said")" 0
prof --nvtx tree --to json
is 'json: a placeholder' "$(tr -d ' \n' <"$T/db/profile.json" |
	grep -o '"name":"<range[^}]*"placeholder":"[a-z]*"' | sed 's/.*://' | sort -u)" '"range"'
outputs=$("$HPCPROF" --to nothing "$OUT" 2>&1 | sed 's/.*(text, \([^)]*\)).*(.*/\1/' | tr -d ,)
ok 'there are outputs' test "${outputs#*folded}" != "$outputs"
for output in $outputs; do
	prof --nvtx tree --to "$output"
done
# With a run that has none of it. What does not differ is noise, of which three rows are shown.
mv "$OUT" "$T/ranges"
measure -q -e CPUTIME@f500 -e NVTX -- "$PROGRAM" fork
COLUMNS=160 "$HPCPROF" compare --nvtx tree "$OUT" "$T/ranges" >"$T/said" 2>&1
like 'compare' "$(cat "$T/said")" '<range outer> > <range inn.*r> > nested > burn'
"$HPCPROF" --nvtx table "$OUT" >"$T/said" 2>&1
is 'another word: the message' "$(cat "$T/said")" \
	"hpcprof-lite: --nvtx: 'table' is none of tree (--help lists the options)"

done_testing
