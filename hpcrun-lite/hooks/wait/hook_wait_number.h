/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which system call a signal interrupted, where wait_number_in_code() cannot. Tests:
 * tests/cli/sacred/sacred_wait.sh, tests/cli/sacred/sacred_cancel.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_WAIT_HOOK_WAIT_NUMBER_H
#define HPCRUN_LITE_HOOKS_WAIT_HOOK_WAIT_NUMBER_H

#include "hpcrun-lite/hooks/wait/wait_machine.h"

/* Looks up what it needs from libc. Call once, before threads exist. Not signal-safe. */
void wait_number_start(void);

/*
 * Returns true if the system call was made by syscall(), and sets *value to what its hook noted;
 * see struct wait_noted. Signal-safe.
 */
bool wait_has_noted(const ucontext_t *context, long *value);

/*
 * For code that does not show the number: returns the number of the system call that ended at the
 * pc of `context`, or UNKNOWN_CALL. `hooked`: the call that a hook noted; 0: none. Signal-safe.
 */
long wait_number_outside(const ucontext_t *context, long hooked);

/*
 * Returns true if the thread was asked to end (pthread_cancel), and libc ends it if the call
 * returns EINTR. `context`: in a call that can be cancelled, or in syscall(). Signal-safe.
 */
bool wait_is_cancelled(const ucontext_t *context);

#endif
