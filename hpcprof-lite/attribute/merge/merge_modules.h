/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modules of all files, each once. Two modules are the same if their build ids are equal.
 * Without build ids, path and size must be equal. The merged tree (merge.h) uses their dense
 * numbers. Not thread-safe. Test: tests/unit/prof/test_merge.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_MERGE_MODULES_H
#define HPCPROF_ATTRIBUTE_MERGE_MERGE_MODULES_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/load/load_file.h"

struct jit_place;
struct python_function;

struct merge_module {
	const struct msr_module *record; /* of the first file with this module */
	const char *path; /* if one build id has several paths: the first in sort order */
	uint16_t flags;                  /* the flags of all files combined */
};

/* Zero-initialise. */
struct merge_modules {
	VEC(struct merge_module) list;
	struct map by_identity;
	/*
	 * the functions and places that link addresses in modules of Python and of JIT code stand
	 * for; borrowed
	 */
	const struct python_function *python;
	size_t n_python;
	const struct jit_place *jit;
	size_t n_jit;
};

/* Returns the dense number of a module; UINT32_MAX if memory is short. Borrows record and path. */
uint32_t merge_add_module(struct merge_modules *all, const struct load_module *m);
void merge_free_modules(struct merge_modules *all);

#endif
