/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PyTorch in this process: where the forward pass made the nodes of autograd's graph, and marks on
 * the stacks of threads that evaluate them. Costs nothing in a process that was not asked for it.
 * Not signal-safe. Test: tests/cli/torch/torch_backward.sh.
 */
#ifndef HPCRUN_LITE_TORCH_TORCH_GLUE_H
#define HPCRUN_LITE_TORCH_TORCH_GLUE_H

#include "hpcrun-lite/torch/torch.h"

/* For entries.c: the table, if this process was asked for PyTorch and is measured; or NULL. */
const struct torch_host *torch_glue_host(void);
/* A row of runtime/life/parts.h. */
void torch_glue_forked(void);

#endif
