# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Starts programs and looks at them with hpcprof-lite --live. needs: live_phases

PHASES=$builddir/tests/workload/live/live_phases

# start RUN THREADS [OPTION...]: measures live_phases into $T/RUN in the background, with SHAPE as
# second argument; sets MEASURED to its process id.
start() {
	start_run=$1 start_threads=$2
	shift 2
	"$HPCRUN" -q "$@" -o "$T/$start_run" -- "$PHASES" "$start_threads" ${SHAPE:+"$SHAPE"} \
		>"$T/$start_run.pid" 2>"$T/$start_run.err" &
	await "the program" test -s "$T/$start_run.pid"
	MEASURED=$(cat "$T/$start_run.pid")
	at_exit "kill -9 $MEASURED 2>/dev/null"
}

# await WHAT COMMAND...: until the command succeeds; false after a long time.
await() {
	await_what=$1 await_n=0
	shift
	until "$@" >"$T/.await" 2>&1; do
		await_n=$((await_n + 1))
		if [ $await_n -gt $((300 * tap_patience)) ]; then
			diag "waited in vain for $await_what"
			return 1
		fi
		sleep 0.1
	done
}

# look RUN [OPTION...]: hpcprof-lite --live in the background, into $T/RUN.live; sets LOOKER.
look() {
	look_run=$1
	shift
	"$HPCPROF" --live "$@" "$T/$look_run" >"$T/$look_run.live" 2>"$T/$look_run.said" &
	LOOKER=$!
	at_exit "kill $LOOKER 2>/dev/null"
}

# finish PID: lets live_phases pass through all its phases. Signals that come at once are one.
finish() {
	while kill -USR1 "$1" 2>/dev/null; do sleep 0.2; done
}
