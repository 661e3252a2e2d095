/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a thread for what it needs around one call of exec: kept from call to call, so that the child of a vfork, which shares our
 * memory and never comes back, leaks nothing. Signal-safe. Test: tests/cli/sacred_exec.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_SCRATCH_H
#define HPCRUN_LITE_HOOKS_HOOK_SCRATCH_H

#include <stddef.h>

/* At least `n_bytes`, aligned to 16; NULL when there is none. The calling thread's until hook_scratch_release. */
void *hook_scratch_take(size_t n_bytes);
void hook_scratch_release(void *memory);

/* At the end of a thread: gives its memory back. */
void hook_scratch_thread_end(void);

#endif
