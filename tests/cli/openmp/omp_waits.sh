#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Waits in OpenMP: what threads wait at the end of an unbalanced region, at barriers, for critical
# sections, locks and ordered sections, and between regions, is what their own clocks say. Sampled
# on the wall clock, because a thread that waits may sleep.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

events="-e REALTIME@f4000"

at_end='<waits at the end of the region>'

# exact_sums ROUNDS: the record of the only region, against clocks that the program read right
# outside of it and right inside of its function. gomp_check prints size of the team, instances,
# timed threads, ns from fork to join, ns in the function.
exact_sums() {
	"$builddir/tests/workload/gomp/gomp_check" "$T/$M.d/m"/*.hpcrun >"$T/sums"
	is "$M: regions and their threads" "$(cut -d ' ' -f 1-3 "$T/sums")" "2 $1 $(($1 * 2))"
	is "$M: no more time from fork to join than around it, no less than inside" \
		"$(cut -d ' ' -f 4,5 "$T/sums" | awk -v region="$(truth region 1)" \
			-v work="$(truth work 1)" '{
			long = "too long: " $1 / 1e9 " > " region
			short = "too short: " $2 / 1e9 " < " work
			print ($1 <= region * 1e9 ? "fork to join" : long)
			print ($2 >= work * 1e9 ? "function" : short)
			print ($2 <= 2 * $1 ? "both" : "more than all: " $2 " > 2 * " $1) }')" \
		"$(printf 'fork to join\nfunction\nboth')"
}

# activity_of CONSTRUCT: the metric of waits in it.
activity_of() {
	case $1 in
	barrier) echo OMP:BARRIER ;;
	ordered) echo OMP:ORDERED ;;
	*) echo OMP:LOCK ;;
	esac
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

for runtime in libgomp libomp compat; do
	regions="static dynamic" constructs="barrier critical lock ordered" serial=serial
	# What libomp does for libgomp's names differs from either at the fork alone.
	[ $runtime != compat ] || [ "$(thorough few all)" = all ] ||
		regions=static constructs=critical serial=
	for construct in $regions; do
		workload omp_waits $runtime "$events" $construct 14 || continue
		seconds_are "work" "do_$construct;OUTLINED;work" "$(truth work 1)"
		seconds_are "waits at the end of the region" "do_$construct;$at_end" \
			"$(truth wait 1)"
		seconds_are "... as time at barriers" "do_$construct;" "$(truth wait 1)" OMP:BARRIER
		exact_sums 14
	done
	for construct in $constructs; do
		workload omp_waits $runtime "$events" $construct 14 || continue
		sum_is_exact
		seconds_are "work" "do_$construct;OUTLINED;work" "$(truth work 1)"
		seconds_are "waits in the construct" "do_$construct;OUTLINED;RUNTIME(;|\$)" \
			"$(truth wait 1)"
		seconds_are "... under their name" "do_$construct;OUTLINED" "$(truth wait 1)" \
			"$(activity_of "$construct")"
		[ "$construct" = barrier ] ||
			seconds_are "the section" "do_$construct;OUTLINED;hold" "$(truth hold 1)"
	done
	if [ -n "$serial" ] && workload omp_waits $runtime "$events" serial 14; then
		seconds_are "serial work" "do_serial;serial(;|\$)" "$(truth serial 1)"
		seconds_are "idle workers" "^omp-idle" "$(truth idle 1)" OMP:IDLE
		seconds_are "work" "do_serial;OUTLINED;work" "$(truth work 1)"
	fi
done
done_testing
