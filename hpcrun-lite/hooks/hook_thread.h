/* SPDX-License-Identifier: BSD-3-Clause */
/* Hooks for pthread_create, thrd_create and dlclose. */
#ifndef HPCRUN_LITE_HOOKS_HOOK_THREAD_H
#define HPCRUN_LITE_HOOKS_HOOK_THREAD_H

/* Finds the functions that the hooks of this file replace. */
void hook_thread_start(void);

#endif
