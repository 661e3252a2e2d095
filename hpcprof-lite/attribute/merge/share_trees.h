/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges the trees of all parts into one tree, which all parts get. Pairs of parts merge, in log N
 * steps. The order of the nodes depends on the number of parts, just as it depends on the number of
 * workers. Test: tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_SHARE_TREES_H
#define HPCPROF_ATTRIBUTE_MERGE_SHARE_TREES_H

#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/parts/comm.h"

/*
 * Ends a step; `ok` says whether the part has its tree, with its index. Afterwards *tree is the
 * whole, without an index, and (*to_whole)[i] is the node of the whole for node i of the part's own
 * tree. The caller frees *to_whole. False: some part has no memory.
 */
bool share_trees(struct comm *c, bool ok, struct merge_tree *tree, uint32_t **to_whole);

#endif
