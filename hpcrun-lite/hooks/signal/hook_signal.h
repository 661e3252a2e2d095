/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks that protect our signals: the sampling signal, and PAPI's if PAPI samples. The program can
 * neither block nor see nor replace them. We record what the program does with them and show it
 * that state. Our own handler calls the program's handlers, and first informs hook_wait_restart.c
 * that the interrupted wait has ended. Test: tests/cli/sacred/sacred_signal.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_H
#define HPCRUN_LITE_HOOKS_SIGNAL_HOOK_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

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
 * Call these around a wait that sets the mask `waiting`, which may be NULL, while it lasts. Pass
 * `set` to the wait instead of `waiting`: it leaves our signals unblocked. A signal that `waiting`
 * unblocks reaches the program. begin returns false, with EINTR, if a handler of the program ran
 * instead of the wait. Signal-safe.
 */
struct signal_wait {
	const sigset_t *set; /* NULL, the program's, or `copy` */
	sigset_t copy;
	uint64_t hidden;
	bool is_changed;
};
bool hook_signal_wait_begin(struct signal_wait *w, const sigset_t *waiting);
void hook_signal_wait_end(const struct signal_wait *w);
/* The same before a wait without a mask. */
void hook_signal_look(void);

/*
 * Removes our signals from a mask that the program wants to wait with. Returns `set`, which may be
 * NULL, or `copy`. Signal-safe.
 */
const sigset_t *hook_signal_strip(const sigset_t *set, sigset_t *copy);

/*
 * For a new thread: hook_signal_hidden() returns which of our signals the program has blocked in
 * the creating thread. The new thread passes them to hook_signal_inherit(). Signal-safe.
 */
unsigned long hook_signal_hidden(void);
/*
 * Call it before (`has_come` false) and after the creation of a thread whose creator has blocked
 * our signals. A signal that reaches the new thread before it knows which signals it blocks would
 * be lost. Signal-safe.
 */
void hook_signal_thread_comes(unsigned long hidden, bool has_come);
void hook_signal_inherit(unsigned long hidden);

/*
 * For a process that was running already (hooks.c). attach takes over RUNTIME_SIGNAL, before
 * our handler for it is installed; detach gives it back, and with it the handlers that the program
 * installed meanwhile. A thread joins and leaves in our handler: join is told whether the program
 * has blocked the signal, and leave adds it to the mask with which the thread goes on. detach must
 * come after the last thread has left. Not signal-safe, except join and leave.
 */
void hook_signal_attach(void);
void hook_signal_join(bool has_blocked);
void hook_signal_leave(uint64_t *mask);
void hook_signal_detach(void);

#endif
