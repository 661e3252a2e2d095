#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with damaged unwind tables run as they do without us: the same output and status, no
# message, and the ledger of what was measured closes.
# shellcheck disable=SC2154 # T and others come from lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/attack/attack.sh"

cd "$T" || exit 99
program=$builddir/tests/attack/busy
"$program" 6 >want || fail "the program runs"

one() {
	rm -rf out
	"$MUTATE" unwind "$1" "$program" busy && chmod +x busy
	status=0
	run_limited 20 "$HPCRUN" -q -e CPUTIME@f5000 -e REALTIME@f2000 -o out ./busy 6 >got 2>err ||
		status=$?
	if [ $status -ne 0 ] || ! cmp -s got want || [ -s err ]; then
		found "$1" "the program ended with status $status" busy "$HPCRUN" -e CPUTIME@f5000 \
			-e REALTIME@f2000 ./busy
	fi
	"$HPCPROF" -q --no-structs --to text out >report 2>err ||
		found "$1" "no report" out "$HPCPROF" --no-structs --to text out
	grep -q '^Ledger: .*it closes' report || found "$1" "the ledger does not close" out \
		"$HPCPROF" --no-structs --to text out
}
attack 6 one "damaged unwind tables: programs are not disturbed"
done_testing
