#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The program that attaches is killed (SIGKILL) at one moment after the other, also while a thread
# makes our calls: the measured program goes on, notices nothing, and can be attached to again.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/attach/attach_lib.sh"
program=$builddir/tests/workload/run/attach_phases

echo b >"$T/phase"
"$program" "$T/phase" >"$T/out" 2>"$T/err" &
pid=$!
at_exit "kill -KILL $pid 2>/dev/null"
until grep -qs ready "$T/out"; do sleep 0.05; done
seen_of $pid >"$T/before"

# is_traced: by whom we have started. In /bin/sh alone, because a command takes milliseconds.
is_traced() {
	for traced_task in /proc/"$pid"/task/*; do
		while read -r traced_field traced_value; do
			[ "$traced_field" = TracerPid: ] || continue
			[ "$traced_value" = "$1" ] && return
			break
		done <"$traced_task/status" || :
	done 2>/dev/null
	return 1
}

n_kills=$(thorough 12 300)
i=0
n_within=0
alive=yes
while [ $i -lt "$n_kills" ] && [ $alive = yes ]; do
	rm -rf "$T/run"
	"$HPCRUN" -q -e CPUTIME -e OFFCPU --attach $pid --seconds 1 -o "$T/run" >/dev/null 2>&1 &
	attacher=$!
	until is_traced $attacher || ! kill -0 $attacher 2>/dev/null; do :; done
	sleep "$(printf '0.0%03d' $((i * 7 % 80)))"
	if is_traced $attacher; then n_within=$((n_within + 1)); fi
	kill -KILL $attacher 2>/dev/null
	wait $attacher 2>/dev/null
	"$HPCRUN" -q --detach $pid >/dev/null 2>&1
	kill -0 $pid 2>/dev/null || alive=no
	i=$((i + 1))
done
is "the program lives, after $i kills" $alive yes
diag "killed while a thread was stopped: $n_within"
pid_measured() {
	attach "$T/run" -e CPUTIME --seconds 1 && return
	tap_said=$(cat "$T/said")
	return 1
}
most_of 1 "it can be attached to afterwards" pid_measured
# a thread that has left may still be on its way out of our handler
i=0
while seen_of $pid >"$T/after" && ! cmp -s "$T/before" "$T/after" && [ $i -lt 100 ]; do
	sleep 0.05
	i=$((i + 1))
done
same "what the kernel knows of it" "$T/before" "$T/after"
kill -WINCH $pid
echo e >"$T/phase"
wait $pid
is "status" $? 9
is "what the program noticed" "$(tail -1 "$T/out")" \
	"handler 1, blocked 1, EINTR 0, winch 1, preload unset"
is "standard error" "$(cat "$T/err")" ""

done_testing
