/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes ranges of NVTX contexts of the tree (--nvtx tree). What ran in a range is below a context
 * "<range NAME>" in the function that pushed the range, at the line of the push. Below it, the path
 * continues with the same function again, so the time of functions and lines does not change. If
 * that function had returned, the range is in the innermost function that was still running. An
 * outer range is never below an inner one. Test: tests/unit/nvtx/test_nvtx_tree.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_NVTX_TREE_H
#define HPCPROF_ATTRIBUTE_EXPAND_NVTX_TREE_H

#include "hpcprof-lite/attribute/expand/expand_run.h"

/*
 * Makes the context of node `i` of r->tree, a MERGE_RANGE whose parent has one. If memory is short,
 * sets r->failed.
 */
uint32_t nvtx_tree_enter(struct expand_run *r, uint32_t i);

#endif
