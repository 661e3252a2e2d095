#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Signals: masks, handlers, inheritance and deaths are those without us, also of the signal that
# samples use.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"
# shellcheck disable=SC2034 # for sacred_sampled
sacred_structs=

for part in masks actions own inherit wait; do
	sacred "signals: $part" "$W/sacred_signal" "$part"
done
sacred "signals: blocked" "$W/sacred_signal" blocked
sacred_sampled "signals: blocked: sound"
# inclusive FUNCTION: its share of the time, in percent, in the tree that sacred_sampled has
# printed.
inclusive() {
	printf '%s\n' "$sacred_text" | sed -n '/^Call paths/,/^$/p' | grep -m 1 -E " $1( |\$)" |
		sed 's/^ *\([0-9.]*\)%.*/\1/'
}
# Four of the six equal parts are done with all signals blocked, two of these in a handler.
within "... and in proportion: with signals blocked" "$(inclusive blocked)" 55 78
within "... and in a handler that blocks all" "$(inclusive compute_in_handler)" 25 42
sacred "SIGWINCH does nothing by default" sh -c "$W/sacred_signal die; echo \$?"

# shellcheck disable=SC2016 # for the inner shell
for signal in HUP INT QUIT TERM USR1 USR2 ALRM PIPE SEGV ABRT KILL XCPU STKFLT; do
	sacred "the parent sees death by $signal" sh -c 'sh -c "kill -'$signal' \$\$"; echo $?'
done

# Whether we die of the signal itself, without a shell in between: 128 + N is what timeout and
# shells make of it.
"$HPCRUN" -q -o "$T/d" sh -c 'kill -TERM $$' 2>/dev/null
is "the launcher's own parent sees the program's death" $? 143

done_testing
