/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_graph.h. Test: tests/unit/prof_gpu/test_gpu_join.c. */
#include "hpcprof-lite/attribute/gpu/join/gpu_graph.h"

#include "common/base/sorted.h"
#include "hpcprof-lite/load/load_file.h"

struct run {
	const struct load_file *f;
	struct gpu_graph *g;
	struct map records;   /* (number, back end) -> index */
	struct map site_of;   /* (thread, node) -> site */
	VEC(const struct msr_gpu_graph_node *) list;
};

static bool list_some(struct run *r, bool copies)
{
	for (size_t k = 0; k < r->f->gpu.graph_nodes.n; k++)
		for (uint64_t i = 0; i < r->f->gpu.graph_nodes.at[k].n; i++) {
			const struct msr_gpu_graph_node *n =
				load_gpu_at(&r->f->gpu.graph_nodes.at[k], i);
			if ((n->original != 0) != copies)
				continue;
			const struct msr_gpu_graph_node **slot = vec_push(&r->list);
			if (!slot ||
			    map_put(&r->records, n->node, n->backend, r->list.n - 1) == MAP_NONE)
				return false;
			*slot = n;
		}
	return true;
}

/*
 * The first record of a node in the list counts. CUPTI reports a copied node twice: with the call
 * that instantiates the graph, and with the node that it was copied from. We need the second
 * report.
 */
static bool list_records(struct run *r)
{
	return list_some(r, true) && list_some(r, false);
}

static const struct load_thread *find_thread(const struct load_file *f, uint32_t number,
					     uint32_t *index)
{
	size_t at = sorted_below(f->threads.at, f->threads.n, number, number);
	if (at == f->threads.n || f->threads.at[at].number != number)
		return NULL;
	*index = (uint32_t)at;
	return &f->threads.at[at];
}

/*
 * The site of a node that a call made; 0: the call's path is unknown. UINT32_MAX: memory is short.
 */
static uint32_t add_site(struct run *r, const struct msr_gpu_graph_node *n)
{
	uint32_t index;
	const struct load_thread *t = find_thread(r->f, n->thread, &index);
	if (!t || !n->context || n->context >= t->n_nodes || t->node_to[n->context] == LOAD_DAMAGED)
		return 0;
	uint64_t site = map_put(&r->site_of, index, n->context, r->g->sites.n);
	if (site == MAP_NONE)
		return UINT32_MAX;
	if (site == r->g->sites.n) {
		struct gpu_site *new = vec_push(&r->g->sites);
		if (!new)
			return UINT32_MAX;
		*new = (struct gpu_site){index, n->context};
	}
	return site < GPU_GRAPH_MOST_SITES ? (uint32_t)site : 0;
}

/* Follows copies to the node that a call made. */
static const struct msr_gpu_graph_node *find_original(const struct run *r,
						      const struct msr_gpu_graph_node *n)
{
	enum { MOST_COPIES = 64 }; /* a damaged file may contain circles */
	for (unsigned i = 0; n->original && i < MOST_COPIES; i++) {
		uint64_t index = map_get(&r->records, n->original, n->backend);
		if (index == MAP_NONE)
			return n;
		n = r->list.at[index];
	}
	return n;
}

static bool resolve(struct run *r)
{
	if (r->list.n && !vec_push(&r->g->sites)) /* site 0 means none */
		return false;
	for (size_t i = 0; i < r->list.n; i++) {
		const struct msr_gpu_graph_node *n = r->list.at[i], *first = find_original(r, n);
		uint32_t site = first->original ? 0 : add_site(r, first);
		if (site == UINT32_MAX ||
		    map_put(&r->g->nodes, n->node, n->backend, site) == MAP_NONE)
			return false;
	}
	return true;
}

bool gpu_graph_index(struct gpu_graph *g, const struct load_file *f)
{
	struct run r = {.f = f, .g = g};
	bool ok = list_records(&r) && resolve(&r);
	map_free(&r.records);
	map_free(&r.site_of);
	vec_free(&r.list);
	return ok;
}

uint32_t gpu_graph_site(const struct gpu_graph *g, unsigned backend, uint64_t node)
{
	uint64_t site = g->nodes.n ? map_get(&g->nodes, node, backend) : MAP_NONE;
	return site == MAP_NONE ? 0 : (uint32_t)site;
}

void gpu_graph_free(struct gpu_graph *g)
{
	map_free(&g->nodes);
	vec_free(&g->sites);
}
