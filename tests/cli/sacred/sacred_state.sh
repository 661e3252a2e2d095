#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Threads in states in which a handler cannot simply run: alignment checks, another FS base, no
# rdtsc, system calls that raise a signal, little room on alternate signal stacks, split stacks.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"
# shellcheck disable=SC2034 # for sacred_sampled
sacred_structs=
PROGRAM=$W/sacred_state

# inclusive FUNCTION: its share of the time, in percent, in the tree that sacred_sampled printed.
inclusive() {
	printf '%s\n' "$sacred_text" | sed -n '/^Call paths/,/^$/p' | grep -m 1 -E " $1( |\$)" |
		sed 's/^ *\([0-9.]*\)%.*/\1/'
}

sacred "alignment checks" "$PROGRAM" align
sacred_sampled "alignment checks: sound"
sacred "another FS base" "$PROGRAM" base
sacred_sampled "another FS base: sound"
within "... and the time there is where it was spent" "$(inclusive on_other_base)" 80 100
sacred "no rdtsc" "$PROGRAM" tsc
sacred_sampled "no rdtsc: sound"
sacred "system calls to the program" "$PROGRAM" dispatch
sacred_sampled "system calls to the program: sound"
if grep -q 'status 77' "$T/plain.out"; then
	skip "... and a note says what is missing" "the kernel does not dispatch system calls"
else
	like "... and a note says what is missing" "$sacred_text" 'handles its own system calls'
fi
within "... and the other thread is measured" "$(inclusive other_thread)" 40 100

# With what a frame of the kernel leaves over: nothing but the handler's own; half of another frame.
for room in 400 $(thorough "" 1600) 4800; do
	sacred "alternate stacks, $room bytes for the handler" "$PROGRAM" stack "$room"
done
sacred_sampled "alternate stacks: sound"
like "... and a note says whose time it is" "$sacred_text" 'small alternate stack were not sampled'
sacred "an alternate stack without room" "$PROGRAM" spare 16
sacred "a jump from an alternate stack" "$PROGRAM" jump 1600
sacred_sampled "a jump from an alternate stack: sound"
within "... and samples go on" "$(inclusive jump)" 80 100

if have "$W/sacred_split"; then
	sacred "split stacks" "$W/sacred_split"
	sacred_sampled "split stacks: sound"
else
	skip "split stacks" "not built: gcc has -fsplit-stack for x86-64"
fi

done_testing
