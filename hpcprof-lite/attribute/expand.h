/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expand: the tree of call paths by address becomes the tree of contexts. Each frame turns into its function, the calls that were inlined there, and its
 * line, below the line (or instruction) of its caller; frames that mean the same merge. The result is still in order of discovery; order.h sorts it.
 * Test: tests/unit/test_expand.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_H
#define HPCPROF_ATTRIBUTE_EXPAND_H

#include "common/base/map.h"
#include "common/base/strtab.h"
#include "common/format/structure.h"
#include "hpcprof-lite/attribute/merge.h"
#include "hpcprof-lite/model/model.h"

/* What expand is told of a module. */
struct expand_module {
	const char *path;
	const struct structure *structure; /* NULL: none; borrowed, needed during expand_tree() only */
};

struct expand_function {
	uint32_t name, linkage_name; /* strings */
	uint32_t module;             /* as in the input; the number of modules stands for code outside every module */
	uint32_t file, line;
	uint64_t link_addr;          /* smallest known entry, 0: none */
	uint32_t definition;         /* in the module's structure; MODEL_NONE: not from there */
};

/* Zero-initialise but for `strings`. Ids are indices into the lists. */
struct expand {
	struct strtab *strings;
	VEC(uint32_t) files;                   /* string of the path */
	VEC(struct expand_function) functions;
	VEC(struct model_context) contexts;    /* 0 is the root; parents before children; subtree_n not set */
	uint32_t *context_of;                  /* by node of the merged tree: where its values go; owned */
	struct map file_index, context_index;
};

/* False when memory is short. */
bool expand_tree(struct expand *e, const struct merge_tree *t, const struct expand_module *modules, uint32_t n_modules);
/* Frees all but context_of. */
void expand_shrink(struct expand *e);
void expand_free(struct expand *e);

#endif
