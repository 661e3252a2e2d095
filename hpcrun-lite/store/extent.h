/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers of extents, written so that a reader finds a whole chain at every moment. Signal-safe.
 * Test: tests/unit/test_store.c.
 */
#ifndef HPCRUN_LITE_STORE_EXTENT_H
#define HPCRUN_LITE_STORE_EXTENT_H

#include "hpcrun-lite/store/store.h"

/* An extent of `length` bytes with its header, `used` 0; what is behind the header is left alone. */
void extent_write(struct msr_extent *e, const struct store_request *r, uint64_t length);

/* One that is to be skipped. */
void extent_write_free(uint8_t *at, uint64_t length);

#endif
