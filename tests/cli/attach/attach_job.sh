#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A job of four ranks hangs: --attach-job finds them by the process id of mpirun, leaves the scripts
# that started them, and the report says for each rank in which call of MPI it waits, and from where
# it was called. The job goes on as it was. tests/cli/e2e/e2e_slurm.sh has a job of Slurm.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/attach/attach_lib.sh"
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

"$HPCRUN" --attach-job $$ -o "$T/run" >"$T/said" 2>&1
is "no ranks: status" $? 1
like "no ranks: message" "$(cat "$T/said")" "$$ is neither a job of Slurm"
ok "no ranks: no directory is left" test ! -e "$T/run"

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_hang.c || skip_all "the program does not build with mpicc.$mpi"
	"mpirun.$mpi" -n 4 sh -c '"$0"; exit 3' "$T/$mpi/mpi_hang" >"$T/out" 2>&1 &
	job=$!
	at_exit "kill $job 2>/dev/null; wait $job 2>/dev/null"
	n=0
	while [ "$n" -lt 4 ]; do
		sleep 0.2
		n=$(pgrep -c -f "^$T/$mpi/mpi_hang" || :)
		kill -0 $job 2>/dev/null || break
	done
	run_limited 60 "$HPCRUN" -e CPUTIME -e OFFCPU --attach-job $job --seconds 2 \
		-o "$T/$mpi/run" >"$T/said" 2>&1
	is "$mpi: status" $? 0
	like "$mpi: message" "$(cat "$T/said")" "measured 4 ranks into"
	for rank in 0 1 2 3; do
		case $rank in
		0 | 3) call=MPI_Wait ;;
		1) call=MPI_Recv ;;
		2) call=MPI_Barrier ;;
		esac
		"$HPCPROF" --all --rank $rank "$T/$mpi/run" >"$T/all" 2>/dev/null
		in_call=$(by_name '$1 == "by-function" && get("name") ~ /^P?'$call'$/ {
			print "yes" }' "$T/all" | head -n 1)
		is "$mpi: rank $rank waits in $call" "$in_call" yes
	done
	ok "$mpi: the job goes on" kill -0 $job
	kill $job
	wait $job 2>/dev/null
done

done_testing
