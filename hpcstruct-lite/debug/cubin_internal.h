/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that read cubins share; nothing outside the debug room includes this. */
#ifndef HPCSTRUCT_DEBUG_CUBIN_INTERNAL_H
#define HPCSTRUCT_DEBUG_CUBIN_INTERNAL_H

#include "hpcstruct-lite/debug/debug.h"

struct cubin_function {
	uint64_t start, end;   /* link addresses; a kernel's range holds those of its own copies of device functions */
	const char *name;      /* linkage name */
	const char *alias;     /* the symbol, where it says more than the name: "$kernel$function"; else NULL */
	struct debug_resources resources; /* link_addr 0: none are known */
};

/* Code whose innermost function is one. */
struct cubin_segment {
	uint64_t start, end;
	uint32_t function;     /* index in functions */
};

struct cubin_functions {
	struct { struct cubin_function *at; size_t n, capacity; } functions; /* by start; the longer first */
	struct { struct cubin_segment *at; size_t n, capacity; } segments;   /* by start; they do not overlap */
};

/* Reads what .nv.info, .nv.shared and section headers say of the resources of functions, which have been read. */
void cubin_read_resources(const struct image *image, struct cubin_functions *f);
/* Index of the first function that does not start before the address; of the first segment. */
size_t cubin_function_not_before(const struct cubin_functions *f, uint64_t link_addr);
size_t cubin_segment_from(const struct cubin_functions *f, uint64_t link_addr);
/* The function that starts at the address, or NULL. */
struct cubin_function *cubin_function_from(struct cubin_functions *f, uint64_t link_addr);
/* False when memory is short. */
bool cubin_functions_read(const struct image *image, struct cubin_functions *f);
void cubin_functions_free(struct cubin_functions *f);
/* The segment that holds the address, or NULL. */
const struct cubin_segment *cubin_segment_at(const struct cubin_functions *f, uint64_t link_addr);

#endif
