/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges the trees of all threads into one tree of call paths by address. Two frames, in any
 * processes, are the same if their parents, modules (merge_modules.h) and link addresses are equal.
 * merge_thread() merges one thread. merge_trees() joins trees that were built in parallel. Test:
 * tests/unit/prof/test_merge.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_MERGE_H
#define HPCPROF_ATTRIBUTE_MERGE_MERGE_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/load/load_file.h"

/* an entry or a wait: link_addr is an enum msr_synthetic */
#define MERGE_NO_MODULE UINT32_MAX
#define MERGE_UNKNOWN (UINT32_MAX - 1) /* code outside all modules: link_addr is the run-time pc */
#define MERGE_RANGE (UINT32_MAX - 2)   /* its parent ran in a range of NVTX; see below */
/* a backward pass of PyTorch, below the path of the forward pass that it belongs to */
#define MERGE_BACKWARD (UINT32_MAX - 3)

struct merge_node {
	uint32_t parent;  /* smaller than the index of the node; node 0 is the root */
	uint32_t module;  /* dense number, or one of the above */
	uint64_t link_addr;
	/* A heuristic found the frame. It is never merged with a frame that unwind rules found. */
	bool marked;
};

/* The link_addr of a MERGE_RANGE: the string that labels the range, and the node that pushed it. */
static inline uint32_t merge_range_label(const struct merge_node *n)
{
	return (uint32_t)(n->link_addr >> 32);
}
/*
 * The pushing node: smaller than the index of the node. It is a MERGE_RANGE if there is an outer
 * range.
 */
static inline uint32_t merge_range_push(const struct merge_node *n)
{
	return (uint32_t)n->link_addr;
}

/* Zero-initialise. merge_init() makes the root. */
struct merge_tree {
	VEC(struct merge_node) nodes;
	struct map index;
};

bool merge_init(struct merge_tree *t);
struct forward_paths;
struct python_file;
struct wait_file;
struct nvtx_label_file;
/* Tables that merge_thread() translates with. Each may be NULL. */
struct merge_names {
	const struct python_file *python;
	const struct wait_file *waits;
	const struct nvtx_label_file *ranges; /* NULL: the tree has no ranges */
	const struct forward_paths *forward;  /* NULL: frames MSR_FORWARD are left out */
};
/*
 * Adds the call paths of the thread. Sets its node_to[] to nodes of `t`; LOAD_DAMAGED stays. If the
 * thread has a time line and MSR_FORWARD frames, makes shown_to[]: nodes of the thread's own paths,
 * without the forward paths that these frames name. module_of: by module id of the file. False if
 * memory is short.
 */
bool merge_thread(struct merge_tree *t, struct load_thread *thread, const uint32_t *module_of,
	const struct merge_names *names);
/* Adds the call paths of `from`. to_node[i] becomes the node of `into` for node i of `from`. */
bool merge_trees(struct merge_tree *into, const struct merge_tree *from, uint32_t *to_node);
void merge_free(struct merge_tree *t);

#endif
