/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call path made a node of autograd's graph: a table of all threads with a fixed size. A new
 * node replaces the one that was made TORCH_NODES_MOST nodes before by the same thread, and
 * sometimes one of another thread. No lock: an entry that two threads write at once is not found.
 * Test: tests/unit/torch/test_torch_nodes.c.
 */
#ifndef HPCRUN_LITE_TORCH_TORCH_NODES_H
#define HPCRUN_LITE_TORCH_TORCH_NODES_H

#include "hpcrun-lite/torch/torch.h"

#include <stdbool.h>

#define TORCH_NODES_MOST (1u << 18) /* 4 MiB */

/* `frame` is not 0. Without memory, nothing is kept. */
void torch_nodes_put(const struct torch_node *node, uint64_t frame);
/* 0: not there. */
uint64_t torch_nodes_find(const struct torch_node *node);
/* In a forked child: forgets all. */
void torch_nodes_forget(void);

#endif
