/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the nodes of GPU graphs were made: from a node's number, through the nodes it was copied from, to the call that made the first one. Test:
 * tests/unit/test_gpu_join.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_GRAPH_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_GRAPH_H

#include "common/base/map.h"
#include "hpcprof-lite/load/load_gpu.h"

/* A place in the program: a thread (index in load_file.threads) and one of its context nodes, which is sound. */
struct gpu_site {
	uint32_t thread, node;
};

struct gpu_graph {
	struct map nodes;              /* (number, back end) -> site, 0: none */
	VEC(struct gpu_site) sites;    /* from 1; distinct */
};

enum { GPU_GRAPH_MOST_SITES = 1 << 24 }; /* as many as gpu_cell keys can tell apart; further ones have no site */

/* node_to of the threads must hold LOAD_DAMAGED for unsound nodes. False when memory is short; gpu_graph_free() in any case. */
bool gpu_graph_index(struct gpu_graph *g, const struct load_file *f);
/* The site of a node, 0: not known. */
uint32_t gpu_graph_site(const struct gpu_graph *g, unsigned backend, uint64_t node);
void gpu_graph_free(struct gpu_graph *g);

#endif
