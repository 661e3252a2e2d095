/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the call that made a node of a GPU graph. Starts at the number of the node and follows the
 * copies back to the first node, which a call made. Test: tests/unit/prof_gpu/test_gpu_join.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_GRAPH_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_GRAPH_H

#include "common/base/map.h"
#include "hpcprof-lite/load/load_gpu.h"

/*
 * A place in the program: a thread (index in load_file.threads) and one of its valid context nodes.
 */
struct gpu_site {
	uint32_t thread, node;
};

struct gpu_graph {
	struct map nodes;              /* (number, back end) -> site; 0: none */
	VEC(struct gpu_site) sites;    /* distinct; numbered from 1 */
};

/* as many as the keys of gpu_cell can distinguish; further sites count as unknown */
enum { GPU_GRAPH_MOST_SITES = 1 << 24 };

/*
 * node_to of the threads must hold LOAD_DAMAGED for damaged nodes. False if memory is short. In all
 * cases call gpu_graph_free().
 */
bool gpu_graph_index(struct gpu_graph *g, const struct load_file *f);
/* The site of a node; 0: unknown. */
uint32_t gpu_graph_site(const struct gpu_graph *g, unsigned backend, uint64_t node);
void gpu_graph_free(struct gpu_graph *g);

#endif
