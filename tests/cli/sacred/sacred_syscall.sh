#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Calls past libc: a program that restricts its own system calls, becomes another or ends by
# syscall(2) does so as without us.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"
. "$srcdir/tests/run_lib.sh"
PROGRAM=$W/sacred_syscall
OUT=$T/m # what sacred measures

run_limited 60 "$PROGRAM" strict >/dev/null
[ $? -ne 77 ] || skip_all "system calls cannot be restricted here"

for mode in strict filter libseccomp spare; do
	sacred "$mode: calls are forbidden" "$PROGRAM" "$mode"
	sacred_sampled "$mode: what was measured before is sound"
	like "$mode: the report says where measurement ended" "$sacred_text" \
		'restricts its system calls .seccomp.'
	like "$mode: how it ended is not known" "$sacred_text" \
		'process ended with unknown status .measurement ended at its seccomp filter.'
	like "$mode: it has samples" "$sacred_text" '[1-9][0-9]* samples'
done

# In execve the kernel has no handler any more for a sample that is pending: 17 of 40 such programs
# were killed at 1 kHz.
sacred "exec: a chain of programs" "$PROGRAM" exec
sacred_sampled "exec: the measurement is sound"
is "exec: each image has its file" "$(find "$T/m" -name '*.hpcrun' | wc -l | tr -d ' ')" 21
sacred "exit: the end of the process" "$PROGRAM" exit
sound "exit: files are sound"
is "exit: how it ended" "$(value exit_kind)" 2
# A signal of ours that is at its default would end the process at the next sample.
sacred "signals: all at their default, by system call" "$PROGRAM" signals
sacred_sampled "signals: the measurement is sound"
sacred "fork: children past libc" "$PROGRAM" fork
sacred_sampled "fork: the measurement is sound"
sound "fork: files are sound"
is "fork: the children are measured" "$(n_processes)" \
	"$((1 + $(grep -c "^child" "$T/measured.out")))"
# Variables of the caller's lie there, and other threads may be writing to them.
sacred "frame: nothing is written above the return address of syscall()" "$PROGRAM" frame
sacred_sampled "frame: the measurement is sound"

done_testing
