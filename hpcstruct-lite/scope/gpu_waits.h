/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What instructions of GPU code wait for. Nothing outside the scope room includes this file. Test:
 * tests/cli/struct/struct_depend.sh.
 */
#ifndef HPCSTRUCT_LITE_SCOPE_GPU_WAITS_H
#define HPCSTRUCT_LITE_SCOPE_GPU_WAITS_H

#include "hpcstruct-lite/depend/depend.h"
#include "hpcstruct-lite/scope/code_ranges.h"

/* The waits of one batch of functions. */
struct waits {
	struct depend_causes causes;
	struct depend_counts counts;
};

/* Appends the waits of a function with these blocks and loops. Returns false when out of memory. */
bool waits_find(const struct code *c, const struct flow *flow, struct depend *d, struct waits *out);
/* Makes records of all waits and gives them to the map. Returns false when out of memory. */
bool waits_keep(struct scope_map *map, const struct waits *by_batch, size_t n_batches);

#endif
