#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A thread that waits and lacks a processor in turn: OFFCPU tells the two apart.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/offcpu/offcpu_lib.sh"

# At 43 ticks per second, nearly all have both since the last. (At 50, ticks keep step with turns of
# 10 ms.) In 2 s, 57 ticks find a wait or the run queue: a standard deviation of 7 % of the time.
# What is only one of them is exact, up to eight periods that wait for a tick to find their place.
slack=200
offcpu_measure "-e CPUTIME -e OFFCPU@f43" "$OFFCPU_W/offcpu_shared"
while read -r function blocked ready; do
	off=$(awk -v b="$blocked" -v r="$ready" 'BEGIN { printf "%.3f\n", (b + r) / 1e6 }')
	part=0.3
	[ "$function" != turn_never ] || part=0.02
	within "$function was ready and had no processor" \
		"$(offcpu_ms OFFCPU "^main thread;.*;$function;.*<ready")" \
		"$(awk -v r="$ready" -v off="$off" -v p="$part" \
			-v s=$slack 'BEGIN { print r / 1e6 - off * p - s }')" \
		"$(awk -v r="$ready" -v off="$off" -v p="$part" \
			-v s=$slack 'BEGIN { print r / 1e6 + off * p + s }')"
	within "... and was off the processor for $off ms" \
		"$(offcpu_ms OFFCPU "^main thread;.*;$function;")" \
		"$(awk -v off="$off" -v s=$slack 'BEGIN { print off * 0.95 - s }')" \
		"$(awk -v off="$off" -v s=$slack 'BEGIN { print off * 1.05 + s }')"
done <"$T/truth"
is "five functions were looked at" "$(wc -l <"$T/truth" | tr -d ' ')" 5

done_testing
