/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides code into pieces: symbols, unwind ranges and scopes that overlap are in one piece. The
 * gaps of a piece can be filled without any other piece. Nothing outside the scope room includes
 * this file. Test: tests/cli/struct/struct_needed.sh.
 */
#ifndef HPCSTRUCT_LITE_SCOPE_PIECES_H
#define HPCSTRUCT_LITE_SCOPE_PIECES_H

#include "common/base/vec.h"
#include "hpcstruct-lite/image/image.h"

/* Start and end of each span as one number, which takes less time to sort. End 0: unknown. */
struct spans {
	VEC(uint64_t);
};
static inline uint32_t span_start(uint64_t span)
{
	return (uint32_t)(span >> 32);
}
bool spans_push(struct spans *s, uint32_t start, uint32_t end);
/* Sorts by start. Returns false when out of memory, as the others do. */
bool spans_sort(struct spans *s);
/*
 * Appends the places where no symbol has a size, each with the end of its code. `symbols` are
 * sorted.
 */
bool spans_find_labels(const struct image *image, const struct spans *symbols,
	struct spans *labels);

struct piece {
	uint32_t start, end; /* positions */
	uint8_t level;       /* for the caller; 0 at first */
	bool is_function;    /* exactly one function: everything in the piece has the same start */
	bool is_kept;        /* for the caller; false at first */
};
struct pieces {
	VEC(struct piece); /* in rising order */
};
/* All lists are sorted. `others`: unwind ranges and scopes. */
bool pieces_make(struct pieces *out, const struct spans *symbols, const struct spans *labels,
	const struct spans *others);
/* Returns the piece at a position, or NULL. */
struct piece *pieces_at(const struct pieces *all, uint32_t position);

#endif
