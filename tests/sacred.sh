# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The measured program is sacred: runs a command without and with the profiler, at 10 kHz (or as
# SACRED_EVENTS says, for an emulated processor), and compares what it printed and how it ended.
# Source after tests/lib.sh. Must not: judge by time; the limit is a watchdog against hangs.

SACRED_EVENTS=${SACRED_EVENTS:--e CPUTIME@f10000 -e REALTIME@f5000}
SACRED_LIMIT=300
# Of sacred_sampled; empty, where a test looks for functions in the tree.
sacred_structs=--no-structs
# shellcheck disable=SC2034 # for the scripts
W=$builddir/tests/workload/sacred

# how COMMAND...: its exit status, or "signal N" as its parent sees it, on the last line of what it
# prints. Output is in $T/NAME.
sacred_run() { # NAME COMMAND...
	sacred_name=$1
	shift
	sacred_status=0
	run_limited "$SACRED_LIMIT" "$@" >"$T/$sacred_name.out" 2>"$T/$sacred_name.err" \
		</dev/null || sacred_status=$?
	# Some shells say that a child died of a signal, and which process it was.
	sed -i '/lib\.sh: line [0-9]*: *[0-9][0-9]* /d' "$T/$sacred_name.err"
	echo "status $sacred_status" >>"$T/$sacred_name.out"
}

# sacred DESCRIPTION COMMAND...: one test: standard output, standard error and status with the
# profiler are those without. UNDER: a command that starts both.
sacred() {
	sacred_what=$1
	shift
	rm -rf "$T/m"
	# shellcheck disable=SC2086 # words
	sacred_run plain ${UNDER:-} "$@"
	# shellcheck disable=SC2086 # words
	sacred_run measured ${UNDER:-} "$HPCRUN" -q $SACRED_EVENTS -o "$T/m" "$@"
	cat "$T/plain.err" >>"$T/plain.out"
	cat "$T/measured.err" >>"$T/measured.out"
	same "$sacred_what" "$T/measured.out" "$T/plain.out"
}

# sacred_sampled: one test: the last measurement holds samples, and its ledger closes.
sacred_sampled() {
	rm -rf "$T/m-database"
	# shellcheck disable=SC2086 # an option or none
	sacred_text=$("$HPCPROF" $sacred_structs --to text -o "$T/m-database" "$T/m" 2>&1)
	like "$1" "$sacred_text" '^Ledger: .* it closes for every thread'
}
