#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kinds of Slurm jobs, under a real Slurm that the test starts for itself: which processes are one
# run, which rank each has, what the report calls the job, and what is left of one that is killed.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"
. "$srcdir/tests/slurm.sh"

why=$(slurm_missing)
[ -z "$why" ] || skip_all "$why"
slurm_start || skip_all "Slurm does not start here"
cd "$T" || exit 99

# ranks DIRECTORY: the ranks of the files in a measurement directory
ranks() {
	for slurm_file in "$1"/*.hpcrun; do
		slurm_name=${slurm_file##*/}
		echo "${slurm_name%%-*}"
	done | sort | tr '\n' ' '
}
# head_of DIRECTORY: the head of its report, without times
head_of() {
	"$HPCPROF" --to text --by thread "$1" 2>/dev/null |
		sed -n -e 's/^\(  [0-9]* process[^;]*\);.*/\1/p' -e '/^  job /p'
}
host=$(uname -n)

# ---- how the ranks are told ----

for mpi in none pmi2 pmix; do
	if ! srun --mpi=list 2>&1 | grep -q "$mpi"; then
		skip "--mpi=$mpi" "no such plugin"
		continue
	fi
	run_limited 60 srun --mpi=$mpi -n 3 "$HPCRUN" -q -o "$T/$mpi" true >"$T/log" 2>&1
	is "--mpi=$mpi: three ranks in one directory" "$? $(ranks "$mpi")" "0 000000 000001 000002 "
done

cat >programs <<CONF
0 $HPCRUN -q -o $T/programs.out true
1-2 $HPCRUN -q -o $T/programs.out sh -c :
CONF
run_limited 60 srun --mpi=none -n 3 --multi-prog programs >"$T/log" 2>&1
is "--multi-prog: one run" "$? $(ranks programs.out)" "0 000000 000001 000002 "

run_limited 60 srun --mpi=none -n 2 "$HPCRUN" -q true : -n 1 "$HPCRUN" -q true >"$T/log" 2>&1
is "a heterogeneous job: status" $? 0
set -- hpctoolkit-lite-true-measurements-*
is "a heterogeneous job: one directory" $# 1
is "a heterogeneous job: one run" "$(ranks "$1")" "000000 000001 000002 "
is "a heterogeneous job: what the report says" "$(head_of "$1")" \
	"  3 processes (3 ranks) on $host, 3 threads
  job ${1##*-}"
rm -rf "$1"

# ---- arrays, steps, a requeued job ----

cat >array.sh <<JOB
#!/bin/sh
cd '$T' || exit
srun --mpi=none -n 2 '$HPCRUN' -q true
srun --mpi=none -n 1 '$HPCRUN' -q true
# as Slurm starts it again
SLURM_RESTART_COUNT=1 srun --mpi=none -n 1 '$HPCRUN' -q -o "again.\$SLURM_ARRAY_TASK_ID" true
JOB
array=$(sbatch --parsable -W -n 2 --array=7-8 -o "$T/array.%a" array.sh)
is "an array: status" $? 0
is "an array: a directory for each task and step" \
	"$(echo hpctoolkit-lite-true-measurements-*)" \
	"hpctoolkit-lite-true-measurements-${array}_7.0 hpctoolkit-lite-true-measurements-${array}_7.1 hpctoolkit-lite-true-measurements-${array}_8.0 hpctoolkit-lite-true-measurements-${array}_8.1"
is "an array: the report" "$(head_of "hpctoolkit-lite-true-measurements-${array}_8.0")" \
	"  2 processes (2 ranks) on $host, 2 threads
  job ${array}_8.0"
is "a job that starts again is another run" \
	"$(sed -n 's/.* \(SLURM_RESTART_COUNT=1\) .*/\1/p' again.7/job)" SLURM_RESTART_COUNT=1

# ---- a time limit: SIGTERM, then SIGKILL ----

# One rank that ends by SIGTERM, and one that goes on.
cat >limit.sh <<'PROGRAM'
[ "$SLURM_PROCID" = 0 ] || trap '' TERM
: >"$1.$SLURM_PROCID"
while :; do :; done
PROGRAM
srun --mpi=none -n 2 -J limit "$HPCRUN" -q -o "$OUT" --local "$NODE" sh limit.sh "$T/runs" \
	>"$T/log" 2>&1 &
job=$!
slurm_wait "two ranks" 60 test -e "$T/runs.0" -a -e "$T/runs.1"
is "a job that runs: its data are on the node" "$(on_node) $(waiting)" "2 2"
scancel -n limit
wait $job
collected_of() {
	[ "$(on_node) $(waiting)" = "$1" ]
}
slurm_wait "the ends of both" 20 collected_of "1 1"
is "a time limit: SIGTERM has the file copied, SIGKILL does not" "$(on_node) $(waiting)" "1 1"
like "a time limit: how they ended" "$("$HPCPROF" --to text --by thread "$OUT" 2>&1)" \
	'^  1 process ended with signal SIGTERM: rank 0 [a-z]+ pid '
# The other rank may run until KillWait has passed.
fetch() {
	run_limited 60 srun -n 1 "$HPCRUN" --collect "$OUT" >"$T/log" 2>&1 && collected_of "0 0"
}
slurm_wait "the data of the other rank" 60 fetch
is "a time limit: srun hpcrun-lite --collect fetches it" "$(on_node) $(waiting)" "0 0"
diag_file "$T/log"
sound "a time limit: the files are sound" -k

done_testing
