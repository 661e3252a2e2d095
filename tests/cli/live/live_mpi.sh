#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcprof-lite --live on two ranks, and on a Python program: all ranks are seen, and Python's
# functions have their names.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/live/live_lib.sh"

# ---- Python ----

if [ -x "${PYTHON3:-}" ] || have python3; then
	cat >"$T/phases.py" <<-'EOF'
		import signal
		phase = 0
		def on_signal(number, frame):
		    global phase
		    phase += 1
		def assemble_phase():
		    return sum([i * i for i in range(2000)])
		def solve_phase():
		    s = 0
		    for i in range(2000):
		        s += i
		    return s
		signal.signal(signal.SIGUSR1, on_signal)
		while phase == 0:
		    assemble_phase()
		while phase == 1:
		    solve_phase()
	EOF
	"$HPCRUN" -q -o "$T/python" -- "${PYTHON3:-python3}" "$T/phases.py" >/dev/null 2>&1 &
	python=$!
	at_exit "kill -9 $python 2>/dev/null"
	look python
	saw() { tail -n 1 "$T/python.live" | grep -q "$1"; }
	ok "a function of Python" await "phase 1" saw assemble_phase
	kill -USR1 "$python"
	ok "... and the next one" await "phase 2" saw '; [0-9.]*% solve_phase'
	kill -USR1 "$python"
	ok "it ends with the program" wait $LOOKER
else
	skip "a function of Python" "no Python"
	skip "... and the next one" "no Python"
	skip "it ends with the program" "no Python"
fi

# ---- ranks ----

# shellcheck source=/dev/null
. "$srcdir/tests/mpi_env.sh"
mpi=
for name in openmpi mpich; do
	if have "mpirun.$name"; then mpi=$name; fi
done
if [ -n "$mpi" ]; then
	# each rank is a process of its own file, as with any program of MPI
	"mpirun.$mpi" -n 2 "$HPCRUN" -q -o "$T/ranks" -- "$PHASES" 2 </dev/null >"$T/pids" \
		2>"$T/err" &
	await "two ranks" sh -c '[ "$(wc -l <"$0")" -eq 2 ]' "$T/pids"
	at_exit "kill -9 $(tr '\n' ' ' <"$T/pids") 2>/dev/null"
	look ranks
	both() { tail -n 1 "$T/ranks.live" | grep -q '2 processes, 4 threads.*% assemble_phase'; }
	ok "both ranks are seen" await "both ranks" both
	while read -r pid; do finish "$pid"; done <"$T/pids"
	ok "it ends when both have ended" wait $LOOKER
	like "... with a screen of both" "$(cat "$T/ranks.live")" \
		'^ended: .*; 2 processes \(2 ranks\), 4 threads'
else
	skip "both ranks are seen" "no mpirun"
	skip "it ends when both have ended" "no mpirun"
	skip "... with a screen of both" "no mpirun"
fi

done_testing
