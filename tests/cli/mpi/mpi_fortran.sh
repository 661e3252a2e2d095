#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Fortran programs, which call MPI by other names: with its include file, the module mpi, and the
# module mpi_f08. Calls, bytes and lines are known.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"

cat >"$T/known" <<'END'
MPI_Allreduce 20 320 320
MPI_Bcast 20 1280 0
MPI_Comm_dup 1 0 0
MPI_Comm_free 1 0 0
MPI_Finalize 1 0 0
MPI_Init 1 0 0
MPI_Irecv 20 0 5120
MPI_Send 20 5120 0
MPI_Wait 20 0 0
END

for mpi in $MPIS; do
	rm -f "$T/plain"
	for how in inc mod f08; do
		program=mpi_fortran_$how
		if ! command -v "mpifort.$mpi" >/dev/null || ! mpi_build "$mpi" "$program.f90"; then
			skip "$mpi, $how" "no Fortran compiler for it"
			continue
		fi
		# the three print the same
		[ -e "$T/plain" ] ||
			mpi_run "$mpi" 2 "$T/$mpi/$program" >"$T/plain" 2>"$T/plain.err"
		mpi_run "$mpi" 2 "$HPCRUN" -q -e MPI -o "$T/$mpi/$how" -- "$T/$mpi/$program" \
			>"$T/out" 2>"$T/err"
		is "$mpi, $how: status" $? 0
		same "$mpi, $how: the same output" "$T/plain" "$T/out"
		mpi_read "$T/$mpi/$how"
		mpi_calls 0 >"$T/calls"
		same "$mpi, $how: calls and bytes" "$T/known" "$T/calls"
		is "$mpi, $how: the line that sends" "$(mpi_sum MPI_Send calls \
			"$(mpi_line "$program.f90" 'call MPI_Send')")" 40
	done
done

done_testing
