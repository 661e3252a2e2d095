/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles system calls that the kernel does not restart after a signal handler, even with
 * SA_RESTART (signal(7)). Our handler restarts them: it sets the interrupted context back to the
 * system call, with the remaining time. No hook holds anything while it waits, so a thread that is
 * cancelled or jumps out of a wait leaves nothing behind. doc/transparency.md explains the method.
 * Tests: tests/cli/sacred/sacred_wait.sh, tests/cli/sacred/sacred_cancel.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_WAIT_HOOK_WAIT_H
#define HPCRUN_LITE_HOOKS_WAIT_HOOK_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Finds the functions that the hooks of sleep replace. Call once. Not signal-safe. */
void hook_wait_start(void);

/*
 * Restarts the wait that our handler interrupted, if there was one. Call it at the end of the
 * handler. Signal-safe.
 */
void wait_restart(ucontext_t *context);

/*
 * Returns the number of the system call that the signal interrupted: -1 if there was none, -2 if
 * its code does not show the number. *has_returned: the call ended with its own result. Call it
 * before wait_restart. Signal-safe.
 */
long wait_interrupted(const ucontext_t *context, bool *has_returned);

/*
 * Call it before a handler of the program: the interrupted wait ends with EINTR, even if our
 * handler was about to restart it. Signal-safe.
 */
void wait_interrupt(ucontext_t *context);

/*
 * Call it after wait_interrupt and before a handler of the program without SA_RESTART: a call that
 * the kernel would restart ends with EINTR instead. Signal-safe.
 */
void wait_end_restarted(ucontext_t *context);

/* ---- for the hooks; signal-safe ---- */

/*
 * The calling thread is about to make this system call, which waits. `is_timed`: it waits for a
 * span of time, which starts now. `first`: the call's first argument.
 */
void wait_begin(int number, int is_timed, long first);
/* The call has returned. Keeps errno. */
void wait_end(void);

/*
 * The last call of syscall() in the thread: its number, or its argument 0 if the processor keeps
 * the number. The hook writes `sp` first. A signal handler that makes such calls has another stack
 * pointer. If a signal arrives between the two writes, the stack pointers do not match and nobody
 * uses the value.
 */
struct wait_noted {
	uintptr_t sp;
	long value;
};
extern __thread struct wait_noted wait_noted;

/*
 * The process was running already: it may be in waits that no hook has seen begin, and libraries
 * that are loaded later make such waits.
 */
void wait_attach(void);

#endif
