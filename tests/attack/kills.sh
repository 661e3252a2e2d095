#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL at random moments, from the start of the launcher on: what was recorded is found, and what
# was delivered is in the tree or is named as lost.
# shellcheck disable=SC2154 # T and others come from lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/attack/attack.sh"

cd "$T" || exit 99
program=$builddir/tests/attack/busy
check=$builddir/tests/workload/run/run_check
n_read=0

one() {
	rm -rf out out.new-*
	set -- "$1" -e CPUTIME
	case $(($1 % 4)) in
	1) set -- "$1" -e CPUTIME@f8000 -e REALTIME@f8000 ;;
	2) set -- "$1" -e CPUTIME@f5000 --no-trace ;;
	3) set -- "$1" -e REALTIME@f5000 ;;
	esac
	seed=$1
	shift
	setsid "$HPCRUN" -q "$@" -o out "$program" 1000 >/dev/null 2>err &
	pid=$!
	sleep "$(awk -v s="$seed" 'BEGIN { srand(s); t = rand();
		printf "%.3f", (t < .3 ? .03 : t < .6 ? .2 : 1) * rand() }')"
	kill -KILL -$pid 2>/dev/null || kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	set -- out/*.hpcrun
	[ -e "$1" ] || return 0 # killed before there was anything
	# a process that was killed before it had written its header holds nothing
	"$check" -k "$@" >values 2>&1 || ! grep '^#' values | grep -qv ': header$' ||
		found "$seed" "an identity does not hold: $(grep -m1 '^#' values)" out
	status=0
	run_limited 20 "$HPCPROF" -q --no-structs --to text out >report 2>err || status=$?
	if grep -q 'holds nothing\|have no metric' err; then return 0; fi
	n_read=$((n_read + 1))
	if [ $status -ne 0 ] && ! grep -q '^Ledger' report; then
		found "$seed" "no report, status $status" out "$HPCPROF" --no-structs --to text out
	fi
	grep -q '^Ledger: .*it closes' report || found "$seed" "the ledger does not close" out \
		"$HPCPROF" --no-structs --to text out
}
attack 8 one "killed programs: nothing recorded is lost"
within "reports of killed programs" $n_read 1 1000000
done_testing
