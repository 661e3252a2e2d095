/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers of a measurement file that determine what a reader sees: the extents' headers, and
 * the header pages of forked children inside the file. Not for the measured process. Test:
 * tests/unit/run/test_follow.c.
 */
#ifndef HPCRUN_LITE_LAUNCH_COPY_FOLLOW_CHAIN_H
#define HPCRUN_LITE_LAUNCH_COPY_FOLLOW_CHAIN_H

#include "common/base/vec.h"
#include "common/format/measurement.h"

struct follow_item {
	uint64_t at;      /* offset in the file */
	uint32_t n_bytes;
	size_t first;     /* in follow_chain.bytes */
};

struct follow_chain {
	VEC(struct follow_item) items; /* by offset */
	VEC(uint8_t) bytes;
};

/*
 * Reads the headers below `end` from the start of the file, which may be written meanwhile: the
 * contents of an extent only grow, so a header stays valid. Returns false if there is no memory or
 * the file cannot be read.
 */
bool follow_chain_read(struct follow_chain *c, int fd, uint64_t end);
void follow_chain_free(struct follow_chain *c);

/* Returns the index of the first item at or after an offset. */
size_t follow_chain_at(const struct follow_chain *c, uint64_t at);

/* Returns the item at exactly this offset, or NULL. */
const struct follow_item *follow_chain_find(const struct follow_chain *c, uint64_t at);

const uint8_t *follow_chain_bytes(const struct follow_chain *c, const struct follow_item *item);

#endif
