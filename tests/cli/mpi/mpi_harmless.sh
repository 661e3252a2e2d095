#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What -e MPI must not change: errors, MPI_Abort, programs without MPI, jobs of which one rank is
# measured; and what it measures there. Also as an ordinary user, and with a part of the ranks.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_errors.c && mpi_build "$mpi" mpi_mix.c ||
		skip_all "the programs do not build with mpicc.$mpi"
	errors=$T/$mpi/mpi_errors mix=$T/$mpi/mpi_mix

	mpi_run "$mpi" 1 "$errors" >"$T/plain" 2>"$T/plain.err"
	mpi_run "$mpi" 1 "$HPCRUN" -q -e MPI -o "$T/$mpi/errors" -- "$errors" >"$T/out" 2>"$T/err"
	is "$mpi, errors: status" $? 0
	same "$mpi, errors: MPI says the same" "$T/plain" "$T/out"
	like "$mpi, errors: there are some" "$(cat "$T/out")" '^no such rank rank$'
	mpi_read "$T/$mpi/errors"
	is "$mpi, errors: the calls count" "$(mpi_calls 0 | grep -c 'MPI_Send 4 ')" 1

	mpi_run "$mpi" 2 "$errors" abort >/dev/null 2>&1
	plain=$?
	mpi_run "$mpi" 2 "$HPCRUN" -q -e MPI -o "$T/$mpi/abort" -- "$errors" abort >/dev/null 2>&1
	is "$mpi: MPI_Abort ends the job with its status" $? "$plain"
	mpi_read "$T/$mpi/abort"
	like "$mpi: what came before it is there" "$(cat "$T/records")" 'MPI_Comm_dup'

	# Nobody answers messages of ours in the other rank, so there must be none. The shell tells
	# them apart, because mpirun of Open MPI 5.0.7 crashes where two programs are given.
	# shellcheck disable=SC2016 # for that shell
	mpi_run "$mpi" 2 sh -c '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" -ne 0 ] ||
		exec "$0" -q -e MPI -o "$1" -- "$2" 5
		exec "$2" 5' "$HPCRUN" "$T/$mpi/one" "$mix" >"$T/out" 2>"$T/err"
	is "$mpi: one of two ranks is measured" $? 0
	mpi_read "$T/$mpi/one"
	is "$mpi: its barriers" "$(mpi_sum MPI_Barrier calls)" 10
	is "$mpi: the arrivals of the other are unknown" \
		"$(awk -F '\t' '$1 == "mpi-site"' "$T/records" | wc -l)" 0

	mpi_build "$mpi" mpi_inter.c
	mpi_run "$mpi" 4 "$HPCRUN" -q -e MPI -o "$T/$mpi/inter" -- "$T/$mpi/mpi_inter" \
		>"$T/out" 2>"$T/err"
	is "$mpi, an intercommunicator: status" $? 0
	mpi_read "$T/$mpi/inter"
	is "$mpi, an intercommunicator: all ranks end well" "$(mpi_sum MPI_Finalize calls)" 4
	is "$mpi, an intercommunicator: a call" "$(mpi_calls 1 | grep Alltoallv)" \
		"MPI_Alltoallv 1 0 0"

	mpi_build "$mpi" mpi_tail.c -shared -fPIC -O2 -DLIBRARY
	gcc -o "$T/tail" "$srcdir/tests/workload/mpi/mpi_tail.c" -ldl
	mpi_run "$mpi" 1 "$T/tail" "$T/$mpi/mpi_tail" >"$T/plain" 2>"$T/err"
	mpi_run "$mpi" 1 "$HPCRUN" -q -e MPI -o "$T/$mpi/tail" -- "$T/tail" "$T/$mpi/mpi_tail" \
		>"$T/out" 2>"$T/err"
	is "$mpi, tail calls: status" $? 0
	same "$mpi, tail calls: MPI says the same" "$T/plain" "$T/out"
	mpi_read "$T/$mpi/tail"
	is "$mpi, tail calls: a call" "$(mpi_calls 0 | grep Barrier)" "MPI_Barrier 2 0 0"
done

mpi=${MPIS##* }
ok "a program without MPI" run_limited 60 "$HPCRUN" -q -e CPUTIME -e MPI -o "$T/none" -- \
	sh -c 'echo out; cat /dev/null; exit 0'
is "... has no MPI data" "$("$HPCPROF" -q --to text --all "$T/none" 2>&1 | grep -c '^mpi-')" 0
"$HPCRUN" -q -e MPI -o "$T/alone" -- true
is "-e MPI alone measures a program without MPI: status" $? 0
like "-L lists it" "$("$HPCRUN" -L)" '^  MPI '
if [ "$(id -u)" -eq 0 ]; then
	public_tools
	mkdir "$T/nobody"
	chown nobody "$T/nobody"
	cd "$T/nobody" || exit 99 # the build tree may be closed to others; mpirun goes there
	HOME=$T/nobody run_limited 240 "$tap_runuser" -u nobody -- "mpirun.$mpi" -n 2 "$HPCRUN" -q \
		-e MPI -o "$T/nobody/run" -- "$T/$mpi/mpi_mix" 3 >"$T/out" 2>"$T/err" </dev/null
	is "an ordinary user: status" $? 0
	mpi_read "$T/nobody/run"
	is "an ordinary user: barriers" "$(mpi_sum MPI_Barrier calls)" 12
fi

done_testing
