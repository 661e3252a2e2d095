/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merge: the trees of all threads become one tree of call paths by address. Two frames are the same when their path is: equal parents, equal module
 * (merge_modules.h) and equal link address, whatever process they come from. One thread merges with merge_thread(); trees
 * that were built side by side are joined with merge_tree(). Test: tests/unit/test_merge.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_H
#define HPCPROF_ATTRIBUTE_MERGE_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/load/load_file.h"

#define MERGE_NO_MODULE UINT32_MAX       /* an entry: link_addr is an enum msr_synthetic */
#define MERGE_UNKNOWN (UINT32_MAX - 1)   /* code in no module: link_addr is the run-time pc */

struct merge_node {
	uint32_t parent;  /* smaller than the node's own index; node 0 is the root */
	uint32_t module;  /* dense, or MERGE_NO_MODULE or MERGE_UNKNOWN */
	uint64_t link_addr;
	bool marked;      /* found by a heuristic; such a frame is not the same as one that was found by the rules */
};

/* Zero-initialise; merge_init() makes the root. */
struct merge_tree {
	VEC(struct merge_node) nodes;
	struct map index;
};

bool merge_init(struct merge_tree *t);
struct python_file;
/* Adds the thread's paths; sets its node_to[] to nodes of `t` (LOAD_DAMAGED stays). module_of: by the file's module ids. python: NULL, or for its Python frames. False: no memory. */
bool merge_thread(struct merge_tree *t, struct load_thread *thread, const uint32_t *module_of, const struct python_file *python);
/* Adds the paths of `from`; to_node[i] becomes the node of `into` for node i of `from`. */
bool merge_trees(struct merge_tree *into, const struct merge_tree *from, uint32_t *to_node);
void merge_free(struct merge_tree *t);

#endif
