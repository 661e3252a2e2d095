#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Processes that are started side by side into one directory are one run, whoever starts them:
# torchrun, xargs -P, GNU parallel, shells. None of them ever fails because of another. What they
# all have to say is said once.

. "${srcdir:-.}/tests/lib.sh"
mkdir "$T/w" && cd "$T/w" || exit 99
for v in RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE TORCHELASTIC_RUN_ID MASTER_ADDR MASTER_PORT; do
	unset $v
done

again() { rm -rf ./*; }
over() { find "$@" -exec touch -d '10 seconds ago' '{}' +; }
# shape: each directory, and how many processes it has.
shape() {
	find . -mindepth 1 -maxdepth 1 -type d | sed 's,^\./,,' | LC_ALL=C sort -V |
		while read -r shape_d; do
		printf '%s:%s ' "$shape_d" "$(find "$shape_d" -name '*.hpcrun' | wc -l | tr -d ' ')"
	done
}

# As torchrun does it: it starts a process for each rank with these variables, waits, and ends the
# job with status 1 as soon as one fails.
cat >"$T/torchrun" <<'END'
import os, subprocess, sys
n = int(sys.argv[1])
processes = []
for rank in range(n):
    env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), ROLE_RANK=str(rank),
               GROUP_RANK="0",
               WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n), MASTER_ADDR="localhost",
               MASTER_PORT="29500",
               TORCHELASTIC_RUN_ID="none", TORCHELASTIC_RESTART_COUNT="0")
    processes.append(subprocess.Popen(sys.argv[2:], env=env))
failed = [p.wait() for p in processes]
sys.exit(1 if any(failed) else 0)
END
python=$(command -v python3) || python=
if [ -n "$python" ]; then
	run_limited 120 "$python" "$T/torchrun" 2 "$HPCRUN" -o m \
		-- sh -c 'echo rank $RANK of $WORLD_SIZE' >"$T/out" 2>"$T/err"
	is "torchrun: status" $? 0
	is "torchrun: every process ran" "$(sort "$T/out")" "rank 0 of 2
rank 1 of 2"
	is "torchrun: one directory" "$(shape)" "m:2 "
	is "torchrun: the ranks are known" \
		"$(find m -name '*.hpcrun' | sed 's,.*/,,; s/-.*//' | sort | tr '\n' ' ')" \
		"000000 000001 "
	is "torchrun: two lines at the end" "$(wc -l <"$T/err" | tr -d ' ')" 2
	like "torchrun: the first says that it is of one rank" "$(cat "$T/err")" \
		'^hpcrun-lite: rank 0 of 2: 1 thread, '
	run_limited 120 "$python" "$T/torchrun" 2 "$HPCRUN" -o m -- true >"$T/out" 2>"$T/err"
	is "a second torchrun: status" $? 0
	is "a second torchrun: another directory" "$(shape)" "m:2 m-2:2 "
	like "a second torchrun: said" "$(cat "$T/err")" \
		'^hpcrun-lite: m: warning: contains the measurement of another run; this run writes to m-2$'
	is "a second torchrun: once" "$(grep -c 'contains the measurement' "$T/err")" 1
	# Without perf events the source is a coarser one, which each rank could note.
	run_limited 120 "$python" "$T/torchrun" 4 "$builddir/tests/workload/run/run_deny" \
		perf_event_open=13 -- "$HPCRUN" -o n -- true >"$T/out" 2>"$T/err"
	is "what all ranks have to note: status" $? 0
	is "what all ranks have to note is said once" \
		"$(grep -c '^hpcrun-lite: CPUTIME: ' "$T/err")" 1
else
	skip "torchrun" "no python3"
fi

again
seq 12 | run_limited 120 xargs -P 4 -n 1 "$HPCRUN" -q -o m sh -c 'sleep 0.$(($0 % 3)); echo "$0"' \
	>"$T/out" 2>"$T/err"
is "xargs -P: status" $? 0
is "xargs -P: every process ran" "$(sort -n "$T/out" | tr '\n' ' ')" "1 2 3 4 5 6 7 8 9 10 11 12 "
# Each of them starts a sleep, or not.
is "xargs -P: one directory" "$(find . -maxdepth 1 -name 'm*')" ./m
is "xargs -P: nothing is said" "$(cat "$T/err")" ""

if have parallel && parallel --version 2>/dev/null | grep -q GNU; then
	again
	PARALLEL_HOME=$T run_limited 120 parallel --will-cite -j 3 "$HPCRUN" -q -o m echo ::: 1 2 \
		3 4 5 6 >"$T/out" 2>"$T/err"
	is "GNU parallel: status" $? 0
	is "GNU parallel: one directory" "$(shape)" "m:6 "
else
	skip "GNU parallel: status" "no GNU parallel"
	skip "GNU parallel: one directory" "no GNU parallel"
fi

# MPICH's launcher leaves rank and size in the environment, and no name of the run: its process is
# the name.
if have mpiexec.hydra; then
	again
	for _ in 1 2; do
		run_limited 120 mpiexec.hydra -n 3 "$HPCRUN" -q true >>"$T/out" 2>>"$T/err" ||
			echo failed
	done
	is "Hydra without a batch system: a directory for each run" "$(shape)" \
		"hpctoolkit-lite-true-measurements:3 hpctoolkit-lite-true-measurements-2:3 "
else
	skip "Hydra without a batch system: a directory for each run" "no mpiexec.hydra"
fi

# One that runs long: the next joins it whenever it comes. One that is over is another run.
again
"$HPCRUN" -q -o m sleep 300 &
long=$!
until [ -n "$(find m -name '*.hpcrun' 2>/dev/null)" ]; do sleep 0.02; done
over m
is "one is still running: the next joins it" "$("$HPCRUN" -q -o m echo ran 2>&1)$(shape)" "ranm:2 "
kill $long
wait $long 2>/dev/null
over m
is "it was killed long ago: another run" "$("$HPCRUN" -q -o m echo ran 2>/dev/null)$(shape)" \
	"ranm:2 m-2:1 "

# A command that is run again at once joins, and says so.
again
"$HPCRUN" -q -o m true
is "run again at once: one directory" "$("$HPCRUN" -o m echo ran 2>"$T/err") $(shape)" "ran m:2 "
is "... which is said" "$(grep -c '^hpcrun-lite: m: holds a run that has just ended; this run is' \
	"$T/err")" 1

# Twenty at the same moment, into a directory that holds a run that is over.
again
"$HPCRUN" -q -o m true
over m
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	"$HPCRUN" -q -o m true 2>>"$T/err20" || echo "failed $i" >>"$T/failed" &
done
wait
is "twenty beside an old run" "$(shape)$(cat "$T/failed" 2>/dev/null)" "m:1 m-2:20 "
is "... said once" "$(grep -c 'writes to m-2' "$T/err20")" 1

# They are one run to the reader too.
like "the report" "$("$HPCPROF" --to text m-2 2>/dev/null | head -n 2)" '^  20 processes on '
done_testing
