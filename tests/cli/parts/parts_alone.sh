#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite with the variables of a launcher that did not start it: it works alone, waits for
# nobody, and says so. Needs no MPI.
. "${srcdir:-.}/tests/lib.sh"

cd "$T" || exit 99
"$builddir/tests/gen/gen_scale" -r 4 -t 1 -d 3 -l 8 -p 50 -s 2 job
"$HPCPROF" -q --no-structs --to text job >alone

# from_script NAME=VALUE...: started by a script with these variables, which does more afterwards.
from_script() {
	run_limited 60 env "$@" sh -c '"$HPCPROF" --no-structs --to text job; exit $?' \
		>out 2>err </dev/null
}

# works_alone WHAT RANK-OF-LAUNCHER
works_alone() {
	is "$1: status" $? 0
	same "... it works alone" alone out
	is "... and says so" "$(cat err)" "hpcprof-lite: $2 works alone, as a script or another \
program started it; if all ranks start it, use --mpi"
}

from_script OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 PMIX_NAMESPACE=a
works_alone "a script under Open MPI" "rank 2 of Open MPI"
from_script PMI_RANK=0 PMI_SIZE=3
works_alone "a script under MPICH" "rank 0 of PMI"
from_script SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_ID=0 SLURM_PTY_PORT=1
works_alone "a shell of srun --pty" "rank 0 of Slurm"
from_script PMIX_RANK=1 PMIX_NAMESPACE=slurm.1.0
works_alone "a script of unknown size" "rank 1 of PMIx"

from_script SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_NPROCS=4
is "a batch script of four tasks: nothing is said" "$? $(cat err)" "0 "
same "... and it works alone" alone out
from_script SLURM_NTASKS=4
is "a shell of salloc: nothing is said" "$? $(cat err)" "0 "
same "... and it works alone" alone out
from_script OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1
is "one rank: nothing is said" "$? $(cat err)" "0 "
same "... and it works alone" alone out
done_testing
