/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a thread for one call of exec. The thread keeps it for later calls, because the child
 * of a vfork shares our memory, never returns, and would leak it. Signal-safe. Test:
 * tests/cli/sacred/sacred_exec.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_HOOK_SCRATCH_H
#define HPCRUN_LITE_HOOKS_HOOK_SCRATCH_H

#include <stddef.h>

/*
 * Returns at least `n_bytes`, aligned to 16, or NULL if there is none. The calling thread owns it
 * until hook_scratch_release().
 */
void *hook_scratch_take(size_t n_bytes);
void hook_scratch_release(void *memory);

/* Frees the memory of a thread that ends. */
void hook_scratch_thread_end(void);

#endif
