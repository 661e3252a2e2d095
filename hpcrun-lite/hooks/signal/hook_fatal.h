/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles signals that end the process because the program left them at their default action. Our
 * handler records the signal and then lets the default action happen. The program does not see the
 * handler. doc/transparency.md lists what a program can notice. Test: tests/cli/run/run_ends.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_SIGNAL_HOOK_FATAL_H
#define HPCRUN_LITE_HOOKS_SIGNAL_HOOK_FATAL_H

#include <signal.h>

/* Call it when measurement of the process starts. Not signal-safe. */
void hook_fatal_start(void);
/*
 * Call it if measurement ends before the process does. Restores the program's actions. Signal-safe.
 */
void hook_fatal_end(void);

/*
 * Installs our handler after the program set `sig` to its default action, if `sig` is one of these
 * signals. Does nothing in a child of vfork, which has its own signal actions. Signal-safe.
 */
void hook_fatal_adopt(int sig);

/*
 * Changes the kernel's answer about `sig` to what the program must see: if `act` is ours, replaces
 * it with the program's action. Signal-safe.
 */
void hook_fatal_show(int sig, struct sigaction *act);
/* Does the same for a handler without the rest of the action. */
__sighandler_t hook_fatal_unwrap(__sighandler_t handler);

#endif
