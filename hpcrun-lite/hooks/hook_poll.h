/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for waits that take a mask of signals: for descriptors (hook_poll.c), and for signals and
 * semaphores (hook_wait_signal.c). wait/hook_wait.h restarts them. Test:
 * tests/cli/sacred/sacred_wait.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_POLL_H
#define HPCRUN_LITE_HOOKS_HOOK_POLL_H

/* Find the functions that the hooks replace. Call once. Not signal-safe. */
void hook_poll_start(void);
void hook_wait_signal_start(void);

#endif
