#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Python programs with mpi4py: their library of MPI is visible to one module alone, and the calls
# are at lines of Python.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"

python=
for one in "${PYTHON3:-python3}" /usr/bin/python3; do
	if "$one" -c 'import mpi4py' 2>/dev/null; then python=$one; fi
done
[ -n "$python" ] || skip_all "no Python with mpi4py"
script=$srcdir/tests/workload/mpi/mpi_calls.py
for mpi in $MPIS; do
	[ "$(mpi_run "$mpi" 2 "$python" "$script" 2>/dev/null)" = "done 2" ] || continue
	mpi_run "$mpi" 2 "$HPCRUN" -q -e CPUTIME -e MPI -o "$T/$mpi" -- "$python" "$script" \
		>"$T/out" 2>"$T/err"
	is "$mpi: status" $? 0
	is "$mpi: the same output" "$(cat "$T/out")" "done 2"
	mpi_read "$T/$mpi"
	is "$mpi: barriers, at their line" \
		"$(mpi_sum MPI_Barrier calls "$(mpi_line mpi_calls.py 'Barrier')")" 60
	is "$mpi: broadcasts, at their line" \
		"$(mpi_sum MPI_Bcast calls "$(mpi_line mpi_calls.py 'Bcast')")" 60
	is "$mpi: bytes of rank 0" "$(mpi_calls 0 | grep Bcast)" "MPI_Bcast 30 30000 0"
	ran=yes
done
[ -n "${ran:-}" ] || skip_all "mpi4py works with none of:$MPIS"

done_testing
