#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL at random moments: the file is readable, and what was delivered is in the tree or was in
# flight.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# begun PID: its file has come so far that it can be read.
begun() {
	until "$CHECK" -k "$OUT"/*.hpcrun >/dev/null 2>&1 || ! kill -0 "$1" 2>/dev/null; do
		sleep 0.01
	done
}

# 24 times, and on until there are samples enough to tell something.
i=0 bad=0 samples=0
while i=$((i + 1)) && [ $i -le 24 ] || { [ "$samples" -lt 500 ] && [ $i -le 500 ]; }; do
	rm -rf "$OUT"
	"$HPCRUN" -q -e CPUTIME@f8000 -e REALTIME@f2000 -o "$OUT" "$LIFE" forever 2>"$T/stderr" &
	pid=$!
	# up to 380 ms after the first file is there: in the middle of start-up, of growth, of
	# samples
	begun $pid
	sleep "0.$(awk -v s="$i" 'BEGIN { srand(s); printf "%03d", rand() * 380 }')"
	kill -KILL $pid
	wait $pid 2>/dev/null
	if ! "$CHECK" -k "$OUT"/*.hpcrun >"$T/values"; then
		bad=$((bad + 1))
		grep '^#' "$T/values" | head -n 5
	fi
	samples=$((samples + $(value recorded)))
done
is "all files are sound but for what was in flight" "$bad" 0
within "they hold samples" "$samples" 500 100000000

for sig in TERM INT HUP; do
	case $sig in TERM) sig_n=15 ;; INT) sig_n=2 ;; *) sig_n=1 ;; esac
	rm -rf "$OUT"
	"$HPCRUN" -q -o "$OUT" "$LIFE" forever &
	pid=$!
	begun $pid
	sleep 0.3
	# a background process of a shell ignores SIGINT, as its program does then
	kill -$sig $pid
	[ $sig != INT ] || kill -TERM $pid
	status=0
	wait $pid 2>/dev/null || status=$?
	[ $sig = INT ] || is "SIG$sig ends the program" "$status" $((sig_n + 128))
	sound "SIG$sig: file is sound" -k
done 2>/dev/null
done_testing
