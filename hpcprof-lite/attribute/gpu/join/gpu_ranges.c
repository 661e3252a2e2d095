/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_ranges.h. Test: tests/unit/prof_gpu/test_gpu_ranges.c. */
#include "hpcprof-lite/attribute/gpu/join/gpu_ranges.h"

#include "common/base/sorted.h"

#include <stdlib.h>

#define MOST_SAMPLES 1e9 /* the most samples of a sampler in one range */

static int compare_ranges(const void *pa, const void *pb)
{
	const struct gpu_range *a = pa, *b = pb;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static const struct msr_gpu_def_device *device_of(const struct load_gpu *g, uint32_t context)
{
	const struct load_gpu_context *c = load_gpu_find(&g->contexts, context);
	const struct load_gpu_device *d = c ? load_gpu_find(&g->devices, c->record->device) : NULL;
	return d ? d->record : NULL;
}

uint32_t gpu_ranges_clock_mhz(const struct load_gpu *g, uint32_t context)
{
	const struct msr_gpu_def_device *d = device_of(g, context);
	return d ? d->clock_mhz : 0;
}

static bool add_range(struct gpu_ranges *r, const struct load_gpu *g,
		      const struct msr_gpu_pc_range *p)
{
	const struct msr_gpu_def_device *d = device_of(g, p->context);
	struct gpu_range *at = vec_push(&r->list);
	if (!at)
		return false;
	*at = (struct gpu_range){.start_ns = p->start_ns,
				 .end_ns = p->end_ns,
				 .context = p->context,
				 .flags = p->flags,
				 .samplers = p->samplers ? p->samplers
					     : d         ? d->n_units
							 : 0};
	if (d && p->period && !(p->flags & MSR_GPU_RANGE_GAP))
		at->per_ns = (double)d->clock_mhz / 1e3 / (double)p->period;
	return true;
}

bool gpu_ranges_read(struct gpu_ranges *r, const struct load_gpu *g)
{
	for (size_t k = 0; k < g->ranges.n; k++)
		for (uint64_t i = 0; i < g->ranges.at[k].n; i++) {
			const struct msr_gpu_pc_range *p = load_gpu_at(&g->ranges.at[k], i);
			if (p->end_ns > p->start_ns && !add_range(r, g, p))
				return false;
		}
	if (r->list.n)
		qsort(r->list.at, r->list.n, sizeof *r->list.at, compare_ranges);
	for (size_t i = 0; i < r->list.n; i++) {
		struct gpu_range *at = &r->list.at[i];
		uint64_t before_ns = i && at[-1].context == at->context ? at[-1].latest_end_ns : 0;
		at->latest_end_ns = at->end_ns > before_ns ? at->end_ns : before_ns;
	}
	return true;
}

/* The index of the first range of the context that ends after a moment. */
static size_t first_after(const struct gpu_ranges *r, uint32_t context, uint64_t moment_ns)
{
	size_t begin = sorted_below(r->list.at, r->list.n, context, context);
	const struct gpu_range *at = r->list.at + begin;
	size_t n = sorted_up_to(at, r->list.n - begin, context, context);
	return begin + sorted_up_to(at, n, latest_end_ns, moment_ns);
}

static void cover(const struct gpu_ranges *r, uint32_t context, uint64_t start_ns, uint64_t end_ns,
		  uint64_t n_groups, struct gpu_cover *c)
{
	for (size_t i = first_after(r, context, start_ns);
	     i < r->list.n && r->list.at[i].context == context && r->list.at[i].start_ns < end_ns;
	     i++) {
		const struct gpu_range *at = &r->list.at[i];
		uint64_t from_ns = at->start_ns > start_ns ? at->start_ns : start_ns,
			 to_ns = at->end_ns < end_ns ? at->end_ns : end_ns;
		if (to_ns <= from_ns)
			continue;
		uint64_t n_busy = n_groups && n_groups < at->samplers ? n_groups : at->samplers;
		double one = (double)(to_ns - from_ns) * at->per_ns;
		one = one < MOST_SAMPLES
			      ? one
			      : MOST_SAMPLES; /* the file is damaged; sums stay far below 2^63 */
		c->serialized_ns += at->flags & MSR_GPU_RANGE_SERIALIZED ? to_ns - from_ns : 0;
		c->gap_ns += at->flags & MSR_GPU_RANGE_GAP ? to_ns - from_ns : 0;
		c->expected += one * at->samplers;
		c->promised += one * (double)n_busy;
	}
}

static bool has_ranges(const struct gpu_ranges *r, uint32_t context)
{
	size_t first = first_after(r, context, 0);
	return first < r->list.n && r->list.at[first].context == context;
}

void gpu_ranges_cover(const struct gpu_ranges *r, uint32_t context, uint64_t start_ns,
		      uint64_t end_ns, uint64_t n_groups, struct gpu_cover *c)
{
	cover(r, 0, start_ns, end_ns, n_groups, c);
	if (context)
		cover(r, context, start_ns, end_ns, n_groups, c);
	if (end_ns > start_ns && !has_ranges(r, 0) && (!context || !has_ranges(r, context)))
		c->gap_ns += end_ns - start_ns;
}

void gpu_ranges_free(struct gpu_ranges *r)
{
	vec_free(&r->list);
}
