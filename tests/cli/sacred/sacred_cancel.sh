#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A thread that is cancelled in a wait ends as without us, and an alarm that comes just when a
# sample does ends the wait.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

for kind in poll for-ever ppoll select epoll pause sleep nanosleep sem sigtimedwait; do
	sacred "cancelled in $kind" "$W/sacred_cancel" cancel "$kind" 200
done
sacred_sampled "cancelled: the measurement is sound"

# Standard error says how many, which differs.
for kind in poll select epoll nanosleep sem sigtimedwait; do
	is "interrupted in $kind" \
		"$("$HPCRUN" -q -e REALTIME@f10000 -o "$T/$kind" "$W/sacred_cancel" interrupt \
		"$kind" 1000 2>/dev/null)" "$kind: slept through few or none"
done

done_testing
