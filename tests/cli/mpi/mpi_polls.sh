#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Polls that find nothing are counted exactly, and one in 64 is timed. Places that poll in turn
# share the calls. Their time is neither more than has passed nor much less than the processor gave.

. "${srcdir:-.}/tests/lib.sh"
[ -z "${SANITIZER:-}" ] || skip_all "the counter is preloaded, and a sanitizer wants to be first"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

rounds=20
polls=50000
first=$(mpi_line mpi_polls.c 'the first place')
second=$(mpi_line mpi_polls.c 'the second place')
third=$(mpi_line mpi_polls.c 'the third place')

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_polls.c && mpi_build "$mpi" mpi_count.c -shared -fPIC ||
		skip_all "the programs do not build with mpicc.$mpi"
	rm -f "$T"/count.*
	COUNT=$T/count LD_PRELOAD=$T/$mpi/mpi_count mpi_run "$mpi" 1 "$HPCRUN" -q -e MPI \
		-o "$T/$mpi/run" -- "$T/$mpi/mpi_polls" "$rounds" "$polls" >"$T/out" 2>"$T/err"
	is "$mpi: status" $? 0
	read -r wall cpu <"$T/out"
	mpi_read "$T/$mpi/run"
	mpi_calls 0 >"$T/ours"
	sort "$T/count.0" | awk '{ print $1, $2, $3, $4 }' >"$T/theirs"
	same "$mpi: calls and bytes" "$T/theirs" "$T/ours"
	# Each has half of those that are timed, which are some 30,000 in all.
	within "$mpi: calls at the first place" "$(mpi_sum MPI_Test calls "$first")" \
		$((rounds * polls * 9 / 10)) $((rounds * polls * 11 / 10))
	within "$mpi: calls at the second place" "$(mpi_sum MPI_Test calls "$second")" \
		$((rounds * polls * 9 / 10)) $((rounds * polls * 11 / 10))
	ok "$mpi: each poll that finds something is at its place" test \
		"$(mpi_sum MPI_Test calls "$third")" -ge "$rounds"
	within "$mpi: time" "$(mpi_sum MPI_Test ns)" $((cpu / 4)) "$wall"
done

done_testing
