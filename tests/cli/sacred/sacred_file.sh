#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Another process shortens the measurement file, or writes over it: the program goes on, and its own
# SIGBUS is its own.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

P=$W/sacred_file
for who in default handler reset blocked pending ignore die; do
	sacred "no damage, SIGBUS: $who" "$P" "$T/m" none "$who"
	mv "$T/plain.out" "$T/plain-$who.out"
done
sacred_sampled "no damage: the measurement is sound"

# damaged HOW WHO: the program says what it says without us, and the note is the only other thing.
damaged() {
	rm -rf "$T/m"
	sacred_run measured "$HPCRUN" -q -e CPUTIME@f10000 -o "$T/m" "$P" "$T/m" "$1" "$2"
	same "$1, SIGBUS: $2" "$T/measured.out" "$T/plain-$2.out"
}
for how in 0 4096 20000; do
	damaged "$how" default
	like "$how: the user is told" "$(cat "$T/measured.err")" \
		'^hpcrun-lite: .*/m/.*\.hpcrun: another process has shortened this file; the measurement of process [0-9]+ ended there$'
done
damaged 0 handler
damaged 4096 reset
damaged 0 blocked
damaged noise default
damaged noise blocked
done_testing
