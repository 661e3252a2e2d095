#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# SIGKILL at random moments: the file is readable, and what was delivered is in the tree or was in flight.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

bad=0 samples=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
	rm -rf "$OUT"
	"$HPCRUN" -q -e CPUTIME@f8000 -e REALTIME@f2000 -o "$OUT" "$LIFE" forever 2>"$T/stderr" &
	pid=$!
	# from 20 to 400 ms after the first file is there: in the middle of start-up, of growth, of samples
	until ls "$OUT"/*.hpcrun >/dev/null 2>&1 || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
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
	"$HPCRUN" -q -o "$OUT" "$LIFE" spin 2 &
	pid=$!
	until ls "$OUT"/*.hpcrun >/dev/null 2>&1 || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
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
