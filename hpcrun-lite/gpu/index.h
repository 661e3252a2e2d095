/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index from a 64-bit hash to a pointer, in anonymous memory: many readers without a lock, one writer at a time (the caller's lock). Open addressing, linear probing;
 * it doubles when it is half full, and tables that were replaced stay until index_clear, since a reader may be in them. Entries are never taken out.
 * Test: tests/unit/test_gpu_index.c.
 */
#ifndef HPCRUN_LITE_GPU_INDEX_H
#define HPCRUN_LITE_GPU_INDEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_table;

/* All zero: empty. */
struct index {
	_Atomic(struct index_table *) table;
};

/* Whether `value`, which has the hash, is what `key` asks for. */
typedef bool index_same_fn(const void *value, const void *key);

/* NULL: not there. */
void *index_find(const struct index *x, uint64_t hash, index_same_fn *same, const void *key);

/* Adds what is not there yet; `value` is not NULL and complete. False: no memory. */
bool index_add(struct index *x, uint64_t hash, void *value);

/* Gives all memory back. No reader may be inside. */
void index_clear(struct index *x);

#endif
