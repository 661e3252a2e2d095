/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that go_find.c finds and go_table.c reads. Nothing else includes this file. */
#ifndef HPCSTRUCT_DEBUG_GO_INTERNAL_H
#define HPCSTRUCT_DEBUG_GO_INTERNAL_H

#include "hpcstruct-lite/image/image.h"

/* A part of the table, inside the section that contains it. */
struct go_bytes {
	const uint8_t *at;
	uint64_t n;
};

struct go_table {
	bool is_1_20;                  /* else Go 1.18 or 1.19 */
	uint8_t quantum;               /* unit of pc differences, in bytes */
	uint64_t text;                 /* link address that entries are relative to */
	uint64_t n_functions;
	/* each extends to the end of the section */
	struct go_bytes names, units, files, pcs, functions;
	/* base of the offsets of function data; NULL: unknown, so there are no inlined calls */
	struct go_bytes extra;
};

/* Returns false if there is no table, or if the table is damaged and *is_damaged is set. */
bool go_find_table(const struct image *image, struct go_table *table, bool *is_damaged);

static inline bool go_u32(struct go_bytes b, uint64_t offset, uint32_t *value)
{
	if (offset > b.n || b.n - offset < sizeof *value)
		return false;
	__builtin_memcpy(value, b.at + offset, sizeof *value);
	return true;
}

#endif
