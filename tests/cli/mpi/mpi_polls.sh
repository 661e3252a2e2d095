#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Polls that find nothing are counted exactly, and one in 128 is timed. Places that poll in turn
# share the calls. The few that take long are all in the time, which is never more than has passed.
# Polls while measurement is off are not counted, and later ones do not stand for them.

. "${srcdir:-.}/tests/lib.sh"
[ -z "${SANITIZER:-}" ] || skip_all "the counter is preloaded, and a sanitizer wants to be first"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

rounds=20
polls=10000
slow=509 # one in so many takes 200 us: three quarters of the time
first=$(mpi_line mpi_polls.c 'the first place')
second=$(mpi_line mpi_polls.c 'the second place')
third=$(mpi_line mpi_polls.c 'the third place')

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_polls.c -I"$srcdir" "$builddir/.libs/libhpctoolkit.a" -ldl &&
		mpi_build "$mpi" mpi_count.c -shared -fPIC ||
		skip_all "the programs do not build with mpicc.$mpi"
	rm -f "$T"/count.*
	SLOW=$slow COUNT=$T/count LD_PRELOAD=$T/$mpi/mpi_count mpi_run "$mpi" 1 "$HPCRUN" -q \
		-e MPI -o "$T/$mpi/run" -- "$T/$mpi/mpi_polls" "$rounds" "$polls" >"$T/out" \
		2>"$T/err"
	is "$mpi: status" $? 0
	wall=$(cut -d ' ' -f 1 "$T/out")
	mpi_read "$T/$mpi/run"
	mpi_calls 0 >"$T/ours"
	sort "$T/count.0" | awk '{ print $1, $2, $3, $4 }' >"$T/theirs"
	same "$mpi: calls and bytes" "$T/theirs" "$T/ours"
	# Each has half of those that are timed, which are some 19,000 in all.
	within "$mpi: calls at the first place" "$(mpi_sum MPI_Test calls "$first")" \
		$((rounds * polls * 9 / 10)) $((rounds * polls * 11 / 10))
	within "$mpi: calls at the second place" "$(mpi_sum MPI_Test calls "$second")" \
		$((rounds * polls * 9 / 10)) $((rounds * polls * 11 / 10))
	ok "$mpi: each poll that finds something is at its place" test \
		"$(mpi_sum MPI_Test calls "$third")" -ge "$rounds"
	# The processor's counter may be wrong by 0.1 %.
	within "$mpi: time" "$(mpi_sum MPI_Test ns)" $((2 * rounds * polls / slow * 200000)) \
		$((wall * 101 / 100))

	mpi_run "$mpi" 1 "$HPCRUN" -q -e MPI -o "$T/$mpi/off" -- "$T/$mpi/mpi_polls" 1000 40 600 \
		>"$T/out" 2>"$T/err"
	read -r wall cpu calls <"$T/out"
	mpi_read "$T/$mpi/off"
	is "$mpi: calls while measurement is on" "$(mpi_sum MPI_Test calls)" "$calls"
	# Three fifths of it is in the calls; the rest is the wrapper and the loop.
	within "$mpi: ... and their time" "$(mpi_sum MPI_Test ns)" $((cpu / 5)) $((wall * 11 / 10))
done

done_testing
