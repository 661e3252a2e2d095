/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals of ours (the sampling signal, and PAPI's where PAPI samples) are neither blocked nor seen nor replaced by the program; what it
 * does with them is kept beside and shown to it. The program's handlers are entered through one of ours, which tells hook_wait.c that the wait that it
 * interrupts has ended. Test: tests/cli/sacred_signal.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_H
#define HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Before the run time installs its handler. Once, not signal-safe. */
void hook_signal_start(void);

/* In the child of fork: another thread may have been at work here. */
void hook_signal_forked(void);

/* From now on `sig` is ours; its handler is installed already. Not signal-safe. */
void hook_signal_protect(int sig);

/*
 * Around an exec, directly before it and after it failed: what the program did with our signals, which the next image inherits (blocked,
 * ignored), becomes real. Signal-safe.
 */
bool hook_signal_exec_begin(void);
void hook_signal_exec_failed(bool begun);

/* Takes our signals out of a mask that the program wants to wait with: `set` (may be NULL) or the copy. Signal-safe. */
const sigset_t *hook_signal_strip(const sigset_t *set, sigset_t *copy);

/* For a thread that is made now: whether its maker has our signals blocked as it sees it. Signal-safe. */
unsigned long hook_signal_hidden(void);
void hook_signal_inherit(unsigned long hidden);

#endif
