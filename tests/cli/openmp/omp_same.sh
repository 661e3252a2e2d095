#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs with OpenMP behave as without us: output, status, exceptions inside of regions, Fortran,
# other policies of waiting, and a kernel that has more threads than processors.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

# same_output NAME COMMAND...: the last measurement printed what the command prints.
same_output() {
	same_name=$1
	shift
	omp_run plain "$@"
	cat "$T/plain.err" >>"$T/plain.out"
	cat "$T/$M.err" >>"$T/$M.out"
	same "$M: $same_name" "$T/$M.out" "$T/plain.out"
}

for runtime in libgomp libomp; do
	if workload omp_throw $runtime "-e CPUTIME@f5000 -e REALTIME@f2000" 30 3; then
		same_output "exceptions are caught" "$T/omp_throw.$runtime" 30 3
		all_in "below the region" "catching(int)" "main > main > OUTLINED > catching(int)"
	fi
	if workload omp_fortran $runtime "-e CPUTIME@f4000" 40; then
		same_output "sums of Fortran" "$T/omp_fortran.$runtime" 40
		like "$M: below the region" "$(paths_to fortran_work)" \
			'^main > main > (MAIN__|omp_fortran) > OUTLINED > fortran_work$'
	fi
	for policy in OMP_WAIT_POLICY=active OMP_WAIT_POLICY=passive OMP_PROC_BIND=true \
		$(thorough "" "KMP_BLOCKTIME=0 KMP_BLOCKTIME=infinite OMP_DYNAMIC=true"); do
		has_workload omp_paths $runtime || continue
		public_copy "$OMP_PROGRAMS/omp_paths.$runtime"
		# The first event makes the paths. 30 ms of work have 60 samples of it, however the
		# pieces of 1 ms fall between the ticks of a busy machine.
		omp_measure "$runtime-$policy" "-e REALTIME@f2000 -e CPUTIME@f4000" \
			env "$policy" "$T/omp_paths.$runtime" chain 30 4
		is "$M: one path" "$(paths_to inner_work | sed 's/ > .* > / > ... > /')" \
			"main > ... > inner_work"
	done
done
done_testing
