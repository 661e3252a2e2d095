/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that the kernel does not restart after a signal handler, whatever SA_RESTART says
 * (signal(7)). Our handler restarts them: it sets the interrupted context back to the system call,
 * with the time that is left. No hook holds anything while it waits, so a thread that is cancelled
 * or that jumps out of a wait leaves nothing behind. doc/transparency.md explains the method.
 * Tests: tests/cli/sacred_wait.sh, tests/cli/sacred_cancel.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_WAIT_HOOK_WAIT_H
#define HPCRUN_LITE_HOOKS_WAIT_HOOK_WAIT_H

#include <stdbool.h>
#include <ucontext.h>

/* Find the functions behind the hooks. Once, not signal-safe. */
void hook_wait_start(void);
void hook_sleep_start(void);
void hook_wait_signal_start(void);

/*
 * At the end of a handler of ours: restarts the wait that it interrupted, if it did. `rarely`: this
 * signal comes a few times in a thread's life, not with each sample. Signal-safe.
 */
void wait_restart(ucontext_t *context, bool rarely);

/* Before a handler of the program's: the wait that it interrupts ends with EINTR, also where ours was about to restart it. Signal-safe. */
void wait_interrupt(ucontext_t *context);

/* ---- for the hooks. Signal-safe. ------------------------------------------------------------------------------------- */

/* The calling thread is about to make this system call, which waits. `is_timed`: for a span of time, which counts from now. */
void wait_begin(int number, int is_timed);
/* It has returned. Keeps errno. */
void wait_end(void);

#endif
