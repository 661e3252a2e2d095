#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Waits: no sample cuts one short, and a signal of the program's own still does. All runs wait at
# the same time.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

# plain NAME ARGUMENT...: starts the program alone.
plain() {
	sacred_run "$1" "$W/sacred_wait" "$@" &
}

# waits NAME EVENTS ARGUMENT...: starts it with the profiler.
waits() {
	waits_name=$1 waits_events=$2
	shift 2
	# shellcheck disable=SC2086 # words
	sacred_run "$waits_name" "$HPCRUN" -q $waits_events -o "$T/m-$waits_name" \
		"$W/sacred_wait" "$@" &
}

# as_alone DESCRIPTION NAME PLAIN-NAME
as_alone() {
	cat "$T/$2.err" >>"$T/$2.out"
	same "$1" "$T/$2.out" "$T/$3.out"
}

# cut_short NAME: how many calls ended early, as the ledger says.
cut_short() {
	"$HPCPROF" -q --to text --all "$T/m-$1" | by_name '
		$1 == "loss" && get("of") == "all" && get("cause") == "waits-cut-short" {
			n = get("n") }
		END { print n + 0 }'
}

plain all
plain rarely
plain in-a-row
plain blocked
waits all-both "$SACRED_EVENTS" all
waits all-offcpu "-e CPUTIME -e OFFCPU" all # every wait of 5 ms is interrupted
waits rarely-offcpu "-e CPUTIME -e OFFCPU" rarely
waits rarely-real "-e REALTIME" rarely
waits thread-offcpu "-e CPUTIME -e OFFCPU" in-thread
waits thread-cpu "-e CPUTIME" in-thread
waits unknown "-e OFFCPU" unknown
# Data comes close to a signal, and the next receive waits.
waits row-offcpu "-e OFFCPU@f5000" in-a-row
waits blocked-offcpu "-e OFFCPU@f10000" blocked
# The first thread is sent a signal now and then, also where it sleeps.
waits rarely-cpu "-e CPUTIME" rarely
wait
for name in all rarely in-a-row blocked; do cat "$T/$name.err" >>"$T/$name.out"; done

as_alone "waits last as long as asked for" all-both all
mv "$T/m-all-both" "$T/m"
sacred_sampled "waits: the measurement is sound"
as_alone "waits last as long as asked for, with OFFCPU" all-offcpu all
rm -rf "$T/m"
mv "$T/m-all-offcpu" "$T/m"
sacred_sampled "waits, with OFFCPU: the measurement is sound"
as_alone "no signal of ours is left behind" blocked-offcpu blocked
as_alone "time-outs of sockets expire, with OFFCPU" rarely-offcpu rarely
as_alone "time-outs of sockets expire, with REALTIME" rarely-real rarely
as_alone "in a thread, too" thread-offcpu rarely
is "one whose number is not known is counted" "$(cut_short unknown)" 1
is "none was cut short" "$(cut_short thread-offcpu)" 0
as_alone "in a thread without samples" thread-cpu rarely
as_alone "a time-out begins with its call" row-offcpu in-a-row
as_alone "calls that the kernel does not restart wait on" rarely-cpu rarely

done_testing
