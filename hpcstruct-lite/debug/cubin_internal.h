/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that read cubins share; nothing outside the debug room includes this. */
#ifndef HPCSTRUCT_DEBUG_CUBIN_INTERNAL_H
#define HPCSTRUCT_DEBUG_CUBIN_INTERNAL_H

#include "hpcstruct-lite/debug/debug.h"

struct cubin_function {
	uint64_t start, end;   /* link addresses; a kernel's range holds those of its own copies of device functions */
	const char *name;      /* linkage name */
	const char *alias;     /* the symbol, where it says more than the name: "$kernel$function"; else NULL */
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

/* False when memory is short. */
bool cubin_functions_read(const struct image *image, struct cubin_functions *f);
void cubin_functions_free(struct cubin_functions *f);
/* The segment that holds the address, or NULL. */
const struct cubin_segment *cubin_segment_at(const struct cubin_functions *f, uint64_t link_addr);

#endif
