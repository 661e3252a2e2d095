#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Waits in OpenMP: what threads wait at the end of an unbalanced region, at barriers, for critical
# sections, locks and ordered sections, and between regions, is what their own clocks say. Sampled on
# the wall clock, because a thread that waits may sleep.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

events="-e REALTIME@f1000"

# seconds_are DESCRIPTION PATTERN TRUTH: the seconds on paths that match, within six standard
# deviations of a sample of that size, and two percent of all.
seconds_are() {
	s_bounds=$(echo "$3 $(value_of .)" | awk '{
		bound = 6 * sqrt($1 / 1000) + 0.02 * $2
		printf "%.4f %.4f\n", $1 - bound, $1 + bound }')
	# shellcheck disable=SC2086 # two numbers
	within "$M: $1" "$(value_of "$2")" $s_bounds
}

at_end='<waits at the end of the region>'
for runtime in libgomp libomp compat; do
	for construct in static dynamic; do
		workload omp_waits $runtime "$events" $construct 150 || continue
		seconds_are "work" "do_$construct;OUTLINED;work" "$(truth work 1)"
		seconds_are "waits at the end of the region" "do_$construct;$at_end" "$(truth wait 1)"
	done
	for construct in barrier critical lock ordered; do
		workload omp_waits $runtime "$events" $construct 150 || continue
		seconds_are "work" "do_$construct;OUTLINED;work" "$(truth work 1)"
		seconds_are "waits in the construct" "do_$construct;OUTLINED;RUNTIME(;|\$)" \
			"$(truth wait 1)"
		[ "$construct" = barrier ] ||
			seconds_are "the section" "do_$construct;OUTLINED;hold" "$(truth hold 1)"
	done
	if workload omp_waits $runtime "$events" serial 150; then
		seconds_are "serial work" "do_serial;serial(;|\$)" "$(truth serial 1)"
		seconds_are "idle workers" "^omp-idle" "$(truth idle 1)"
		seconds_are "work" "do_serial;OUTLINED;work" "$(truth work 1)"
	fi
done
done_testing
