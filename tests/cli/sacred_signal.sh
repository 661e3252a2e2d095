#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Signals: masks, handlers, inheritance and deaths are those without us, also of the signal that samples use.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

for part in masks actions own inherit wait; do
	sacred "signals: $part" "$W/sacred_signal" "$part"
done
sacred "SIGSTKFLT kills" sh -c "$W/sacred_signal die; echo \$?"

# shellcheck disable=SC2016 # for the inner shell
for signal in HUP INT QUIT TERM USR1 USR2 ALRM PIPE SEGV ABRT KILL XCPU STKFLT; do
	sacred "the parent sees death by $signal" sh -c 'sh -c "kill -'$signal' \$\$"; echo $?'
done

# Whether we die of the signal itself, without a shell in between: 128 + N is what timeout and shells make of it.
"$HPCRUN" -q -o "$T/d" sh -c 'kill -TERM $$' 2>/dev/null
is "the launcher's own parent sees the program's death" $? 143

done_testing
