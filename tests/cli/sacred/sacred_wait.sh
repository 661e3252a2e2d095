#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Waits: no sample cuts one short, and a signal of the program's own still does.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

sacred "waits last as long as asked for" "$W/sacred_wait"
sacred_sampled "waits: the measurement is sound"

# The first thread is sent a signal now and then, also where it sleeps.
SACRED_EVENTS="-e CPUTIME"
sacred "calls that the kernel does not restart wait on" "$W/sacred_wait" rarely

done_testing
