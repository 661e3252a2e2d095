#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that MPI_Comm_spawn starts are measured, as ranks of jobs of their own, and see of
# themselves what they see alone. What cannot be measured is counted. MPICH is not tried: Debian's
# cannot spawn.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"

# Between jobs Open MPI 4 has nothing but TCP.
OMPI_MCA_btl=^uct,openib,ofi
case $MPIS in
*openmpi*) ;;
*) skip_all "no Open MPI" ;;
esac
mpi_build openmpi mpi_spawn.c || skip_all "cannot be built"
cd "$T" || exit 99
program=$T/openmpi/mpi_spawn

# ranks RUN: "rank job rank-in-job" of the processes that have a rank.
ranks() {
	"$HPCPROF" -q --to text --all "$1" 2>"$T/prof.err" | by_name '
		$1 == "process" && get("rank") >= 0 && !seen[get("rank")]++ {
			rank[get("id")] = get("rank");
			n[get("id")] = get("rank") " 0 " get("rank") }
		$1 == "spawned" && get("process") in n {
			p = get("process"); n[p] = rank[p] " " get("job") " " get("job_rank") }
		END { for (i in n) print n[i] }' | sort -n
}

# child_ranks RUN: the ranks that have samples in the function that spawned processes alone call.
child_ranks() {
	for child_rank in 0 1 2 3; do
		"$HPCPROF" -q --to text --rank $child_rank --by function "$1" 2>/dev/null |
			grep -q child_work && printf '%s ' $child_rank
	done
}

# Open MPI 5.0.7 waits for ever for the spawned ranks in a minimal Debian 13.
timeout --kill-after=5 60 mpirun.openmpi -n 2 "$program" 2 >alone 2>alone.err </dev/null ||
	skip_all "Open MPI cannot spawn here"

mpi_run openmpi 2 "$HPCRUN" -q -o inside -- "$program" 2 >out 2>err
is "hpcrun-lite below mpirun: status" $? 0
is "the program and the spawned ones see what they see alone" "$(sort out)" "$(sort alone)"
is "ranks of the spawned job follow" "$(ranks inside)" "0 0 0
1 0 1
2 1 0
3 1 1"
is "and have samples" "$(child_ranks inside)" "2 3 "
"$HPCPROF" -q --to text inside >report 2>&1
like "the report says what they are" "$(cat report)" \
	"job 1 was spawned by rank 0 .pid [0-9]*.: ranks 2 to 3 here are its ranks 0 to 1"
unlike "nothing is missing" "$(cat report)" "not measured"

if [ "$(thorough few all)" = all ]; then
	run_limited 240 "$HPCRUN" -q -o outside -- mpirun.openmpi -n 2 "$program" 2 >out \
		2>err </dev/null
	is "mpirun below hpcrun-lite: status" $? 0
	is "the same output" "$(sort out)" "$(sort alone)"
	is "the same ranks" "$(ranks outside)" "$(ranks inside)"
fi

mpi_run openmpi 1 "$program" 1 deep child >alone 2>alone.err
mpi_run openmpi 1 "$HPCRUN" -q -e CPUTIME -e MPI -o deep -- "$program" 1 deep child >out 2>err
is "spawned processes that spawn: status" $? 0
is "the same output of two programs" "$(sort out)" "$(sort alone)"
is "each call has a job" "$(ranks deep)" "0 0 0
1 1 0
2 1 1
3 2 0"
is "the worlds of jobs are different communicators" \
	"$("$HPCPROF" -q --to text --all deep 2>/dev/null |
		by_name '$1 == "mpi-comm" && get("world") {
			print get("ranks"), get("measured") }' | sort)" "1 1
1 1
2 2"

# Programs with AddressSanitizer are not measured.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
if [ "$(thorough few all)" = all ] &&
	mpicc.openmpi -fsanitize=address -o asan "$srcdir/tests/workload/mpi/mpi_spawn.c" 2>err &&
	mpi_run openmpi 1 "$program" 2 "$T/asan" >alone 2>err; then
	mpi_run openmpi 1 "$HPCRUN" -q -o missing -- \
		"$program" 2 "$T/asan" >out 2>err
	is "a spawned program that cannot be measured: status" $? 0
	is "it sees what it sees alone" "$(cat out)" "$(cat alone)"
	"$HPCPROF" -q --to text missing >report 2>&1
	like "it is counted" "$(cat report)" \
		"not measured: 2 processes of .*/asan .executable with AddressSanitizer."
fi

python=
for one in "${PYTHON3:-python3}" /usr/bin/python3; do
	if "$one" -c 'import mpi4py' 2>/dev/null; then python=$one; fi
done
if [ -n "$python" ] && [ "$(thorough few all)" = all ]; then
	script=$srcdir/tests/workload/mpi/mpi_spawn.py
	mpi_run openmpi 1 "$python" "$script" >alone 2>alone.err
	mpi_run openmpi 1 "$HPCRUN" -q -o python -- "$python" "$script" >out 2>err
	is "mpi4py: status" $? 0
	is "mpi4py: the same output" "$(cat out)" "$(cat alone)"
	is "mpi4py: ranks" "$(ranks python)" "0 0 0
1 1 0
2 1 1"
fi

done_testing
