/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks for pthread_create, thrd_create and dlclose. Tests: tests/cli/run/run_threads.sh,
 * tests/cli/run/run_modules.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_THREAD_H
#define HPCRUN_LITE_HOOKS_HOOK_THREAD_H

/* Finds the functions that the hooks replace. Call once. Not signal-safe. */
void hook_thread_start(void);

#endif
