#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The measurement directory: its name, numbers, sharing by the ranks of a job, and two jobs never in
# one; without launchers, by the environment that they leave. The real ones are in e2e_mpi.sh and
# e2e_slurm.sh.

. "${srcdir:-.}/tests/lib.sh"
mkdir "$T/w" && cd "$T/w" || exit 99
for v in $(env | sed -n 's/^\([A-Z0-9_]*\)=.*/\1/p' |
	grep -E '^(SLURM|PMI|PMIX|OMPI|PBS|FLUX|PALS|LSB|COBALT|JOB_ID|MPI_|MV2)'); do
	unset "$v"
done

quiet() { "$HPCRUN" -q "$@" 2>&1; }
names() { find . -mindepth 1 -maxdepth 1 -type d | sed 's,^\./,,' | LC_ALL=C sort | tr '\n' ' '; }
again() { rm -rf ./*; }

quiet true; quiet true; quiet /bin/true
is "numbered when it exists" "$(names)" \
	"hpctoolkit-lite-true-measurements hpctoolkit-lite-true-measurements-2 hpctoolkit-lite-true-measurements-3 "
n=$(find . -name '*.hpcrun' | wc -l)
is "one file in each" "$n" 3

again
mkdir hpctoolkit-lite-true-measurements
quiet true
is "an empty directory of that name is taken" \
	"$(names)$(find hpctoolkit-lite-true-measurements -name '*.hpcrun' | wc -l)" \
	"hpctoolkit-lite-true-measurements 1"
again
mkdir hpctoolkit-lite-true-measurements
touch hpctoolkit-lite-true-measurements/mine
quiet true
is "one with things in it is left alone" "$(names)$(ls hpctoolkit-lite-true-measurements)" \
	"hpctoolkit-lite-true-measurements hpctoolkit-lite-true-measurements-2 mine"

again
quiet -o out/ true
is "-o" "$(names)" "out "
# A run that is over: what it wrote last was long ago.
over() { find "$@" -exec touch -d '10 seconds ago' '{}' +; }
over out
is "-o a run that is over: another directory, and the program runs" \
	"$(quiet -o out echo ran; echo $?)" \
	"hpcrun-lite: out: warning: contains the measurement of another run; this run writes to out-2
ran
0"
is "... each run has its own" "$(names)$(find out out-2 -name '*.hpcrun' | wc -l)" "out out-2 2"
over out out-2
quiet -o out true >/dev/null
is "... and the next" "$(names)" "out out-2 out-3 "
rm -rf out out-2 out-3
mkdir own && touch own/file
quiet -o own true
is "-o a directory with other things in it" "$(find own -name '*.hpcrun' | wc -l)" 1
quiet -o . true
is "-o the current directory" "$(find . -maxdepth 1 -name '*.hpcrun' | wc -l)" 1
touch plain
is "-o a file: refused before the start" "$(quiet -o plain echo ran; echo $?)" \
	"hpcrun-lite: plain: cannot create the measurement directory (Not a directory); choose another with -o
1"
is "-o below nothing" "$(quiet -o no/such echo ran; echo $?)" \
	"hpcrun-lite: no/such: cannot create the measurement directory (No such file or directory); choose another with -o
1"
if [ "$(id -u)" -eq 0 ] && public_tools; then
	mkdir -m 755 "$T/locked"
	is "where we may not write" \
		"$(cd "$T/locked" && as_nobody "$HPCRUN" -q echo ran 2>&1; echo $?)" \
		"hpcrun-lite: hpctoolkit-lite-echo-measurements: cannot create the measurement directory (Permission denied); choose another with -o
1"
	mkdir -m 755 "$T/theirs"
	is "... or into" "$(as_nobody "$HPCRUN" -q -o "$T/theirs" echo ran 2>&1; echo $?)" \
		"hpcrun-lite: $T/theirs: cannot create the measurement directory (Permission denied); choose another with -o
1"
else
	skip "where we may not write" "not root"
	skip "... or into" "not root"
fi
cd "$T/w" || exit 99

# ranks NAME=VALUE... -- N: N ranks of one job at the same moment; RANK in a value is the rank.
ranks() {
	ranks_env=
	while [ "$1" != -- ]; do ranks_env="$ranks_env $1"; shift; done
	ranks_i=0
	while [ "$ranks_i" -lt "$2" ]; do
		# shellcheck disable=SC2046,SC2086 # words
		env $(echo $ranks_env | sed "s/RANK_/$ranks_i/g") "$HPCRUN" -q true &
		ranks_i=$((ranks_i + 1))
	done
	wait
}
# files: how many measurement files each directory holds, with the ranks in their names.
files() {
	for files_d in *; do
		printf '%s:%s ' "${files_d#hpctoolkit-lite-true-measurements}" \
			"$(find "$files_d" -name '*.hpcrun' |
			sed 's,.*/,,; s/-.*//; s/^0*\([0-9]\)/\1/' | LC_ALL=C sort -n |
			tr '\n' ' ' | sed 's/ $//')"
	done
}

again
for _ in 1 2 3 4 5; do
	again
	ranks PMIX_NAMESPACE=job1 PMIX_RANK=RANK_ OMPI_COMM_WORLD_RANK=RANK_ \
		OMPI_COMM_WORLD_SIZE=8 -- 8
	[ "$(files)" = ":0 1 2 3 4 5 6 7 " ] || break
done
is "eight ranks at once share a directory, five times" "$(files)" ":0 1 2 3 4 5 6 7 "
ranks PMIX_NAMESPACE=job2 PMIX_RANK=RANK_ OMPI_COMM_WORLD_RANK=RANK_ OMPI_COMM_WORLD_SIZE=2 -- 2
is "the next job has its own" "$(files)" ":0 1 2 3 4 5 6 7 -2:0 1 "

