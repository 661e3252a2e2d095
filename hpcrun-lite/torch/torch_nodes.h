/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remembers which call path made a node of autograd's graph, in one table of fixed size for all
 * threads. A new node replaces the one that the same thread made TORCH_NODES_MOST nodes before, and
 * sometimes one of another thread. There is no lock: an entry that two threads write at the same
 * time is not found. Test: tests/unit/torch/test_torch_nodes.c.
 */
#ifndef HPCRUN_LITE_TORCH_TORCH_NODES_H
#define HPCRUN_LITE_TORCH_TORCH_NODES_H

#include "hpcrun-lite/torch/torch.h"

#include <stdbool.h>

#define TORCH_NODES_MOST (1u << 18) /* 4 MiB */

/* `frame` must not be 0. Keeps nothing if there is no memory. */
void torch_nodes_put(const struct torch_node *node, uint64_t frame);
/* Returns 0 if the node is not in the table. */
uint64_t torch_nodes_find(const struct torch_node *node);
/* In a forked child: forgets all nodes. */
void torch_nodes_forget(void);

#endif
