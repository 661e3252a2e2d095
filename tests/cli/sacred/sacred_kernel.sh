#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# An old kernel (Linux 4.18): it does not know calls and flags that came later, whether the program,
# its libc, the library or a tool asks. The program runs as without us, and is measured as on a new
# kernel.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"
. "$srcdir/tests/run_lib.sh"
UNDER="$builddir/tests/workload/run/run_deny linux=4.18 --"

$UNDER true 2>/dev/null || skip_all "no seccomp filter can be set here"
like "close_range is not known" "$($UNDER "$W/sacred_fd" ranges)" \
	'^close_range: -1, 100 left$'

for part in close overwrite ranges fork; do
	sacred "descriptors: $part" "$W/sacred_fd" "$part"
	sacred_sampled "descriptors: $part: the measurement goes on"
done
sacred "exec, spawn, system, popen" "$W/sacred_exec"
sacred_sampled "exec, spawn, system, popen: the measurement is sound"
sacred "signals" "$W/sacred_signal" wait
sacred_sampled "signals: the measurement is sound"
sacred_events=$SACRED_EVENTS
SACRED_EVENTS="-e CPUTIME -e OFFCPU"
sacred "waits last as long as asked for" "$W/sacred_wait" all
sacred_sampled "waits: the measurement is sound"
SACRED_EVENTS=$sacred_events

# as_ever EVENT MODE ARGUMENT...: files are sound, no loss, no path ends early
as_ever() {
	event=$1
	shift
	measure -e "$event" -- "$LIFE" "$@"
	is "$1: the program runs" "$status" 0
	sound "$1: files are sound"
	is "$1: all paths are complete" "$(value complete)" "$(value recorded)"
}
as_ever CPUTIME spin 0.3
weights_fit "spin: weights are the CPU time" 1 10
as_ever CPUTIME threads 50 0.01
weights_fit "threads: weights are the CPU time" 51 10
as_ever CPUTIME plugins "$PLUGIN" 5 0.03
as_ever CPUTIME forks 5 0.02
as_ever CPUTIME@f10000 wander 0.5 # the file grows

# report: on an old kernel if UNDER says so
report() {
	# shellcheck disable=SC2086 # words
	${UNDER:-} "$HPCPROF" -q --to text "$OUT" 2>&1
	rm -rf "$T/cache"
}
report >"$T/old"
UNDER=
report >"$T/new"
like "hpcprof-lite reads it" "$(cat "$T/old")" '%.* wander '
same "... as on a new kernel" "$T/old" "$T/new"
done_testing
