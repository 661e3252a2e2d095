#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What -e MPI costs a call of MPI, and how much of that is the call path: ns a call without us, with
# us, and the difference, for calls that have nothing to do.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_speed.c || skip_all "the program does not build with mpicc.$mpi"
	mpi_run "$mpi" 1 "$T/$mpi/mpi_speed" 1000000 >"$T/without"
	mpi_run "$mpi" 1 "$HPCRUN" -q -e MPI -o "$T/run-$mpi" -- "$T/$mpi/mpi_speed" 1000000 \
		>"$T/with"
	paste "$T/without" "$T/with" | awk -v mpi="$mpi" '
		{ printf "%-8s %-16s %6.1f ns without, %6.1f with, %6.1f more\n", mpi, $1, $2, $4,
			$4 - $2 }'
done
tap_finished=yes
