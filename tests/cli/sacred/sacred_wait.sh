#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Waits: no sample cuts one short, and a signal of the program's own still does.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

sacred "waits last as long as asked for" "$W/sacred_wait"
sacred_sampled "waits: the measurement is sound"

# Every wait of 5 ms is interrupted.
SACRED_EVENTS="-e CPUTIME -e OFFCPU"
sacred "waits last as long as asked for, with OFFCPU" "$W/sacred_wait"
sacred_sampled "waits, with OFFCPU: the measurement is sound"
sacred "time-outs of sockets expire, with OFFCPU" "$W/sacred_wait" rarely
SACRED_EVENTS="-e REALTIME"
sacred "time-outs of sockets expire, with REALTIME" "$W/sacred_wait" rarely

# Data comes close to a signal, and the next receive waits.
SACRED_EVENTS="-e OFFCPU@f5000"
sacred "a time-out begins with its call" "$W/sacred_wait" in-a-row

# The first thread is sent a signal now and then, also where it sleeps.
SACRED_EVENTS="-e CPUTIME"
sacred "calls that the kernel does not restart wait on" "$W/sacred_wait" rarely

done_testing
