/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals that end the process because the program has left them at their default action. A handler
 * of ours writes down which one it is and then lets the default action happen; the program does not
 * see the handler. doc/transparency.md says what can be noticed. Test: tests/cli/run_ends.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_SIGNAL_HOOK_FATAL_H
#define HPCRUN_LITE_HOOKS_SIGNAL_HOOK_FATAL_H

#include <signal.h>

/* The process is measured from now on. Not signal-safe. */
void hook_fatal_start(void);
/* Measurement ends before the process does: all is as the program left it. Signal-safe. */
void hook_fatal_end(void);

/*
 * After the program set `sig` to its default action: takes it if it is one of these. Nothing in a
 * child of vfork, whose signals are not those of our process. Signal-safe.
 */
void hook_fatal_adopt(int sig);

/*
 * What the kernel says of `sig`, as the program shall see it: where `act` is ours, it becomes what
 * the program has set. Signal-safe.
 */
void hook_fatal_show(int sig, struct sigaction *act);
/* The same of a handler alone. */
__sighandler_t hook_fatal_unwrap(__sighandler_t handler);

#endif
