/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lines of the program hold its memory. Allocations happen in functions that only pass them
 * on: operators, containers, xmalloc. The place of an allocation is the innermost line of the
 * user's own Python files, or else the innermost line in a function that is not named like an
 * allocator or container. Tests:
 * tests/unit/memory/test_memory_model.c, tests/cli/memory/memory_places.sh.
 */
#ifndef HPCPROF_VIEW_VIEW_MEMORY_H
#define HPCPROF_VIEW_VIEW_MEMORY_H

#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

struct view_memory_place {
	uint32_t context;            /* the first context of the place; it names the place */
	double allocated, peak, end; /* bytes */
	uint64_t n_samples;          /* of `allocated` */
};

struct view_memory {
	VEC(struct view_memory_place) places; /* by falling peak, end, allocated, then context */
	double allocated, peak, end;
};

/* Empty if MEMORY was not measured. False if memory is short; then there is nothing to free. */
bool view_memory_make(const struct model *m, struct view_memory *v);
void view_memory_free(struct view_memory *v);

/* True for the name of a function that allocates for others. */
bool view_memory_is_passed_on(const char *function);

#endif
