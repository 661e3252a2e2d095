/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_blame.h. Test: tests/unit/prof_gpu/test_gpu_blame.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_blame.h"

#include <stdlib.h>

/* The parts of the key besides the places. The order of the bits is the sort order. */
static uint32_t rest_of(const struct model_gpu_blame *b)
{
	return b->metric << 16 | (uint32_t)b->kind << 11 | (uint32_t)b->operation << 3 |
	       (uint32_t)b->is_chained << 2 | (uint32_t)b->is_carried << 1 | b->is_before;
}

uint64_t gpu_blame_add(struct gpu_blames *all, const struct model_gpu_blame *b)
{
	uint64_t at = map_put(&all->index, (uint64_t)b->waiting << 32 | b->cause,
			      (uint64_t)b->profile << 32 | rest_of(b), all->list.n);
	if (at == MAP_NONE)
		return MAP_NONE;
	if (at < all->list.n) {
		all->list.at[at].n += b->n;
		all->list.at[at].cycles += b->cycles;
		return at;
	}
	struct model_gpu_blame *new = vec_push(&all->list);
	if (!new)
		return MAP_NONE;
	*new = *b;
	return at;
}

void gpu_blame_close(struct gpu_blames *all)
{
	map_free(&all->index);
}

void gpu_blame_settle(struct gpu_blames *all, const uint32_t *final_of, const uint32_t *metric_of)
{
	for (size_t i = 0; i < all->list.n; i++) {
		struct model_gpu_blame *b = &all->list.at[i];
		b->waiting = final_of[b->waiting];
		b->cause = final_of[b->cause];
		b->metric = metric_of[b->metric];
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct model_gpu_blame *a = pa, *b = pb;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	if (a->waiting != b->waiting)
		return a->waiting < b->waiting ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	return (rest_of(a) > rest_of(b)) - (rest_of(a) < rest_of(b));
}

void gpu_blame_sort(struct model_gpu_blame *list, size_t n)
{
	if (n)
		qsort(list, n, sizeof *list, compare);
}

void gpu_blame_free(struct gpu_blames *all)
{
	vec_free(&all->list);
	map_free(&all->index);
}
