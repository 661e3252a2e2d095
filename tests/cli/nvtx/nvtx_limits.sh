#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that use NVTX badly, or much, or fork: nothing breaks, and what is left out is counted.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/run_lib.sh"
PROGRAM=$builddir/tests/workload/nvtx/nvtx_program

report() {
	COLUMNS=160 "$HPCPROF" -q --no-structs --to text --threshold 0 "$OUT" >"$T/report" \
		2>"$T/prof.err" || fail "hpcprof-lite: $(cat "$T/prof.err")"
	sed -n '/^Ranges of NVTX/,/^$/p' "$T/report" >"$T/table"
}

PLAIN=$("$PROGRAM" limits)
measure -q -e CPUTIME -e NVTX -- "$PROGRAM" limits
is 'limits: status' "$status" 0
is 'limits: the same output' "$(cat "$T/stdout")" "$PLAIN"
sound 'limits: every identity holds'
report
ok 'limits: 372 of 500 nested ranges are too deep' \
	grep -q '^  372 ranges or marks could not be recorded$' "$T/table"
within 'limits: rows of names' "$(grep -c ' [0-9]* name$' "$T/table")" 8000 8192
ok 'limits: names beyond share a row' grep -q ' <other ranges>$' "$T/table"
like 'limits: open at exit' "$(grep -A1 'open at exit$' "$T/table")" '1 not ended'
ok 'limits: ranges that were too deep are not begun' grep -q '^ *128 .* deep$' "$T/table"
ok 'limits: bytes that are not UTF-8' grep -q ' bytes ' "$T/table"
size=$(find "$OUT" -name '*.hpcrun' -size +4096k)
is 'limits: 100,000 names take less than 4 MiB' "$size" ''

# shellcheck disable=SC2016 # the inner shell expands it
measure -q -e CPUTIME -e NVTX -- sh -c 'ulimit -f 300; exec "$0" limits' "$PROGRAM"
is 'full file: status' "$status" 0
sound 'full file: every identity holds'
report
ok 'full file: names and times are counted on their own' \
	grep -q 'names, paths or single times of NVTX ranges' "$T/report"

measure -q -e CPUTIME -e NVTX -- "$PROGRAM" fork
is 'fork: status' "$status" 0
sound 'fork: every identity holds'
report
ok 'fork: string and domain of the parent' \
	grep -q '^ *4 .* of the parent: shared$' "$T/table"
ok 'fork: of the child' grep -q '^ *1 .* of the child$' "$T/table"

# A name that is too long is cut, and a thread may be killed at any time.
measure -q -e CPUTIME -e NVTX -- sh -c '"$0" ranges & sleep 0.3; kill -9 $!; wait; exit 0' \
	"$PROGRAM"
report
like 'killed: the open range' "$(grep -A1 ' outer$' "$T/table")" '1 not ended'

done_testing
