/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index from a 64-bit hash to a pointer, in anonymous memory. Any number of threads may read
 * without a lock. One may write at a time, under the caller's lock. Open addressing, linear
 * probing. It doubles when it is half full; old tables stay until index_clear, because a reader may
 * still use them. Entries are never removed. Test: tests/unit/gpu/test_gpu_index.c.
 */
#ifndef HPCRUN_LITE_GPU_INDEX_H
#define HPCRUN_LITE_GPU_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_table;

/* All zero means empty. */
struct index {
	_Atomic(struct index_table *) table;
};

/* Returns true if `value`, whose hash already matches, is the entry for `key`. */
typedef bool index_same_fn(const void *value, const void *key);

/* Returns NULL if there is no entry. */
void *index_find(const struct index *x, uint64_t hash, index_same_fn *same, const void *key);

/*
 * Adds an entry that does not exist yet. `value` is complete and not NULL. Returns false if there
 * is no memory.
 */
bool index_add(struct index *x, uint64_t hash, void *value);

/* Frees all memory. No reader may be active. */
void index_clear(struct index *x);

#endif
