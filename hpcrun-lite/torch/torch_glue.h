/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PyTorch in this process. Remembers where the forward pass made the nodes of autograd's graph, and
 * marks the stacks of threads that evaluate them. Costs nothing in a process that did not ask for
 * it. Not signal-safe. Test: tests/cli/torch/torch_backward.sh.
 */
#ifndef HPCRUN_LITE_TORCH_TORCH_GLUE_H
#define HPCRUN_LITE_TORCH_TORCH_GLUE_H

#include "hpcrun-lite/torch/torch.h"

/* For entries.c: the table, or NULL if PyTorch was not asked for or the process is not measured. */
const struct torch_host *torch_glue_host(void);
/* A row of runtime/life/parts.h. */
void torch_glue_forked(void);

#endif
