/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that read cubins. Nothing outside the debug room includes this file. */
#ifndef HPCSTRUCT_DEBUG_CUBIN_INTERNAL_H
#define HPCSTRUCT_DEBUG_CUBIN_INTERNAL_H

#include "hpcstruct-lite/debug/debug.h"

struct cubin_function {
	/* link addresses; a kernel's range contains its own copies of device functions */
	uint64_t start, end;
	const char *name;      /* linkage name */
	/* the symbol if it says more than the name: "$kernel$function"; else NULL */
	const char *alias;
	struct debug_resources resources; /* link_addr 0: unknown */
};

/* Code with one innermost function. */
struct cubin_segment {
	uint64_t start, end;
	uint32_t function;     /* index in `functions` */
};

struct cubin_functions {
	/* sorted by start; the longer first */
	VEC(struct cubin_function) functions;
	/* sorted by start; disjoint */
	VEC(struct cubin_segment) segments;
};

/*
 * Reads the resources of functions from .nv.info, .nv.shared and section headers. Call it after
 * cubin_functions_read().
 */
void cubin_read_resources(const struct image *image, struct cubin_functions *f);
/*
 * Returns the index of the first function that starts at or after the address. The second function
 * returns the index of the first such segment.
 */
size_t cubin_function_not_before(const struct cubin_functions *f, uint64_t link_addr);
size_t cubin_segment_from(const struct cubin_functions *f, uint64_t link_addr);
/* Returns the function that starts at the address, or NULL. */
struct cubin_function *cubin_function_from(struct cubin_functions *f, uint64_t link_addr);
/* Returns false when out of memory. */
bool cubin_functions_read(const struct image *image, struct cubin_functions *f);
void cubin_functions_free(struct cubin_functions *f);
/* Returns the segment that holds the address, or NULL. */
const struct cubin_segment *cubin_segment_at(const struct cubin_functions *f, uint64_t link_addr);

#endif
