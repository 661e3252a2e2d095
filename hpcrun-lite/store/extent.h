/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the headers of extents. The order of the writes ensures that a reader finds a whole chain
 * at every moment. Signal-safe. Test: tests/unit/run/test_store.c.
 */
#ifndef HPCRUN_LITE_STORE_EXTENT_H
#define HPCRUN_LITE_STORE_EXTENT_H

#include "hpcrun-lite/store/store.h"

/*
 * Writes the header of an extent of `length` bytes, header included, with `used` 0. Does not touch
 * the bytes after the header.
 */
void extent_write(struct msr_extent *e, const struct store_request *r, uint64_t length);

/* Writes the header of an extent that readers skip. */
void extent_write_free(uint8_t *at, uint64_t length);

#endif
