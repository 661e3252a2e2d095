/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks that protect our signals: the sampling signal, and PAPI's if PAPI samples. The program can
 * neither block nor see nor replace them. We record what the program does with them and show it
 * that state. Our own handler calls the program's handlers, and first informs hook_wait.c that the
 * interrupted wait has ended. Test: tests/cli/sacred/sacred_signal.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_H
#define HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

/* Call once, before the run time installs its handler. Not signal-safe. */
void hook_signal_start(void);

/* In the child of fork: another thread may have been active here at the fork. */
void hook_signal_forked(void);

/* Protects `sig` from now on. Its handler must be installed already. Not signal-safe. */
void hook_signal_protect(int sig);

/*
 * Call these around an exec: directly before it, and after it failed. They apply the program's
 * settings of our signals (blocked, ignored), which the next image inherits. Signal-safe.
 */
bool hook_signal_exec_begin(void);
void hook_signal_exec_failed(bool begun);

/*
 * Removes our signals from a mask that the program wants to wait with. Returns `set`, which may be
 * NULL, or `copy`. Signal-safe.
 */
const sigset_t *hook_signal_strip(const sigset_t *set, sigset_t *copy);

/*
 * For a new thread: hook_signal_hidden() returns our signals that its creator has blocked, as the
 * program sees it. The new thread passes them to hook_signal_inherit(). Signal-safe.
 */
unsigned long hook_signal_hidden(void);
void hook_signal_inherit(unsigned long hidden);

#endif
