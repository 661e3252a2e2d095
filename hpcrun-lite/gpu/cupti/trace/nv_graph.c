/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches of graphs: finds those that have no record, or fewer records than other launches of the
 * same graph. Test: tests/unit/cupti/test_cupti_record.c.
 *
 * The number of records of a launch is not known in advance (child graphs, conditional, disabled
 * and host nodes). Launches of one graph never run at the same time. So at the end all except the
 * last are complete, and we compare the last with them. We use the smallest number of records of
 * any launch, so that no loss is invented if launches differ. The lock must not be held while the
 * host is called.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#define NEAR 8u /* number of places that a graph may use */

void nv_graph_launched(uint64_t id)
{
	nv_map_put(&nv_trace.graphs, id, 1);
}

void nv_graph_taken_back(uint64_t id)
{
	nv_map_take(&nv_trace.graphs, id);
}

/* Returns the entry of the graph, or a free one, or the one whose last launch is the oldest. */
static struct nv_graph *find(uint32_t graph)
{
	struct nv_graph *oldest = &nv_trace.last_launches[graph % NV_MAX_GRAPHS];
	for (unsigned i = 0; i < NEAR; i++) {
		struct nv_graph *g = &nv_trace.last_launches[(graph + i) % NV_MAX_GRAPHS];
		if (g->graph == graph)
			return g;
		if (g->id < oldest->id)
			oldest = g;
	}
	*oldest = (struct nv_graph){.graph = graph};
	return oldest;
}

void nv_graph_record(uint32_t graph, uint64_t id)
{
	nv_map_take(&nv_trace.graphs, id);
	pthread_mutex_lock(&nv_trace.graph_lock);
	struct nv_graph *g = find(graph);
	if (id > g->id) {
		if (g->n && (!g->least || g->n < g->least))
			g->least = g->n;
		g->id = id;
		g->n = 0;
	}
	g->n += id == g->id; /* another id is an earlier launch, whose buffer came late */
	pthread_mutex_unlock(&nv_trace.graph_lock);
}

static void count_launch(uint64_t id, uint64_t unused)
{
	(void)unused;
	nv.host->lost_by_id(nv.host, id, MSR_GPU_GRAPH, MSR_GPU_LOSS_NEVER_DONE);
}

/* Returns how many nodes of this entry's last launch have no record; each is reported once. */
static uint32_t take_missing(struct nv_graph *g, uint64_t *id)
{
	pthread_mutex_lock(&nv_trace.graph_lock);
	uint32_t n = g->least > g->n ? g->least - g->n : 0;
	*id = g->id;
	g->n += n;
	pthread_mutex_unlock(&nv_trace.graph_lock);
	return n;
}

void nv_graph_count_missing(void)
{
	uint64_t id;
	nv_map_take_all(&nv_trace.graphs, count_launch);
	for (unsigned i = 0; i < NV_MAX_GRAPHS; i++)
		for (uint32_t n = take_missing(&nv_trace.last_launches[i], &id); n; n--)
			/* their real kind is unknown */
			nv.host->lost_by_id(nv.host, id, MSR_GPU_KERNEL, MSR_GPU_LOSS_NEVER_DONE);
}
