#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Threads of every kind are measured from their first instruction to their last, and the program's
# result is its own.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# mode NAME STATUS THREADS ARGUMENTS...: runs it, checks status, identities, number of threads, and
# that each path reaches its root.
mode() {
	name=$1 want=$2 threads=$3
	shift 3
	measure -- "$LIFE" "$name" "$@"
	is "$name: exit status" "$status" "$want"
	sound "$name: files are sound"
	is "$name: number of threads" "$(value threads)" "$threads"
	is "$name: nothing is lost but to rests" "$(value delivered)" \
		$(($(value recorded) + $(value lost-busy)))
	is "$name: all paths are complete" "$(value complete)" "$(value recorded)"
}

mode threads 0 9 8 0.1
weights_fit "threads: weights are the CPU time" 9 10
mode threads 0 3001 3000
within "3000 short threads take little of the file" "$(value bytes)" 1 \
	$((3000 * 1000 + 200000 + $(value recorded) * 1000))
mode threads 0 101 100 0.004
# On an idle machine the mean is right; on a busy one threads start right after a tick, and fewer
# meet the next, or right before, and each has a whole tick.
within "short threads are sampled" "$(ratio "$(value sum0)" "$(value cpu_ns)")" 0.01 4
mode thrd 0 2
mode outlive 5 2
mode abandon 6 4
is "abandon: threads have their names" \
	"$(sed -n 's/^name[0-9]* //p' "$T/values" | sort | uniq -c | tr -s ' \n' ' ')" \
	" 1 run_life 3 worker "
mode cancel 0 2

measure -- env LD_PRELOAD="$CONSTRUCTOR" "$LIFE" spin 0.2
is "a constructor's thread: exit status" "$status" 0
"$CHECK" "$OUT"/*.hpcrun >"$T/values"
like "a constructor's thread is measured" "$(cat "$T/values")" '^threads 2$'
weights_fit "a constructor's thread is sampled" 2 50
is "paths of a constructor are complete" "$(value complete)" "$(value recorded)"

# The walk out of a coroutine ends at the end of its stack, and does not touch the page behind it.
for stack in given sized; do
	measure -e CPUTIME@f2000 -- "$builddir/tests/workload/run/run_coroutine" "$stack" 0.1
	is "coroutine below a stack that is $stack: exit status" "$status" 0
	like "coroutine below a stack that is $stack: the thread goes on" "$(cat "$T/stdout")" \
		'^back$'
	sound "coroutine below a stack that is $stack: files are sound"
	within "coroutine below a stack that is $stack: it is sampled" "$(value recorded)" 10 10000
done

measure -- "$LIFE" descriptors
is "descriptors are those the program would have" "$(cat "$T/stdout")" "$("$LIFE" descriptors)"
done_testing
