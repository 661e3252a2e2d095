#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that start and stop their measurement: what runs while it is off is nowhere, the rest is
# all there, and the accounts of CPU time close without what was off.
# shellcheck disable=SC2154 # variables of lib.sh and run_lib.sh
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

CONTROL=$builddir/tests/workload/run/control

# seconds FUNCTION: what the tree has of it, below all callers.
seconds() {
	by_name -v name="$1" '$1 == "by-function" && get("name") == name { sum += get("inclusive") }
		END { printf "%.3f\n", sum }' "$T/all"
}

# truth FUNCTION: nanoseconds of CPU time that the program itself says it took, over all processes.
truth() {
	awk -v name="$1" '$1 == "truth" && $2 == name { sum += $3 } END { printf "%.0f\n", sum }' \
		"$T/stderr"
}

# all_there DESCRIPTION STRETCHES: what was measured is in the tree. Each stretch that a thread is
# measured for may be given up to a tick too much or too little at its first sample (10 ms, where
# the kernel has 100 ticks a second), and a tenth is left to hosts that take the processor away.
all_there() {
	within "$1" "$(seconds measured)" \
		"$(awk -v t="$(truth measured)" -v n="$2" 'BEGIN {
			print t * 0.9e-9 - n * 0.01 }')" \
				"$(awk -v t="$(truth measured)" -v n="$2" 'BEGIN {
					print t * 1.1e-9 + n * 0.01 }')"
}

# off_is_true DESCRIPTION: the CPU time that was off has all that ran while measurement was off, and
# nothing of what ran while it was on.
off_is_true() {
	within "$1" "$(value cpu_off_ns)" "$(truth not_measured)" \
		$(($(value cpu_ns) - $(truth measured)))
}

# control CASE STRETCHES [LAUNCHER OPTIONS]: measures, checks the files, and has hpcprof-lite say
# all. STRETCHES: as for all_there.
control() {
	name=$1
	stretches=$2
	shift 2
	measure "$@" -- "$CONTROL" "$name"
	is "$name: exit status" "$status" 0
	sound "$name: files are sound"
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	is "$name: nothing is lost but to rests" "$(value delivered)" \
		$(($(value recorded) + $(value lost-busy)))
	like "$name: the ledger closes" "$(cat "$T/all")" '^closes	1$'
	# Weights and what is behind the last sample are the CPU time while measurement was on, but
	# for what a source gives too much: see all_there.
	on=$(($(value cpu_ns) - $(value cpu_off_ns)))
	within "$name: weights are the CPU time that was measured" \
		$(($(value sum0) + $(value unsampled_ns))) $((on * ${low:-95} / 100)) \
		$((on * 11 / 10 + stretches * 10000000))
}

is "without the tool the program runs, and nothing is active" "$("$CONTROL" once 2>/dev/null)" \
	"active 0
active 0
active 0"

control once 2
is "once: what the program was told" "$(cat "$T/stdout")" "active 1
active 0
active 1"
all_there "once: what was measured" 2
is "once: what was not" "$(seconds not_measured)" 0.000
off_is_true "once: CPU time that was off"
is "once: stops and starts" "$(value stops) $(value starts) $(value is_off)" "1 1 0"
is "once: the time line goes idle" "$(value trace_off) $(grep -c '^idle	0	' "$T/all")" "1 1"
is "once: the report has the CPU clock while it was on" \
	"$(by_name '$1 == "thread" { print get("cpu_ns") }' "$T/all")" \
	$(($(value cpu_ns) - $(value cpu_off_ns)))
like "once: the report says how long it was off" "$("$HPCPROF" -q --to text "$OUT")" \
	'^  measurement was off for [0-9.]+ m?s of [0-9.]+ m?s; the program stopped it 1 time$'

control late 1 -ds
is "late: what the program was told" "$(cat "$T/stdout")" "active 0
active 1"
all_there "late: what was measured" 1
is "late: what was not" "$(seconds not_measured)" 0.000
measure --delay-sampling -- "$CONTROL" forks
is "--delay-sampling: exit status" "$status" 0
sound "--delay-sampling: files are sound"
like "a program that never starts it" "$("$HPCPROF" -q --to text "$OUT")" \
	"^  measurement was off for .*, in 2 of 2 processes; 1 never called hpctoolkit_sampling_start"
measure -ds -e CPUTIME -- sh -c 'exit 3'
is "a program that knows nothing of it: exit status" "$status" 3
sound "... files are sound"
is "... and no sample" "$(value recorded)" 0

control bad 2
all_there "start before stop, stops in a row: what was measured" 2
is "... and what was not" "$(seconds not_measured)" 0.000
low=0
control often 1 # each start may lose what is shorter than a period
low=''
all_there "often: what was measured" 1

control threads 8
all_there "threads: what was measured" 8
is "threads: what was not, in threads that were there and in new ones" "$(seconds not_measured)" \
	0.000
is "threads: all are known" "$(value threads)" 9
off_is_true "threads: CPU time that was off"

low=0
control storm 23
low=''
is "storm: all threads are known" "$(value threads)" 23
all_there "storm: at the end it is on" 1

control handler 2
is "handler: what the program was told" "$(cat "$T/stdout")" "active 0
active 1"
all_there "handler: what was measured" 2
is "handler: what was not" "$(seconds not_measured)" 0.000

control forks 1
is "forks: vfork's child leaves its parent alone" "$(cat "$T/stdout")" "active 0
active 0"
all_there "forks: the child goes on as its parent was" 1
is "forks: what was not" "$(seconds not_measured)" 0.000

for events in "-e REALTIME" "-e perf::PAGE-FAULTS@100 -e CPUTIME -e REALTIME@f100"; do
	# shellcheck disable=SC2086 # words
	measure $events -- "$CONTROL" once
	sound "$events: files are sound"
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	is "$events: what was not measured" \
		"$(by_name '$1 == "by-function" && get("name") == "not_measured"' "$T/all")" ""
done

# Sets of PAPI, over the kernel's own clock.
if papi_clock; then
	for name in $(thorough "" once) storm threads; do
		rm -rf "$OUT"
		LD_PRELOAD=$PAPI_SHIM run_limited 120 "$HPCRUN" \
			-q -e "$PAPI_CLOCK@1000000" -o "$OUT" "$CONTROL" $name >"$T/stdout" \
			2>"$T/stderr"
		is "PAPI, $name: exit status" "$?" 0
		sound "PAPI, $name: files are sound"
	done
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	is "PAPI: what was not measured" \
		"$(by_name '$1 == "by-function" && get("name") == "not_measured"' "$T/all")" ""
	# its overflows have no weights: those that are missed are missing
	all_there "PAPI: what was" 24
else
	skip "sets of PAPI" "PAPI finds no unit here"
fi

# As an ordinary user, whom the kernel shows less; from copies that anyone can read.
if [ "$(id -u)" -eq 0 ] && public_tools && public_copy "$CONTROL"; then
	OUT=$(public_dir nobody)/m
	run_limited 120 runuser -u nobody -- "$HPCRUN" -q -o "$OUT" "$T/${CONTROL##*/}" threads \
		>"$T/stdout" 2>"$T/stderr"
	is "as an ordinary user: exit status" "$?" 0
	"$HPCPROF" -q --to text --all "$OUT" >"$T/all" 2>"$T/err"
	# time in the kernel is given away late
	all_there "as an ordinary user: what was measured" 16
	is "as an ordinary user: what was not" "$(seconds not_measured)" 0.000
else
	skip "as an ordinary user" "not root, or no staged installation"
fi
done_testing
