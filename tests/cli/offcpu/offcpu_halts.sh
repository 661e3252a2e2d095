#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# OFFCPU of a program that is stopped, or whose measurement is off for a while; and it takes no
# descriptor, not even for a moment.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/offcpu/offcpu_lib.sh"

offcpu_measure "-e CPUTIME -e OFFCPU" "$OFFCPU_W/offcpu_halts" stopped
for function in be_stopped stop_itself; do
	truth=$(offcpu_truth_ms $function)
	within "$function: stopped for $truth ms, and the processor was taken away before" \
		"$(offcpu_ms OFFCPU "^main thread;.*;$function;.*<stopped>")" \
		"$(echo "$truth" | awk '{ print $1 * 0.9 - 20 }')" \
		"$(echo "$truth" | awk '{ print $1 * 1.05 + 20 }')"
done

# The stretches of 2 ms are shorter than a period.
for events in "-e OFFCPU" "-e CPUTIME -e OFFCPU"; do
	offcpu_measure "$events" "$OFFCPU_W/offcpu_halts" off
	for function in sleep_briefly sleep_long; do
		truth=$(offcpu_truth_ms $function)
		within "$events: $function, measured for $truth ms" \
			"$(offcpu_ms OFFCPU "^main thread;.*;$function;")" \
			"$(echo "$truth" | awk '{ print $1 * 0.93 - 20 }')" \
			"$(echo "$truth" | awk '{ print $1 * 1.07 + 20 }')"
	done
	is "... and nothing where measurement was off" "$(offcpu_ms OFFCPU ';sleep_off')" 0.000
	within "... CPU time and OFFCPU are the time that was measured, in %" "$(offcpu_gap)" 0 1
done

offcpu_measure "-e OFFCPU@f1000" "$OFFCPU_W/offcpu_halts" full
is "a thread that wants the last descriptor" "$(cat "$T/truth")" "0 opens were refused"

done_testing
