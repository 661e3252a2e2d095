#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What the report says of OpenMP: the time in each activity is what the threads' own clocks say, all
# activities add up to the measured time, and the tables name regions, imbalance and efficiency.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

# activity EVENT: seconds of the metric of an activity, "OMP:LOCK"; 0 if there is none.
activity() {
	by_name -v e="$1" '
		$1 == "metric" && get("event") == e { m = get("id"); found = 1 }
		$1 == "total" && get("context") == 0 && found && get("metric") == m {
			sum = get("execution") }
		END { print sum + 0 }' "$T/$M.text"
}

# seconds_are DESCRIPTION EVENT NAME: those that the program counted as NAME, within six standard
# deviations of a sample of that size, and two percent of all. A wait without a processor gets what
# the thread did before it, too, since its last sample (doc/sampling.md): half a period on average,
# and half of the wait if that is shorter.
seconds_are() {
	s_bounds=$(echo "$(truth "$3" 1) $(truth "$3" 2) $(truth "$3" 3) $(activity REALTIME)" |
		awk '{
			bound = 6 * sqrt($1 / 1000) + 0.02 * $4
			away = $1 - $2 < $3 / 1000 ? $1 - $2 : $3 / 1000
			printf "%.4f %.4f\n", $1 - bound, $1 + bound + (away > 0 ? away / 2 : 0) }')
	# shellcheck disable=SC2086 # two numbers
	within "$M: $1" "$(activity "$2")" $s_bounds
}

# sum_is_exact: the activities add up to the time, to what a double can hold.
sum_is_exact() {
	ok "$M: the activities add up to the time" by_name '
		$1 == "metric" && get("event") == "REALTIME" { time = get("id") }
		$1 == "activity" { is[get("metric")] = 1 }
		$1 == "total" && get("context") == 0 && get("metric") == time {
			whole = get("execution") }
		$1 == "total" && get("context") == 0 && is[get("metric")] {
			sum += get("execution") }
		END { exit !(whole > 0 && sum - whole < 1e-9 && whole - sum < 1e-9) }' "$T/$M.text"
}

# report: of the last measurement, 80 columns wide, into $T/report.
report() {
	COLUMNS=80 "$HPCPROF" -q --to text "$omp_dir/m" >"$T/report" 2>"$T/err"
}

for runtime in libgomp libomp; do
	for construct in barrier critical lock ordered; do
		workload omp_waits $runtime "-e REALTIME@f1000" $construct 100 || continue
		case $construct in
		barrier) event=OMP:BARRIER ;;
		critical | lock) event=OMP:LOCK ;;
		ordered) event=OMP:ORDERED ;;
		esac
		# besides, threads wait at the end of the region
		if [ $construct = barrier ]; then
			within "$M: waits" "$(activity $event)" \
				"$(echo "$(truth wait 1)" | awk '{ print 0.9 * $1 }')" 1000
		else
			seconds_are "waits" $event wait
		fi
		sum_is_exact
	done
done
note='^  with REALTIME, a blocked thread counts as one that works: '
if [ -n "${omp_dir:-}" ]; then
	report
	like "REALTIME: efficiencies of regions are bounds" "$(cat "$T/report")" "$note"
fi

if workload omp_waits libgomp "-e CPUTIME@f1000" static 100 2 3; then
	report
	first=$(grep -n '^Where the time of 2 [a-z]* went: ' "$T/report" | cut -d: -f1)
	heading=$(grep -nE '^[A-Z][a-z]+ .*:|^Call paths' "$T/report" | head -1)
	is "the first table says where the time went" "${heading%%:*}" "$first"
	unlike "CPUTIME: efficiencies of regions are no bounds" "$(cat "$T/report")" "$note"
	table=$(sed -n "$first,/^\$/p" "$T/report")
	within "it has few lines" "$(echo "$table" | wc -l)" 3 16
	is "of at most 80 columns" "$(echo "$table" | awk 'length($0) > 80')" ""
	within "its shares add up" "$(echo "$table" | awk '
		/^ +[0-9.]+% / { sum += $1 } END { print sum }')" 99.5 100.5
	like "first it says what the processors did" "$(echo "$table" | sed -n 2p)" \
		'^  [0-9]+ processors? w(as|ere) used [0-9.]+%: [0-9.]+ m?s of CPU time in '
	like "work is named" "$table" '^ +[0-9.]+% +[0-9.]+ m?s  worked$'
	like "the region is named after its function" "$(cat "$T/report")" \
		' do_static(, parallel region)? at omp_waits\.c:[0-9]+$'
	# work of 1 : 3 is an imbalance of (3 - 2) / 3, in each of 100 instances
	imbalance=$(awk '/ do_static.* at omp_waits/ {
		for (i = 1; i <= NF; i++) if ($i ~ /%$/) last = $i
		print last + 0 }' "$T/report")
	within "its imbalance is that of the schedule" "$imbalance" 15 60
	like "the efficiency of the run" "$(cat "$T/report")" \
		'^ +[0-9.]+ m?s +[0-9.]+% +[0-9.]+% +[0-9.]+%  everything$'
	like "... and of the loop of main" "$(cat "$T/report")" \
		'^ +[0-9.]+ m?s +[0-9.]+% +[0-9.]+% +[0-9.]+%  loop at omp_waits\.c:[0-9]+$'
	"$HPCPROF" -q --internals --to text --threshold 0 "$omp_dir/m" >"$T/internals" 2>"$T/err"
	like "--internals shows what libgomp calls" "$(cat "$T/internals")" 'libgomp|GOMP_parallel'
	unlike "else nothing is between the region and its fork" "$(cat "$T/report")" 'start_thread'
fi

# a team of one thread has nothing to gain
if workload omp_waits libgomp "-e CPUTIME@f1000" static 100 1; then
	report
	like "teams of one thread have no table" \
		"$(grep -A1 '^Parallel regions of OpenMP' "$T/report" | tail -1)" \
		'^  left out: all teams have one thread$'
fi
done_testing
