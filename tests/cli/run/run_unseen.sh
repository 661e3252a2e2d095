#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CPU time that has no samples is in the ledger: of threads that were not seen to start, and while
# the program keeps samples away. No other function gets it.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
UNSEEN=$builddir/tests/workload/run/run_unseen

# program MODE [OPTIONS...]: measures it and reads the measurement.
program() {
	mode=$1
	shift
	# shellcheck disable=SC2086 # mode may have an argument
	measure "$@" -- "$UNSEEN" $mode
	is "$mode: exit status" "$status" 0
	"$HPCPROF" -q --no-structs --to text --all "$OUT" >"$T/all" 2>"$T/err"
	"$HPCPROF" -q --no-structs --to text "$OUT" >"$T/report" 2>>"$T/err"
	used=$(cat "$T/stdout")
}
# cpu FIELD: ms of the ledger of CPU time
cpu() {
	by_name -v field="$1" '$1 == "cpu" && get("of") == "all" {
		printf "%.0f\n", get(field) / 1e6 }' "$T/all"
}
# of FUNCTION: ms of its own CPU time
of() {
	by_name -v f="$1" '$1 == "by-function" && get("metric") ~ /^CPUTIME/ && get("name") == f {
		n += get("exclusive") }
		END { printf "%.0f\n", n * 1000 }' "$T/functions"
}
# missing: the same in the last line of hpcrun-lite
missing() {
	sed -n 's/.* \([0-9]*\)\.[0-9]* ms of CPU time missing.*/\1/p' "$T/stderr"
}
functions() {
	"$HPCPROF" -q --to text --all "$OUT" >"$T/functions" 2>>"$T/err"
}
closes() {
	within "$mode: the clock is the process's" "$(cpu clock_ns)" $((used - 20)) \
		$((used + 20))
	sum=$(($(cpu sampled_ns) + $(cpu after_last_sample_ns) + $(cpu without_samples_ns) + \
		$(cpu before_and_after_threads_ns) + $(cpu threads_not_seen_ns)))
	within "$mode: all CPU time is in the ledger" "$sum" $((used * 95 / 100 - 15)) \
		$((used * 105 / 100 + 15))
}

# An event that the program disables is noticed and opened anew.
program disabled -e CPUTIME
closes
functions
within "disabled: it is sampled all the same" $(($(of hidden) + $(cpu without_samples_ns))) 280 460
within "disabled: no other function has it" "$(of seen)" 70 140

for mode in blocked to-end; do
	program $mode -e CPUTIME
	closes
	within "$mode: time without samples is counted" "$(cpu without_samples_ns)" 240 440
	functions
	within "$mode: no function has it" "$(of seen)" 70 220
	like "$mode: the report says so" "$(cat "$T/report")" \
		'^  missing: [0-9.]+ m?s of CPU time without samples'
	like "$mode: the ledger does not just close" "$(cat "$T/report")" \
		'it closes for every thread, but CPU time is missing$'
	like "$mode: the last line says so, too" "$(cat "$T/stderr")" \
		'handlers, [0-9.]+ ms of CPU time missing \(without samples\)$'
	within "$mode: and how much" "$(missing)" \
		$(($(cpu without_samples_ns) + $(cpu threads_not_seen_ns) - 1)) \
		$(($(cpu without_samples_ns) + $(cpu threads_not_seen_ns) + 1))
done
program blocked -e CPUTIME,timer
closes
within "blocked, timer: time without samples is counted" "$(cpu without_samples_ns)" 240 440

# Long system calls keep their time.
program populate -e CPUTIME
closes
unlike "populate: nothing is missing" "$(cat "$T/stderr")" missing
within "populate: nothing is without samples" "$(cpu without_samples_ns)" 0 0

program handle -e CPUTIME
closes
within "handle: its thread is sampled, or what is missing is named" \
	$(($(cpu sampled_ns) + $(cpu threads_not_seen_ns))) 360 460
within "handle: it was found while it ran" "$(cpu sampled_ns)" 50 460
program unload -e CPUTIME
closes
within "unload: it is sampled until its end" "$(cpu sampled_ns)" 500 900
unlike "unload: its code is still there" "$(cat "$T/stderr")" 'was unloaded'
program clone -e CPUTIME
closes
like "clone: a thread that shares storage is only named" "$(cat "$T/report")" \
	'^  missing: [0-9.]+ m?s of CPU time in threads that were not seen to start$'
like "clone: the last line says so, too" "$(cat "$T/stderr")" \
	'handlers, [0-9.]+ ms of CPU time missing \(in threads not seen to start\)$'
within "clone: and how much" "$(missing)" $(($(cpu threads_not_seen_ns) - 1)) \
	$(($(cpu threads_not_seen_ns) + 1))
"$HPCPROF" -q --to json,sqlite -o "$T/db" "$OUT" 2>>"$T/err"
is "JSON says the same" \
	"$(tr -d ' \n' <"$T/db/profile.json" | grep -o '"threads_not_seen_ns":[0-9]*' | head -n 1 |
		cut -d: -f2)" "$(by_name '$1 == "cpu" && get("of") == "all" {
			print get("threads_not_seen_ns") }' "$T/all")"

measure -v -e CPUTIME -- sh -c '"$0" clone' "$UNSEEN"
like "clone: so does the table, of other processes, too" "$(cat "$T/stderr")" \
	'^  CPU time in threads not seen to start, us +[1-9]'

# Short threads: the times add up by the clocks, and what samples have is told from it.
program "threads 2000" -e CPUTIME -e OFFCPU
within "threads: on and off a processor are the elapsed time, per mille" \
	"$(by_name '$1 == "time" && get("of") == "all" {
		sum = get("on_processor_ns") + get("off_processor_ns")
		printf "%.0f\n", sum * 1000 / get("elapsed_ns") }' \
		"$T/all")" 990 1010
like "threads: the report does not say how right a thread is that is too short to know" \
	"$(cat "$T/report")" 'elapsed in all threads; (no thread is long|the worst thread is 0)'
done_testing
