/* SPDX-License-Identifier: BSD-3-Clause */
/* What go_find.c finds and go_table.c reads; nothing else includes this. */
#ifndef HPCSTRUCT_DEBUG_GO_INTERNAL_H
#define HPCSTRUCT_DEBUG_GO_INTERNAL_H

#include "hpcstruct-lite/image/image.h"

/* A part of the table, within the section that holds it. */
struct go_bytes {
	const uint8_t *at;
	uint64_t n;
};

struct go_table {
	bool is_1_20;                  /* else 1.18 or 1.19 */
	uint8_t quantum;               /* pc differences count these */
	uint64_t text;                 /* link address that entries count from */
	uint64_t n_functions;
	struct go_bytes names, units, files, pcs, functions; /* each to the end of the section */
	/* what offsets of function data count from; NULL: not known, no inlined calls */
	struct go_bytes extra;
};

/* False: there is no table, or *is_damaged. */
bool go_find_table(const struct image *image, struct go_table *table, bool *is_damaged);

static inline bool go_u32(struct go_bytes b, uint64_t offset, uint32_t *value)
{
	if (offset > b.n || b.n - offset < sizeof *value)
		return false;
	__builtin_memcpy(value, b.at + offset, sizeof *value);
	return true;
}

#endif
