#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Tasks hang below the region and the task that encloses them, whichever thread ran them and while
# it waited for what: a tree of tasks, a loop of tasks, untied tasks.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

events="-e CPUTIME@f4000"

# cpu_seconds_are FUNCTION...: each function has the CPU time that it measured.
cpu_seconds_are() {
	for function; do
		seconds_are "$function" ";$function(;|\$)" "$(truth "$function" 2)"
	done
}

for runtime in libgomp libomp $(thorough "" compat); do
	if workload omp_paths $runtime "$events" fib 50; then
		is "$M: leaves of the tree are below tasks" "$(paths_to leaf_work 1 | grep -Evc \
			'^main > main > do_fib > (OUTLINED > fib > )*OUTLINED > leaf_work$')" 0
		cpu_seconds_are leaf_work
	fi
	if workload omp_paths $runtime "$events" loop 50; then
		all_in "a loop of tasks" item_work "main > main > do_loop > OUTLINED > item_work"
		cpu_seconds_are item_work
	fi
	if workload omp_paths $runtime "$events" untied 50; then
		for work in first second third leaf; do
			all_in "untied tasks: $work" ${work}_work \
				"main > main > do_untied > OUTLINED > ${work}_work"
		done
		cpu_seconds_are first_work second_work third_work leaf_work
	fi
done
done_testing
