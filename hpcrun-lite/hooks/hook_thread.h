/* SPDX-License-Identifier: BSD-3-Clause */
/* Interposed: pthread_create, thrd_create, dlclose. */
#ifndef HPCRUN_LITE_HOOKS_HOOK_THREAD_H
#define HPCRUN_LITE_HOOKS_HOOK_THREAD_H

/* Looks up the next definitions behind the hooks of this file. */
void hook_thread_start(void);

#endif
