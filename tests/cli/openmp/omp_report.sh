#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What the report says of OpenMP: the tables name regions, imbalance and efficiency. The times are
# judged by omp_waits.sh.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

# report: of the last measurement, 80 columns wide, into $T/report.
report() {
	COLUMNS=80 "$HPCPROF" -q --to text "$omp_dir/m" >"$T/report" 2>"$T/err"
}

note='^  with REALTIME, a blocked thread counts as one that works: '
if workload omp_waits libgomp "-e REALTIME@f1000" barrier 10; then
	report
	like "REALTIME: efficiencies of regions are bounds" "$(cat "$T/report")" "$note"
fi

if workload omp_waits libgomp "-e CPUTIME@f1000" static 40 2 3; then
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
	# work of 1 : 3 is an imbalance of (3 - 2) / 3, in each instance
	imbalance=$(awk '/^Parallel regions/ { table = 1 }
		table && / do_static.* at omp_waits/ {
		for (i = 1; i <= NF; i++) if ($i ~ /%$/) last = $i
		print last + 0 }' "$T/report")
	within "its imbalance is that of the schedule" "$imbalance" 15 60
	like "the efficiency of the run" "$(cat "$T/report")" \
		'^ +[0-9.]+ m?s +[0-9.]+% +[0-9.]+% +[0-9.]+%  everything$'
	if has_loops; then
		like "... and of the loop of main" "$(cat "$T/report")" \
			'^ +[0-9.]+ m?s +[0-9.]+% +[0-9.]+% +[0-9.]+%  loop at omp_waits\.c:[0-9]+$'
	else
		skip "... and of the loop of main" "built without Zydis"
	fi
	"$HPCPROF" -q --internals --to text --threshold 0 "$omp_dir/m" >"$T/internals" 2>"$T/err"
	like "--internals shows what libgomp calls" "$(cat "$T/internals")" 'libgomp|GOMP_parallel'
	unlike "else nothing is between the region and its fork" "$(cat "$T/report")" 'start_thread'
fi

# a team of one thread has nothing to gain
if workload omp_waits libgomp "-e CPUTIME@f1000" static 30 1; then
	report
	like "teams of one thread have no table" \
		"$(grep -A1 '^Parallel regions of OpenMP' "$T/report" | tail -1)" \
		'^  left out: all teams have one thread$'
fi
done_testing
