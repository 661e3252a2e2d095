/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the samples and the launchers of a file, and merges equal ones. See gpu_samples_run.h.
 * Test: tests/unit/prof_gpu/test_gpu_samples.c.
 */
#include "common/base/capped.h"
#include "common/base/sorted.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>

enum { MERGE_FROM = 1 << 18 }; /* samples */

/* ---- places ---- */

uint32_t gpu_samples_place(const struct gpu_samples_run *r, uint32_t thread, uint32_t node)
{
	const struct load_file *f = r->s->join->file;
	const struct msr_node *n = node ? load_node(&f->threads.at[thread], node) : NULL;
	while (n && load_is_nvtx(n->addr)) {
		node = n->parent;
		n = node ? load_node(&f->threads.at[thread], node) : NULL;
	}
	return node;
}

/* ---- samples ---- */

static int compare_samples(const void *pa, const void *pb)
{
	const struct gpu_sample *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->cell != b->cell)
		return a->cell < b->cell ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->stall > b->stall) - (a->stall < b->stall);
}

/* Sorts the samples and merges equal ones. */
static void merge_samples(struct gpu_samples_run *r)
{
	size_t kept = 0;
	if (r->samples.n)
		qsort(r->samples.at, r->samples.n, sizeof *r->samples.at, compare_samples);
	for (size_t i = 0; i < r->samples.n; i++) {
		if (kept && compare_samples(&r->samples.at[kept - 1], &r->samples.at[i]) == 0)
			capped_grow(&r->samples.at[kept - 1].count, r->samples.at[i].count);
		else
			r->samples.at[kept++] = r->samples.at[i];
	}
	r->samples.n = kept;
}

static void set_place(const struct gpu_samples_run *r, uint32_t thread, uint32_t node,
		      struct gpu_sample *to)
{
	struct gpu_cell place = {.thread = 0};
	gpu_join_place(r->s->join, thread, node, &place);
	to->thread = place.thread;
	to->node = gpu_samples_place(r, place.thread, place.node);
}

/*
 * A sample with a launch gets the cell of the launch's operation. For samples of graphs and samples
 * that were summed up during the run, only the place of the launch is known; their function gives
 * the kernel.
 */
static void set_owner(const struct gpu_samples_run *r, const struct load_gpu_part *part,
		      const struct msr_gpu_pc *p, struct gpu_sample *to)
{
	struct gpu_join *j = r->s->join;
	to->cell = to->thread = GPU_SAMPLE_NO_CELL;
	to->node = 0;
	if (!p->id && part->stride >= sizeof(struct msr_gpu_pc_at)) {
		const struct msr_gpu_pc_at *at = (const struct msr_gpu_pc_at *)p;
		set_place(r, at->thread, at->node, to);
	}
	uint32_t launch =
		p->id ? gpu_launches_find(&j->launches, p->id & MSR_GPU_ID_MAX) : GPU_LAUNCH_NONE;
	if (launch == GPU_LAUNCH_NONE)
		return;
	const struct load_gpu_part *from;
	const struct msr_gpu_launch *l = gpu_launches_get(&j->launches, launch, &from);
	uint64_t cell = map_get(&j->wanted, p->id & MSR_GPU_ID_MAX, 0);
	if (msr_gpu_launch_kind(l) == MSR_GPU_GRAPH)
		set_place(r, from->thread, msr_gpu_launch_node(l), to);
	else if (cell != MAP_NONE)
		to->cell = (uint32_t)cell;
}

/* Merges while reading, so that memory holds at most twice the distinct samples. */
bool gpu_samples_gather(struct gpu_samples_run *r)
{
	size_t most = MERGE_FROM;
	for (size_t k = 0; k < r->g->pcs.n; k++) {
		const struct load_gpu_part *part = &r->g->pcs.at[k];
		for (uint64_t i = 0; i < part->n; i++) {
			const struct msr_gpu_pc *p = load_gpu_at(part, i);
			if (r->samples.n == most) {
				merge_samples(r);
				most = 2 * r->samples.n > MERGE_FROM ? 2 * r->samples.n
								     : MERGE_FROM;
			}
			struct gpu_sample *at = vec_push(&r->samples);
			if (!at)
				return false;
			*at = (struct gpu_sample){.function = p->function,
						  .offset = p->offset,
						  .count = p->count,
						  .stall = p->stall};
			set_owner(r, part, p, at);
		}
		load_release(r->s->join->file, part->n * part->stride);
	}
	merge_samples(r);
	return true;
}

/* ---- launchers ---- */

int gpu_samples_compare_places(const void *pa, const void *pb)
{
	const struct gpu_launcher *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

static int compare_launchers(const void *pa, const void *pb, void *run)
{
	const struct gpu_launcher *a = pa, *b = pb;
	const int c = gpu_samples_compare_places(a, b);
	/* reversed, because the expected results of the golden jobs depend on this order */
	return c ? c : expand_gpu_compare(run, b->context, a->context);
}

size_t gpu_samples_launchers_of(const struct gpu_samples_run *r, uint32_t function, size_t *n)
{
	size_t begin = sorted_below(r->launchers.at, r->launchers.n, function, function);
	for (*n = 0;
	     begin + *n < r->launchers.n && r->launchers.at[begin + *n].function == function;
	     (*n)++)
		;
	return begin;
}

static void add_launcher(struct gpu_launcher *to, const struct gpu_launcher *from)
{
	to->weight += from->weight;
	to->busy_ns += from->busy_ns;
	to->window_ns += from->window_ns;
	to->n_ops += from->n_ops;
}

bool gpu_samples_gather_launchers(struct gpu_samples_run *r)
{
	const struct gpu_join *j = r->s->join;
	size_t kept = 0;
	for (size_t i = 0; i < j->cells.n; i++) {
		const struct gpu_cell *c = &j->cells.at[i];
		uint32_t function = gpu_join_function(r->g, c->shape);
		if (c->kind != MSR_GPU_KERNEL || !function)
			continue;
		struct gpu_launcher *at = vec_push(&r->launchers);
		if (!at)
			return false;
		uint64_t known_ns = c->cover.serialized_ns + c->cover.gap_ns;
		*at = (struct gpu_launcher){.function = function,
					    .code = gpu_samples_code_of(r->g, function),
					    .thread = c->thread,
					    .context = r->s->context_of[i],
					    .node = gpu_samples_place(r, c->thread, c->node),
					    .is_placed = c->place != GPU_NO_LAUNCH,
					    .weight = c->busy_ns > known_ns ? c->busy_ns - known_ns
									    : 0,
					    .busy_ns = c->busy_ns,
					    .window_ns = c->cover.serialized_ns,
					    .n_ops = c->n_ops};
	}
	if (r->launchers.n)
		qsort_r(r->launchers.at, r->launchers.n, sizeof *r->launchers.at,
			compare_launchers, r->s->expand);
	for (size_t i = 0; i < r->launchers.n; i++) {
		struct gpu_launcher *l = &r->launchers.at[i];
		struct gpu_launcher *last = kept ? &r->launchers.at[kept - 1] : NULL;
		if (last && last->context == l->context && !gpu_samples_compare_places(last, l))
			add_launcher(last, l);
		else
			r->launchers.at[kept++] = *l;
	}
	r->launchers.n = kept;
	return true;
}
