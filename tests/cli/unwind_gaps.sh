#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An executable that is not PIE and has gaps between its segments, as lld and large alignments make them: the loader then knows it
# segment by segment, and neither its build id nor its unwind tables lie in the segment of the code.
srcdir=${top_srcdir:-.}
. "$srcdir/tests/lib.sh"

${CC:-gcc} -O2 -g -no-pie -fomit-frame-pointer -Wl,-z,separate-code,-z,max-page-size=0x200000,--build-id \
	-o "$T/deep" "$srcdir/tests/bench/deep.c" 2>"$T/err" || skip_all "no linker that leaves gaps between segments"
run_limited 60 "$HPCRUN" -q -e CPUTIME@f1000 -o "$T/m" -- "$T/deep" 300 25 >"$T/out"
is "the program ends well" "$?" 0
run_limited 60 "$HPCPROF" --to text --all "$T/m" >"$T/all" 2>"$T/err"
is "it is analysed" "$?" 0
id=$(readelf -n "$T/deep" | sed -n 's/.*Build ID: //p')
like "its build id is recorded, and it has lines" "$(grep '^module' "$T/all")" "lines.$id"
ends=$(awk -F'\t' '$1 == "end" && $2 == "profile" && $4 != "complete" && $5 > 0' "$T/all")
is "every call path is complete" "$ends" ""
is "no frame is guessed" "$(awk -F'\t' '$1 == "context" && $7 == 1' "$T/all" | head -n 1)" ""
ok "the recursion is there" [ "$(awk -F'\t' '$1 == "tree" && $5 == "descend"' "$T/all" | wc -l)" -ge 24 ]
done_testing
