#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A program whose phases are known is attached to in each of them. Its threads are measured whatever
# they do, also one with all signals blocked and those that begin meanwhile; and it notices nothing:
# handlers, masks, waits, descriptors, timers are as before.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/attach/attach_lib.sh"
program=$builddir/tests/workload/run/attach_phases

echo a >"$T/phase"
"$program" "$T/phase" >"$T/out" 2>"$T/err" &
pid=$!
until grep -qs ready "$T/out"; do sleep 0.05; done
seen_of $pid >"$T/before"

# most_in FUNCTION: nearly all of the work of its threads; blocked_work is another thread's.
most_in() {
	"$HPCPROF" --all "$T/run" >"$T/all" 2>"$T/prof.err" || return 1
	by_name '$1 == "by-function" && get("metric") ~ /^CPUTIME/ && get("exclusive") > 0 {
		print get("name"), get("exclusive") }' "$T/all" >"$T/functions"
	awk -v f="$1" '$1 == f { in_f = $2 } $1 != "blocked_work" { sum += $2 }
		END { exit !(in_f >= 0.8 * sum && sum > 0) }' "$T/functions" && return
	tap_said=$(tr '\n' ';' <"$T/functions")
	return 1
}
in_phase() {
	if ! attach "$T/run" -e CPUTIME -e OFFCPU --seconds 1; then
		tap_said=$(cat "$T/said")
		return 1
	fi
	most_in "$1"
}
for phase in a b; do
	echo $phase >"$T/phase"
	sleep 0.2
	most_of 1 "phase $phase" in_phase phase_$phase
	seen_of $pid >"$T/after"
	same "phase $phase: the program afterwards" "$T/before" "$T/after"
done
is "how it ended" "$(by_name '$1 == "process" { print get("end") }' "$T/all")" \
	"detached: it runs on"
is "a thread that blocks all signals is measured" \
	"$(awk '$1 == "blocked_work" && $2 > 0' "$T/functions" | wc -l)" 1
echo c >"$T/phase"
sleep 0.2
most_of 1 "threads that begin while it is attached" in_phase new_work
# Its short-lived threads come and go; in a beginning one libc blocks all signals.
seen_of $pid | grep -Ev '^Threads|^SigBlk:.ffffffff' | sort -u >"$T/after"
grep -v '^Threads' "$T/before" | sort -u >"$T/was"
same "phase c: the program afterwards" "$T/was" "$T/after"

# It ends while it is measured.
rm -rf "$T/run"
"$HPCRUN" -e CPUTIME --attach $pid -o "$T/run" >"$T/said" 2>&1 &
attacher=$!
until grep -qs 'measuring process' "$T/said" || ! kill -0 $attacher 2>/dev/null; do sleep 0.05; done
kill -WINCH $pid
echo e >"$T/phase"
wait $pid
is "status" $? 9
wait $attacher
is "status of the one that attached" $? 0
"$HPCPROF" --all --to text "$T/run" >"$T/all" 2>/dev/null
is "an end by itself, and the attachment, are in the outputs" \
	"$(by_name '$1 == "process" { print get("end"), get("is_attached") }' "$T/all")" \
	"exit status 9 1"
"$HPCPROF" --to text "$T/run" >"$T/report" 2>/dev/null
like "... and in the report" "$(cat "$T/report")" "1 process was attached to"
is "what the program noticed" "$(tail -1 "$T/out")" \
	"handler 1, blocked 1, EINTR 0, winch 1, preload unset"
is "standard error" "$(cat "$T/err")" ""

done_testing
