/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_calls.h. Test: tests/unit/prof_gpu/test_gpu_calls.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_calls.h"

#include "common/base/sorted.h"

#include <stdlib.h>

enum {
	MOST_STEPS = 10000
}; /* limits of a search, because call graphs can have more paths than anyone can read */

#define WHOLE 1e9 /* the weight of a single path */

uint32_t gpu_calls_function_at(const struct structure *s, uint64_t link_addr)
{
	struct structure_place place;
	if (!structure_lookup(s, link_addr, &place))
		return STRUCTURE_NONE;
	uint32_t scope = place.scope;
	for (uint32_t parent; scope != STRUCTURE_NONE &&
			      (parent = structure_get_scope(s, scope).parent) != STRUCTURE_NONE;)
		scope = parent;
	return scope;
}

static int compare_edges(const void *pa, const void *pb)
{
	const struct gpu_call_edge *a = pa, *b = pb;
	if (a->target != b->target)
		return a->target < b->target ? -1 : 1;
	return (a->link_addr > b->link_addr) - (a->link_addr < b->link_addr);
}

bool gpu_calls_read(struct gpu_calls *c, const struct structure *s,
		    struct gpu_call_counts (*counts_at)(const void *arg, uint64_t link_addr),
		    const void *arg)
{
	for (size_t i = 0; i < structure_n_calls(s); i++) {
		struct structure_call call = structure_get_call(s, i);
		uint32_t caller = gpu_calls_function_at(s, call.link_addr);
		if (call.target == STRUCTURE_NONE || caller == STRUCTURE_NONE ||
		    caller == call.target)
			continue;
		struct gpu_call_edge *e = vec_push(&c->edges);
		if (!e)
			return false;
		*e = (struct gpu_call_edge){
			caller, call.target, call.link_addr,
			counts_at(arg, call.link_addr + GPU_CALLS_INSTRUCTION).n_issues,
			counts_at(arg, call.link_addr).n};
	}
	if (c->edges.n)
		qsort(c->edges.at, c->edges.n, sizeof *c->edges.at, compare_edges);
	return true;
}

/* ---- searching ---- */

struct search {
	const struct gpu_calls *calls;
	uint32_t kernel;
	gpu_call_paths *paths;
	VEC(double) weights;                  /* by path */
	uint32_t on_path[GPU_CALLS_DEEPEST];  /* functions, from the target outwards */
	uint64_t at[GPU_CALLS_DEEPEST];       /* the calls between them */
	unsigned n_steps;
	bool failed;
};

/* First edge into a function. */
static size_t first_into(const struct gpu_calls *c, uint32_t target)
{
	return sorted_below(c->edges.at, c->edges.n, target, target);
}

static void keep_path(struct search *s, unsigned depth, double weight)
{
	struct gpu_call_path *p = s->paths->n < GPU_CALLS_MOST_PATHS ? vec_push(s->paths) : NULL;
	double *w = p ? vec_push(&s->weights) : NULL;
	if (!w) {
		s->failed |= s->paths->n < GPU_CALLS_MOST_PATHS;
		return;
	}
	*w = weight;
	p->n = depth;
	for (unsigned i = 0; i < depth; i++)
		p->calls[i] = s->at[depth - 1 - i];
}

static bool is_on_path(const struct search *s, uint32_t function, unsigned depth)
{
	for (unsigned i = 0; i <= depth; i++)
		if (s->on_path[i] == function)
			return true;
	return false;
}

/* Walks from on_path[depth] outwards to the kernel. GPU_CALLS_DEEPEST bounds the depth. */
static void walk(struct search *s, unsigned depth, double weight)
{
	uint32_t target = s->on_path[depth];
	const struct gpu_calls *c = s->calls;
	size_t first = first_into(c, target), end = first;
	uint64_t n_samples = 0, n_returns = 0;
	for (; end < c->edges.n && c->edges.at[end].target == target; end++) {
		n_samples += c->edges.at[end].n_samples;
		n_returns += c->edges.at[end].n_returns;
	}
	for (size_t i = first; i < end && s->n_steps < MOST_STEPS; i++) {
		const struct gpu_call_edge *e = &c->edges.at[i];
		double share = n_returns   ? (double)e->n_returns / (double)n_returns
			       : n_samples ? (double)e->n_samples / (double)n_samples
					   : 1.0 / (double)(end - first);
		s->n_steps++;
		if (is_on_path(s, e->caller, depth))
			continue;
		s->at[depth] = e->link_addr;
		if (e->caller == s->kernel) {
			keep_path(s, depth + 1, weight * share);
		} else if (depth + 1 < GPU_CALLS_DEEPEST) {
			s->on_path[depth + 1] = e->caller;
			walk(s, depth + 1, weight * share);
		}
	}
}

bool gpu_calls_find(const struct gpu_calls *c, uint32_t kernel, uint32_t function,
		    gpu_call_paths *paths)
{
	struct search s = {.calls = c, .kernel = kernel, .paths = paths};
	vec_clear(paths);
	s.on_path[0] = function;
	walk(&s, 0, 1);
	double all = 0;
	for (size_t i = 0; i < s.weights.n; i++)
		all += s.weights.at[i];
	for (size_t i = 0; i < s.weights.n; i++)
		paths->at[i].weight = all > 0 ? (uint64_t)(s.weights.at[i] / all * WHOLE) : 1;
	if (paths->n == 1)
		paths->at[0].weight = 1;
	vec_free(&s.weights);
	return !s.failed;
}

void gpu_calls_free(struct gpu_calls *c)
{
	vec_free(&c->edges);
}
