#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What hpcprof-lite --live costs: of 64 threads with thousands of call paths, at most 3 % of a
# processor while it looks, beside what it needs to start and to end. It sees all threads.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/live/live_lib.sh"

# cpu COMMAND...: prints the CPU time of the command in seconds
cpu() {
	("$@" >"$T/cpu.out" 2>"$T/cpu.err" || :
		times) | awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/)
			sum += 60 * t[1] + t[2] } print sum }'
}

seconds=$(thorough 8 40)
SHAPE=wide
start run 64 -e CPUTIME -e OFFCPU
used=$(cpu timeout -s TERM "$seconds" "$HPCPROF" --live "$T/run")
finish "$MEASURED"
wait
fixed=$(cpu "$HPCPROF" --live "$T/run")
like "it shows all threads" "$(cat "$T/cpu.out")" '64 threads'
diag "CPU time $used s in $seconds s, of which $fixed s do not depend on how long it looks"
within "CPU time in each second" \
	"$(awk -v u="$used" -v f="$fixed" -v s="$seconds" 'BEGIN {
		print (u > 2 * f ? (u - 2 * f) / s : 0) }')" 0 0.03

done_testing
