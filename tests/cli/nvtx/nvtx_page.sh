#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranges of NVTX in report.html: the table, and rows of the time lines.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/run_lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/judge/browser.sh"
PROGRAM=$builddir/tests/workload/nvtx/nvtx_program

[ -n "$browser" ] || skip_all 'no chromium, its driver or python3-selenium here'
measure -q -e CPUTIME -e NVTX -- "$PROGRAM" phases
is 'status' "$status" 0
"$HPCPROF" -q --no-structs --to html -o "$T/db" "$OUT" >"$T/prof.err" 2>&1 ||
	fail 'hpcprof-lite' "$(cat "$T/prof.err")"
browse nvtx "$T/db/report.html" >"$T/checks" || fail 'the browser ends well' \
	"$(tail -n 3 "$T/err")"
is 'all checks ran' "$(grep -c . "$T/checks")" 7
while read -r line; do
	case $line in
	ok*) ok "${line#ok }" true ;;
	*) fail "${line#not ok }" ;;
	esac
done <"$T/checks"

done_testing
