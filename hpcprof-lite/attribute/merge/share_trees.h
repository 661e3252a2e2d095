/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The merged trees of parts become one, which all of them have: pairs of parts merge in log N
 * steps. The order of its nodes depends on the number of parts, as with that of workers. Test:
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MERGE_SHARE_TREES_H
#define HPCPROF_ATTRIBUTE_MERGE_SHARE_TREES_H

#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/parts/comm.h"

/*
 * Ends a step: `ok` says whether the part has its tree, with its index. Then the tree is the whole,
 * without index, and (*to_whole)[i] is the node of the whole for node i of the part's own tree.
 * The caller frees it. False: some part has no memory.
 */
bool share_trees(struct comm *c, bool ok, struct merge_tree *tree, uint32_t **to_whole);

#endif
