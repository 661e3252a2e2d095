#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# srun -n 2 under a real Slurm, which the test starts for itself: two ranks in one measurement
# directory with the job's number, the same output as without us. With the MPI variant of the
# mini-application where it is built, else with a shell.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/slurm.sh"

why=$(slurm_missing)
[ -z "$why" ] || skip_all "$why"
public_tools || skip_all "the tools are not staged; run make check"
# It needs more of a network than this host's own loopback, for instance.
slurm_start || skip_all "Slurm does not start here"
melt=$builddir/tests/workload/miniapp/melt-mpi
cd "$T" || exit 99

# A program that knows its rank: burns CPU time for each rank, and says who it is.
cat >"$T/ranks.py" <<'PY'
import os
total = 0
for i in range(3000000):
    total += i * i % 7
print(os.environ["SLURM_PROCID"], total)
PY

run_limited 120 srun -n 2 /usr/bin/python3 "$T/ranks.py" >"$T/plain.out" 2>"$T/plain.err" </dev/null
is "plain: status" $? 0
run_limited 120 srun -n 2 "$HPCRUN" -q -- /usr/bin/python3 "$T/ranks.py" >"$T/out" 2>"$T/err" \
	</dev/null
is "measured: status" $? 0
diag_file "$T/err"
is "measured: output" "$(sort "$T/out")" "$(sort "$T/plain.out")"
set -- hpctoolkit-lite-python3*-measurements*
is "one directory for the step" $# 1
M=$T/$1
is "a file each rank" "$(processes "$M")" 2
analyse slurm text,cctdb "$M"
holds "rank 0 is in the database" slurm "process [0-9]+ 0"
holds "rank 1 is in the database" slurm "process [0-9]+ 1"

# The exit status of a rank comes back through srun.
run_limited 120 srun -n 2 "$HPCRUN" -q -o "$T/seven" -- sh -c 'exit 7' >/dev/null 2>&1 </dev/null
is "a status of 7 comes back" $? 7

# Two steps, two directories.
run_limited 120 srun -n 2 "$HPCRUN" -q -- /usr/bin/python3 "$T/ranks.py" >/dev/null 2>"$T/err" \
	</dev/null
is "a second step: status" $? 0
set -- hpctoolkit-lite-python3*-measurements*
is "a second step has a directory of its own" $# 2

if "$HPCRUN" --help | grep -q -- '--attach-job'; then
	srun -J attach -n 2 sh -c 'sleep 60; exit 0' >/dev/null 2>&1 </dev/null &
	job=$!
	until id=$(squeue -h -n attach -t R -o %i) && [ -n "$id" ]; do
		kill -0 $job 2>/dev/null || break
		sleep 0.2
	done
	sleep 1 # for the tasks
	run_limited 60 srun --overlap --jobid "$id" -N 1 -n 1 "$HPCRUN" --attach-job "$id" \
		--seconds 1 -o "$T/attached" >"$T/out" 2>&1 </dev/null
	is "--attach-job: status" $? 0
	like "--attach-job: message" "$(cat "$T/out")" "measured 2 ranks into"
	is "--attach-job: a file each rank" "$(processes "$T/attached")" 2
	scancel "$id"
	wait $job 2>/dev/null
fi

if [ -x "$melt" ] && [ "$(slurm_mpi)" = pmix ]; then
	run_limited 120 srun -n 2 "$melt" --cells 16 --steps 4 --threads 1 >"$T/plain.out" \
		2>"$T/plain.err" </dev/null
	is "MPI, plain: status" $? 0
	run_limited 120 srun -n 2 "$HPCRUN" -q -o "$T/mpi" -- "$melt" --cells 16 --steps 4 \
		--threads 1 >"$T/out" 2>"$T/err" </dev/null
	is "MPI, measured: status" $? 0
	same "MPI, measured: output" "$T/plain.out" "$T/out"
	is "MPI: a file each rank" "$(processes "$T/mpi")" 2
else
	skip "MPI under Slurm" "no MPI variant or no PMIx plugin"
fi

done_testing
