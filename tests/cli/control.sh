#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that start and stop their measurement: what runs while it is off is nowhere, the rest is all there, and the accounts of CPU time close without what was off.
# shellcheck disable=SC2154 # variables of lib.sh and run_lib.sh
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

CONTROL=$builddir/tests/workload/control

# seconds FUNCTION: what the tree has of it, below all callers.
seconds() {
	awk -F'\t' -v name="$1" '$1 == "by-function" && $3 == name { sum += $7 } END { printf "%.3f\n", sum }' "$T/all"
}

# control CASE [LAUNCHER OPTIONS]: measures, checks the files, and has hpcprof-lite say all.
control() {
	name=$1
	shift
	measure "$@" -- "$CONTROL" "$name"
	is "$name: exit status" "$status" 0
	sound "$name: files are sound"
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	is "$name: nothing is lost" "$(value recorded)" "$(value delivered)"
	like "$name: the ledger closes" "$(cat "$T/all")" '^closes	1$'
	# Weights and what is behind the last sample are the CPU time while measurement was on, to the nanosecond but for what a source gives too much, up to a tick (4 ms) at each start: 0.2 s with two starts 4 %.
	within "$name: weights are the CPU time that was measured" "$(ratio $(($(value sum0) + $(value unsampled_ns))) $(($(value cpu_ns) - $(value cpu_off_ns))))" "${low:-0.95}" "${high:-1.05}"
}

is "without the tool the program runs, and nothing is active" "$("$CONTROL" once)" "active 0
active 0
active 0"

control once
is "once: what the program was told" "$(cat "$T/stdout")" "active 1
active 0
active 1"
within "once: what was measured" "$(seconds measured)" 0.55 0.65
is "once: what was not" "$(seconds not_measured)" 0.000
within "once: CPU time that was off" "$(value cpu_off_ns)" 490000000 520000000
is "once: stops and starts" "$(value stops) $(value starts) $(value is_off)" "1 1 0"
is "once: the time line goes idle" "$(value trace_off) $(grep -c '^idle	0	' "$T/all")" "1 1"
within "once: the report has the CPU clock while it was on" "$(awk -F'\t' '$1 == "thread" { print $8 / 1e9 }' "$T/all")" 0.58 0.65
like "once: the report says how long it was off" "$("$HPCPROF" -q --to text "$OUT")" '^  measurement was off for [0-9.]+ m?s of [0-9.]+ s; the program stopped it 1 time$'

control late -ds
is "late: what the program was told" "$(cat "$T/stdout")" "active 0
active 1"
within "late: what was measured" "$(seconds measured)" 0.27 0.33
is "late: what was not" "$(seconds not_measured)" 0.000
measure --delay-sampling -- "$CONTROL" forks
is "--delay-sampling: exit status" "$status" 0
sound "--delay-sampling: files are sound"
like "a program that never starts it" "$("$HPCPROF" -q --to text "$OUT")" "^  measurement was off for .*, in 2 of 2 processes; 1 never called hpctoolkit_sampling_start"
measure -ds -e CPUTIME -- sh -c 'exit 3'
is "a program that knows nothing of it: exit status" "$status" 3
sound "... files are sound"
is "... and no sample" "$(value recorded)" 0

control bad
within "start before stop, stops in a row: what was measured" "$(seconds measured)" 0.18 0.22
is "... and what was not" "$(seconds not_measured)" 0.000
low=0.5
control often # each start may lose what is shorter than a period
low=''
within "often: what was measured" "$(seconds measured)" 0.18 0.22

control threads
within "threads: what was measured" "$(seconds measured)" 0.7 0.9
is "threads: what was not, in threads that were there and in new ones" "$(seconds not_measured)" 0.000
is "threads: all are known" "$(value threads)" 9
within "threads: CPU time that was off" "$(value cpu_off_ns)" 980000000 1080000000

low=0
high=1.2
control storm
low=''
high=''
is "storm: all threads are known" "$(value threads)" 83
within "storm: at the end it is on" "$(seconds measured)" 0.07 0.13

control handler
is "handler: what the program was told" "$(cat "$T/stdout")" "active 0
active 1"
within "handler: what was measured" "$(seconds measured)" 0.35 0.45
is "handler: what was not" "$(seconds not_measured)" 0.000

control forks
is "forks: vfork's child leaves its parent alone" "$(cat "$T/stdout")" "active 0
active 0"
within "forks: the child goes on as its parent was" "$(seconds measured)" 0.15 0.25
is "forks: what was not" "$(seconds not_measured)" 0.000

for events in "-e REALTIME" "-e perf::PAGE-FAULTS@100" "-e CPUTIME -e REALTIME@f100"; do
	# shellcheck disable=SC2086 # words
	measure $events -- "$CONTROL" once
	sound "$events: files are sound"
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	is "$events: what was not measured" "$(awk -F'\t' '$1 == "by-function" && $3 == "not_measured"' "$T/all")" ""
done

# Sets of PAPI, over the kernel's own clock.
if papi_clock; then
	for name in once threads storm; do
		rm -rf "$OUT"
		LD_PRELOAD=$PAPI_SHIM run_limited 120 "$HPCRUN" -q -e "$PAPI_CLOCK@1000000" -o "$OUT" "$CONTROL" $name >"$T/stdout" 2>"$T/stderr"
		is "PAPI, $name: exit status" "$?" 0
		sound "PAPI, $name: files are sound"
	done
	rm -rf "$OUT"
	LD_PRELOAD=$PAPI_SHIM run_limited 120 "$HPCRUN" -q -e "$PAPI_CLOCK@1000000" -o "$OUT" "$CONTROL" threads >"$T/stdout" 2>"$T/stderr"
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	is "PAPI: what was not measured" "$(awk -F'\t' '$1 == "by-function" && $3 == "not_measured"' "$T/all")" ""
	within "PAPI: what was" "$(seconds measured)" 0.5 0.9
else
	skip "sets of PAPI" "PAPI finds no unit here"
fi

# As an ordinary user, whom the kernel shows less; from copies that anyone can read.
if [ "$(id -u)" -eq 0 ] && public_tools && public_copy "$CONTROL"; then
	OUT=$(public_dir nobody)/m
	run_limited 120 runuser -u nobody -- "$HPCRUN" -q -o "$OUT" "$T/${CONTROL##*/}" threads >"$T/stdout" 2>"$T/stderr"
	is "as an ordinary user: exit status" "$?" 0
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	within "as an ordinary user: what was measured" "$(seconds measured)" 0.7 0.9
	is "as an ordinary user: what was not" "$(seconds not_measured)" 0.000
else
	skip "as an ordinary user" "not root, or no staged installation"
fi
done_testing
