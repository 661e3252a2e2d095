#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A program's own use of the signal that samples use, SIGWINCH (28), is that without us: terminals,
# kill, handlers, masks, sigwait and its relatives, signalfd. So is that of SIGURG (23), which comes
# from the network and which language run times and databases send themselves.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

for part in sent ignored interrupted blocked masked jumped descriptor thread other-thread timer \
	descriptors resized inherit; do
	sacred "SIGWINCH: $part" "$W/sacred_winch" 28 "$part"
done
for part in sent interrupted blocked masked jumped descriptor descriptors; do
	sacred "SIGURG: $part" "$W/sacred_winch" 23 "$part"
done

# Past the hooks: nothing dies of it, and somebody says it.
for part in raw-default raw-handler raw-block; do
	sacred "SIGWINCH: $part" "$W/sacred_winch" 28 "$part"
	sacred_sampled "SIGWINCH: $part: sound"
	like "SIGWINCH: $part: the report says it" "$sacred_text" \
		'the program (replaced the handler of|blocked) SIGWINCH'
done

# A signal thread waits for all signals by number, as some run times do.
sacred "SIGWINCH: by number" "$W/sacred_winch" 28 by-number
sacred_sampled "SIGWINCH: by number: sound"
like "SIGWINCH: by number: it has samples" "$sacred_text" '[1-9][0-9]* samples'
unlike "SIGWINCH: by number: nothing is missing" "$sacred_text" 'SIGWINCH'

done_testing
