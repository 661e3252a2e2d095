#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What cannot be attached to is refused with the reason, and goes on unharmed; and who may attach.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/attach/attach_lib.sh"

sleep 1000 &
pid=$!
at_exit "kill -KILL $pid 2>/dev/null"

# refused DESCRIPTION ERE OPTIONS...: status 1 and this message; the process $pid lives.
refused() {
	refused_what=$1
	refused_why=$2
	shift 2
	attach "$T/run" "$@"
	is "$refused_what: status" $? 1
	like "$refused_what: message" "$(cat "$T/said")" "$refused_why"
	ok "$refused_what: no directory is left" test ! -e "$T/run"
}

"$HPCRUN" --attach >"$T/said" 2>&1
is "no process: wrong usage" $? 2
"$HPCRUN" --seconds 3 true >"$T/said" 2>&1
is "--seconds without --attach: wrong usage" $? 2
"$HPCRUN" --attach $pid true >"$T/said" 2>&1
is "a command beside it: wrong usage" $? 2
sh -c 'exec "$0" --attach $$ -o "$1"' "$HPCRUN" "$T/run" >"$T/said" 2>&1
is "itself: status" $? 1
like "itself: message" "$(cat "$T/said")" "is hpcrun-lite itself"
refused "GPUs" "must be there when the program starts" -e MPI
refused "memory" "must be there when the program starts" -e MEMORY

"$HPCRUN" --detach $pid >"$T/said" 2>&1
is "detach without attach: status" $? 1
like "detach without attach: message" "$(cat "$T/said")" "process $pid is not measured"

# begin: attaches without an end, and waits until it measures.
begin() {
	rm -rf "$T/run" "$T/begun"
	"$HPCRUN" --attach $pid -o "$T/run" >"$T/begun" 2>&1 &
	attacher=$!
	until grep -qs 'measuring process' "$T/begun"; do
		kill -0 $attacher 2>/dev/null || break
		sleep 0.05
	done
}
begin
kill -TERM $attacher
wait $attacher
is "ended by a signal: status" $? 0
begin
"$HPCRUN" --attach $pid -o "$T/other" >"$T/said" 2>&1
is "a second one at the same time: status" $? 1
like "a second one at the same time: message" "$(cat "$T/said")" "it is measured already"
"$HPCRUN" -q --detach $pid
is "detach from elsewhere: status" $? 0
wait $attacher
is "detach from elsewhere: the one that waits ends" $? 0
begin
kill -KILL $attacher
wait $attacher 2>/dev/null
"$HPCRUN" -q --detach $pid
is "detach after a kill of the one that attached: status" $? 0
rm -rf "$T/run"

kill -STOP $pid
refused "a stopped process" "is stopped; continue it first"
kill -CONT $pid

if have strace && strace -o /dev/null true 2>/dev/null; then
	strace -o /dev/null -p $pid >/dev/null 2>&1 &
	tracer=$!
	for _ in 1 2 3 4 5 6 7 8 9; do
		grep -q '^TracerPid:.0$' /proc/$pid/status || break
		sleep 0.1
	done
	refused "a traced process" "is traced by another process"
	kill $tracer
	wait $tracer 2>/dev/null
else
	skip "a traced process" "no strace"
fi

"$HPCRUN" -q -o "$T/own" -- sleep 1000 &
sleeping=$pid
pid=$!
for _ in 1 2 3 4 5 6 7 8 9; do
	grep -q libhpcrun-lite "/proc/$pid/maps" && break
	sleep 0.1
done
refused "a process that is measured" "it is measured already"
kill $pid
wait $pid 2>/dev/null

if [ "$(id -u)" -eq 0 ]; then
	public_tools
	public_dir nobody >/dev/null
	pid=$sleeping

	as_nobody "$HPCRUN" --attach $pid -o "$T/nobody/run" >"$T/said" 2>&1
	is "a process of another user: status" $? 1
	like "a process of another user: message" "$(cat "$T/said")" "belongs to another user"
	# shellcheck disable=SC2016 # its own process id
	as_nobody sh -c 'echo $$ >"$1"; exec sleep 1000' - "$T/nobody/pid" &
	until [ -s "$T/nobody/pid" ]; do sleep 0.05; done
	pid=$(cat "$T/nobody/pid")
	as_nobody "$HPCRUN" --attach "$pid" --seconds 1 -o "$T/nobody/run" >"$T/said" 2>&1
	is "one's own process, as an ordinary user: status" $? 0
	ok "... and its measurement is there" test -s "$(ls "$T"/nobody/run/*.hpcrun)"
	attach "$T/roots" --seconds 1
	is "root may attach to it, too" $? 0
	ok "... and that measurement is there" test -s "$(ls "$T"/roots/*.hpcrun)"
	kill "$pid"
	pid=$sleeping
else
	skip "a process of another user" "not root"
fi

kill $pid
wait $pid
is "the process was not harmed" $? 143
refused "a process that is gone" "is not there"

echo 'int main(void) { for (;;) ; }' >"$T/s.c"
if ${CC:-cc} -static -o "$T/static" "$T/s.c" 2>/dev/null; then
	"$T/static" &
	pid=$!
	refused "a static program" "is a static program"
	kill $pid
else
	skip "a static program" "cannot be built"
fi

done_testing
