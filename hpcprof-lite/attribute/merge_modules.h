/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Modules of all files, each once: two are the same when their build ids are, or, without one, path and size. Their dense numbers are what the merged tree names
 * (merge.h). Not for several threads at a time. Test: tests/unit/test_merge.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_MODULES_H
#define HPCPROF_ATTRIBUTE_MERGE_MODULES_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/load/load_file.h"

struct merge_module {
	const struct msr_module *record; /* of the first file that has it */
	const char *path;                /* the first in order, where the same build id has several */
	uint16_t flags;                  /* of all */
};

/* Zero-initialise. */
struct merge_modules {
	VEC(struct merge_module) list;
	struct map by_identity;
};

/* The dense number of a module; UINT32_MAX when memory is short. Record and path stay borrowed. */
uint32_t merge_add_module(struct merge_modules *all, const struct load_module *m);
void merge_free_modules(struct merge_modules *all);

#endif