again
ranks SLURM_JOB_ID=77 SLURM_STEP_ID=0 SLURM_PROCID=RANK_ SLURM_STEP_NUM_TASKS=3 -- 3
ranks SLURM_JOB_ID=77 SLURM_STEP_ID=1 SLURM_PROCID=RANK_ SLURM_STEP_NUM_TASKS=3 -- 3
SLURM_JOB_ID=77 SLURM_PROCID=0 SLURM_NTASKS=4 "$HPCRUN" -q true
is "Slurm: a directory for each step, one for a command of the batch script" "$(files)" \
	"-77:norank -77.0:0 1 2 -77.1:0 1 2 "

again
ranks PBS_JOBID=12.server PMI_RANK=RANK_ PMI_SIZE=3 MPI_LOCALRANKID=RANK_ -- 3
ranks PBS_JOBID=12.server PMI_RANK=RANK_ PMI_SIZE=3 MPI_LOCALRANKID=RANK_ -- 3
is "two runs of one batch job that nothing tells apart but their ranks" "$(files)" \
	"-12.server:0 1 2 -12.server-2:0 1 2 "

again
ranks PMI_RANK=RANK_ PMI_SIZE=3 MPI_LOCALRANKID=RANK_ -- 3
is "a launcher without any name: its process" "$(files)" ":0 1 2 "
again
sh -c 'PMI_RANK=0 PMI_SIZE=2 "$HPCRUN" -q -o shared true; :'
sh -c 'PMI_RANK=1 PMI_SIZE=2 "$HPCRUN" -q -o shared true; :'
is "... on several nodes share the directory that is named" "$(files)" "shared:0 1 "
is "... once: the same rank again is another run" \
	"$(PMI_RANK=1 PMI_SIZE=2 quiet -o shared true)$(ls shared/*.hpcrun shared-2/*.hpcrun |
	sed 's/-[^-]*-[0-9]*.hpcrun$//' | tr '\n' ' ')" \
	"shared-2/000001 shared/000000 shared/000001 "
again
ranks FLUX_JOB_ID=f23AB FLUX_TASK_RANK=RANK_ FLUX_JOB_SIZE=2 -- 2
ranks PALS_APID=a-b/c PALS_RANKID=RANK_ -- 2
ranks ALPS_APP_ID=123 ALPS_APP_PE=RANK_ -- 2
is "Flux, PALS and ALPS" "$(files)" "-123:0 1 -a-b_c:0 1 -f23AB:0 1 "
again
ranks LSB_JOBID=9 PMIX_NAMESPACE=2 JSM_NAMESPACE_RANK=RANK_ JSM_NAMESPACE_SIZE=2 -- 2
ranks LSB_JOBID=9 PMIX_NAMESPACE=3 JSM_NAMESPACE_RANK=RANK_ JSM_NAMESPACE_SIZE=2 -- 2
is "jsrun: a directory for each step" "$(files)" "-9:0 1 -9-2:0 1 "
again
ranks PMIX_NAMESPACE=prterun-host-77@1 PMIX_RANK=RANK_ -- 3
is "PRRTE" "$(files)" ":0 1 2 "
again
torch="TORCHELASTIC_RUN_ID=none MASTER_ADDR=localhost WORLD_SIZE=2"
# agent RESTARTS: a torchrun that starts its ranks and, with another port, so many times again
agent() {
	sh -c 'for n in $(seq 0 "$1"); do
			for rank in 0 1; do
				env $2 RANK=$rank LOCAL_RANK=$rank TORCHELASTIC_RESTART_COUNT=$n \
					MASTER_PORT=2950$n "$3" -q true &
			done
			wait
		done' agent "$1" "$torch" "$HPCRUN"
}
agent 0
is "torchrun: its processes are the ranks of one run" "$(files)" ":0 1 "
agent 1
is "the next torchrun has the same names, and starts its ranks again: another run" "$(files)" ":0 1 -2:0 0 1 1 "
agent 1
is "... and the next" "$(files)" ":0 1 -2:0 0 1 1 -3:0 0 1 1 "
again
# shellcheck disable=SC2086 # words
for rank in 0 1; do
	env $torch RANK=$rank LOCAL_RANK=$rank TORCHELASTIC_RESTART_COUNT=0 MASTER_PORT=29500 \
		sh -c '"$1" -q true; "$1" -q true; :' sh "$HPCRUN"
done
is "torchrun --no_python: two runs in a script of each rank" "$(files)" ":0 1 -2:0 1 "
again
ranks RANK=RANK_ WORLD_SIZE=2 LOCAL_SIZE=2 CROSS_RANK=0 CROSS_SIZE=1 MASTER_ADDR=localhost \
	MASTER_PORT=29500 -- 2
is "DeepSpeed" "$(files)" ":0 1 "
again
ranks RANK=RANK_ WORLD_SIZE=2 -- 2
is "RANK and WORLD_SIZE alone may be anybody's" "$(files)" ":norank -2:norank "

again
for job in 1 2 3 4 5 6 7 8 9; do
	PBS_JOBID=$job quiet true
done
jobs() { "$HPCPROF" -q --no-structs --to text "$@" 2>&1 | grep '^  job '; }
is "the report of eight jobs names all" "$(jobs ./*-[1-8])" "  job 1, 2, 3, 4, 5, 6, 7, 8"
is "... and of nine says that there are more" "$(jobs ./*-[1-9])" \
	"  job 1, 2, 3, 4, 5, 6, 7, 8, ..."

done_testing
