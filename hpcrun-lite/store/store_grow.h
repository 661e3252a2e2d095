/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the measurement file grow: adds chunks and makes their pages present before anyone writes
 * to them. Private to the store. Signal-safe.
 */
#ifndef HPCRUN_LITE_STORE_STORE_GROW_H
#define HPCRUN_LITE_STORE_STORE_GROW_H

#include "hpcrun-lite/store/store_state.h"

/* Adds a chunk and touches its first bytes. The caller holds `growing` or is the only thread. */
enum space_result store_add_chunk(uint64_t first_touch);

/*
 * Reserves and maps space at the end of the file, or at the end of the file in the directory if the
 * node is full. The caller holds `growing` or is the only thread.
 */
enum space_result store_space_add(uint64_t *n_bytes, uint8_t **base);

/* Returns true if the store is open and did not fail to grow a moment ago. */
bool store_may_grow(void);
/* Records the cause of a failure, and stops growth for a while. */
void store_note_failure(enum space_result r);

/* Makes pages present. Returns false if they are past the end of a file that was shortened. */
bool store_touch(uint8_t *at, uint64_t n);
/* Makes pages present ahead of `next`, unless another thread does so. */
void store_touch_ahead(struct chunk *c);

/* Raises the size in the header to at least `end`. */
void store_raise_allocated(uint64_t end);

/* Returns the chunk that contains an address, or NULL. */
struct chunk *store_chunk_of(const void *p);

#endif
