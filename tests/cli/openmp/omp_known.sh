#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Parallel regions whose answers are known: work, efficiency and gain of tasks, of bodies that end
# in a jump, of threads that work one at a time; the threads of teams, nested teams, and teams that
# run at the same time. The report and the records have the same numbers.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

# region FUNCTION FIELD: of the region that this function forks.
region() {
	by_name '$1 == "function" { name[get("id")] = get("name") }
		$1 == "omp-region" { f = name[get("call_function")]; sub(/[.].*/, "", f)
			if (f == "'"$1"'") print get("'"$2"'") }' "$T/$M.text" | head -n 1
}
# record KIND FIELD: of the first record of this kind.
record() {
	by_name '$1 == "'"$1"'" { print get("'"$2"'") }' "$T/$M.text" | head -n 1
}
# near DESCRIPTION GOT WANTED SLACK
near() {
	within "$M: $1" "$2" "$(calc "$3 - $4")" "$(calc "$3 + $4")"
}
calc() {
	awk "BEGIN { printf \"%.6f\n\", $1 }"
}
# known FUNCTION: work, efficiency and gain are those that the program timed.
known() {
	wall=$(truth "$1" 1)
	work=$(truth "$1" 2)
	near "$1: elapsed" "$(region "$1" elapsed_sec)" "$wall" 0.03
	# A timer gives 30 samples of 4 ms. Work in turns with waits has the error of a count.
	slack=$(calc "0.02 + 0.1 * $work")
	case $1 in
	critical | in_turns | by_one) slack=$(calc "3 * sqrt(0.004 * $work)") ;;
	esac
	near "$1: work" "$(region "$1" work_sec)" "$work" "$slack"
	near "$1: efficiency" "$(region "$1" efficiency)" "$(calc "$work / 2 / $wall")" \
		"$(calc "$slack / 2 / $wall")"
	near "$1: gain" "$(region "$1" gain_sec)" "$(calc "$wall - $work / 2")" \
		"$(calc "0.03 + 0.06 * $wall")"
}
# two_threads: there are processors for both, so nothing else bounds the gain.
two_threads() {
	[ "$(nproc)" -ge 2 ]
}

OMP_NUM_THREADS=2
export OMP_NUM_THREADS
two_threads || skip_all "one processor"
for runtime in libgomp libomp; do
	if workload omp_known $runtime "-e CPUTIME@f4000" regions; then
		for f in listed called recursive grouped mastered critical in_turns by_one; do
			known $f
		done
		for function in listed called recursive grouped mastered; do
			near "$function: imbalance" "$(region $function imbalance)" \
				"$(calc "1 - 1 / $(truth $function 3)")" 0.16
		done
		for function in critical in_turns by_one; do
			within "$M: $function: one of two threads works" \
				"$(region $function efficiency)" 0 0.58
		done
	fi
done

if workload omp_known libgomp "-e CPUTIME@f4000" teams; then
	is "$M: two threads did all but a little" "$(record account threads)" 2
	is "$M: the efficiencies are of as many" "$(record efficiency threads)" 2
	within "$M: balance" "$(record efficiency load_balance)" 0.9 1
fi
if workload omp_known libgomp "-e CPUTIME@f4000" threads; then
	is "$M: threads of two teams" "$(record account threads)" 4
	is "$M: the efficiencies are of as many" "$(record efficiency threads)" 4
	within "$M: balance" "$(record efficiency load_balance)" 0.9 1
	near "$M: teams at the same time share the elapsed time" "$(region team elapsed_sec)" \
		"$(truth team 1)" 0.03
	within "$M: gain" "$(region team gain_sec)" 0 "$(truth team 1)"
fi
OMP_NESTED=true # GCC before 11 does not nest otherwise
export OMP_NESTED
if workload omp_known libgomp "-e CPUTIME@f4000" nested; then
	near "$M: work" "$(region outer work_sec)" "$(truth outer 2)" \
		"$(calc "0.1 * $(truth outer 2)")"
	near "$M: the outer team has the threads of the inner ones" \
		"$(region outer capacity_sec)" "$(calc "4 * $(truth outer 1)")" \
		"$(calc "0.4 * $(truth outer 1)")" # on a busy machine, threads begin late
	near "$M: efficiency" "$(region outer efficiency)" \
		"$(calc "$(truth outer 2) / 4 / $(truth outer 1)")" 0.15
	within "$M: balance" "$(record efficiency load_balance)" 0 1
fi
done_testing
