/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds the internals of PyTorch while expand makes contexts. The frame that enters an operator
 * becomes a function "aten::add_Tensor"; the frame of a node of autograd's graph becomes
 * "MulBackward0". The dispatcher, wrappers and bindings around them get no context: their time
 * counts at the operator, or, above the first operator, at the line of Python. Python wrappers of
 * modules get no context either. See doc/torch.md. Private to expand. Test:
 * tests/unit/prof_torch/test_torch_fold.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_TORCH_FOLD_H
#define HPCPROF_ATTRIBUTE_EXPAND_TORCH_FOLD_H

#include "hpcprof-lite/attribute/expand/expand_run.h"

struct torch_fold;

/* *fold is NULL if the run has no PyTorch. False if memory is short. */
bool torch_fold_open(struct expand_run *r, const struct merge_tree *t, struct torch_fold **fold);
/*
 * Finds the context of node `i`, a frame that `above` called. False: the frame is an ordinary one.
 * Call it for a node after its parent. If memory is short, sets r->failed.
 */
bool torch_fold_enter(struct torch_fold *fold, uint32_t i, uint32_t above, uint32_t *context);
/* The context "backward" of node `i`, below the path of the forward pass. */
uint32_t torch_fold_backward(struct expand_run *r, uint32_t i, uint32_t above);
void torch_fold_close(struct torch_fold *fold); /* NULL is allowed */

#endif
