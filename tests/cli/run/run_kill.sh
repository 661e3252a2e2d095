#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL at random moments: the file is readable, and what was delivered is in the tree or was in
# flight.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# file_now: the file that a running process writes to.
file_now() {
	if [ "$place" = node ]; then echo "$T"/node/*/*.hpcrun; else echo "$OUT"/*.hpcrun; fi
}
# readable: its file has come so far that it can be read. The process stands still meanwhile: a file
# that grows as fast as it is read would never be.
readable() {
	kill -STOP $pid
	"$CHECK" -k "$(file_now)" >/dev/null 2>&1
	readable_status=$?
	kill -CONT $pid
	return $readable_status
}
# begun: waits for that, but not for ever.
begun() {
	begun_turns=$((1000 * tap_patience))
	until readable; do
		begun_turns=$((begun_turns - 1))
		if [ $begun_turns -eq 0 ]; then
			fail "$place: a file that can be read"
			return
		fi
		sleep 0.01
	done
}
# start OPTION...: a program that goes on for ever; its process id in $pid.
start() {
	rm -rf "$OUT" "$T/node"
	mkdir -m 1777 "$T/node"
	[ "$place" != node ] || set -- --local "$T/node" "$@"
	"$HPCRUN" -q "$@" -o "$OUT" "$LIFE" forever 2>"$T/stderr" &
	pid=$!
	begun
}

# copied: its file is copied from the node, which goes on when it is gone.
copied() {
	copied_turns=$((100 * tap_patience))
	while grep -q '^host ' "$OUT"/*.hpcrun && [ $copied_turns -gt 0 ]; do
		copied_turns=$((copied_turns - 1))
		sleep 0.1
	done
}

# kill_it: at a random moment, up to 380 ms after the first file is there: in the middle of
# start-up, of growth, of samples.
kill_it() {
	start -e CPUTIME@f8000 -e REALTIME@f2000
	sleep "0.$(awk -v s="$i" 'BEGIN { srand(s); printf "%03d", rand() * 380 }')"
	kill -KILL $pid
	wait $pid 2>/dev/null
	[ "$place" != node ] || "$HPCRUN" -q --collect "$OUT" 2>&1
	if ! "$CHECK" -k "$OUT"/*.hpcrun >"$T/values"; then
		bad=$((bad + 1))
		grep '^#' "$T/values" | head -n 5
	fi
	samples=$((samples + $(value recorded)))
}

for place in directory node; do
	# So often, and on until there are samples enough to tell something.
	i=0 bad=0 samples=0 least=$(thorough 8 16)
	while i=$((i + 1)) && [ $i -le "$least" ] ||
		{ [ "$samples" -lt 400 ] && [ $i -le 500 ]; }; do
		kill_it
	done
	is "$place: all files are sound but for what was in flight" "$bad" 0
	within "$place: they hold samples" "$samples" 400 100000000

	for sig in TERM INT HUP; do
		case $sig in TERM) sig_n=15 ;; INT) sig_n=2 ;; *) sig_n=1 ;; esac
		start
		sleep 0.3
		# a background process of a shell ignores SIGINT, as its program does then
		kill -$sig $pid
		[ $sig != INT ] || kill -TERM $pid
		status=0
		wait $pid 2>/dev/null || status=$?
		[ $sig = INT ] || is "$place, SIG$sig ends the program" "$status" $((sig_n + 128))
		copied
		sound "$place, SIG$sig: file is sound" -k
	done 2>/dev/null
done
done_testing
