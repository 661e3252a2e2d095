#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The report says what sampled the CPU time, and warns where switches under the kernel's event cost
# much.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# report: of the last measurement.
report() {
	"$HPCPROF" --to text "$OUT"
}

measure -q -e CPUTIME,timer -- "$LIFE" spin 0.3
is "the program runs" "$status" 0
like "a timer samples" "$(report)" \
	'^  CPU time sampled by: a timer [0-9.]+ m?s, [0-9]+ samples/s, 1 thread$'
unlike "it slows nothing down" "$(report)" 'SLOWED DOWN'
line=$("$HPCPROF" --to text --all "$OUT" | by_name \
	'$1 == "sampled-by" { print get("event_ns"), (get("timer_ns") > 0),
		(get("timer_samples") > 0) }')
is "--all has the same" "$line" "0 1 1"

if "$HPCRUN" -q -o "$T/probe" -e CPUTIME,perf -- true >"$T/why" 2>&1; then
	measure -q -e CPUTIME,perf -- "$LIFE" ping-pong 0.3
	like "the event samples" "$(report)" \
		"^  CPU time sampled by: the kernel's event [0-9.]+ m?s, [0-9]+ samples/s, 2 threads"
	like "switches slow the program down" "$(report)" \
		'^  SLOWED DOWN: [0-9,]+ context switches while'
else
	skip "the kernel's event" "$(cat "$T/why")"
fi
done_testing
