/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of a process; see memory_attribute.h. Test: tests/unit/memory/test_memory_model.c. */
#include "hpcprof-lite/attribute/memory/memory_attribute.h"

#include <math.h>
#include <stdlib.h>

#define NORMAL_95 1.959964

static const uint64_t size_limits[MODEL_MEMORY_SIZES_N] = {
	16, 64, 256, 1u << 10, 4u << 10, 16u << 10, 64u << 10, 256u << 10, 1u << 20, UINT64_MAX};
/* the last class was not freed */
static const uint64_t life_limits[MODEL_MEMORY_LIVES_N] = {1000000,    10000000,       100000000,
							   1000000000, UINT64_MAX - 1, UINT64_MAX};

/* ---- sums ---- */

/* Each sample is one draw with its own probability: the variance of value / p is (1 - p) / p^2. */
static void add(struct model_amount *to, double value, double weight)
{
	to->value += value * weight;
	to->error += value * value * weight * (weight - 1);
	to->n_samples++;
}

static void finish(struct model_amount *to)
{
	to->error = NORMAL_95 * sqrt(to->error);
}

static struct model_memory_class *class_of(struct model_memory_class *all, unsigned n,
					   uint64_t value)
{
	unsigned i = 0;
	while (i + 1 < n && value > all[i].limit)
		i++;
	return &all[i];
}

static void add_to_class(struct model_memory_class *c, const struct memory_sample *s,
			 uint64_t peak_ns)
{
	const double bytes = (double)s->bytes * s->weight;
	c->n_samples++;
	c->calls += s->weight;
	c->bytes += bytes;
	if (memory_sample_is_live(s, peak_ns))
		c->peak_bytes += bytes;
	if (memory_sample_is_live(s, UINT64_MAX - 1))
		c->end_bytes += bytes;
	if (s->flags & MSR_MEMORY_TEMPORARY)
		c->temporary_calls += s->weight;
}

static void add_sample(struct model_memory *to, const struct memory_sample *s)
{
	const double bytes = (double)s->bytes;
	add(&to->bytes, bytes, s->weight);
	add(&to->calls, 1, s->weight);
	if (s->flags & MSR_MEMORY_MAPPING)
		add(&to->mapped, bytes, s->weight);
	if (memory_sample_is_live(s, to->peak_ns))
		add(&to->peak, bytes, s->weight);
	if (memory_sample_is_live(s, UINT64_MAX - 1))
		add(&to->end, bytes, s->weight);
	if (s->flags & MSR_MEMORY_TEMPORARY)
		add(&to->temporary, 1, s->weight);
	to->n_unfollowed += (s->flags & MSR_MEMORY_UNFOLLOWED) != 0;
	struct model_memory_class *sizes = to->classes, *lives = sizes + MODEL_MEMORY_SIZES_N;
	add_to_class(class_of(sizes, MODEL_MEMORY_SIZES_N, s->bytes), s, to->peak_ns);
	if (!(s->flags & MSR_MEMORY_UNFOLLOWED))
		add_to_class(s->free_ns == UINT64_MAX ? &lives[MODEL_MEMORY_LIVES_N - 1]
						      : class_of(lives, MODEL_MEMORY_LIVES_N - 1,
								 s->free_ns - s->alloc_ns),
			     s, to->peak_ns);
}

/* ---- the time line ---- */

struct change {
	uint64_t time_ns;
	double bytes;
};

/* At the same time frees come first. */
static int compare_changes(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static size_t list_changes(const struct memory_sample *samples, size_t n, struct change *to)
{
	size_t n_changes = 0;
	for (size_t i = 0; i < n; i++) {
		const struct memory_sample *s = &samples[i];
		const double bytes = (double)s->bytes * s->weight;
		if (s->flags & MSR_MEMORY_UNFOLLOWED)
			continue;
		to[n_changes++] = (struct change){s->alloc_ns, bytes};
		if (s->free_ns != UINT64_MAX)
			to[n_changes++] = (struct change){s->free_ns, -bytes};
	}
	return n_changes;
}

/* A point has the most bytes of its time, at least those with which the time began. */
static void draw(const struct change *changes, size_t n, uint64_t start_ns, uint64_t end_ns,
		 struct model_memory *to)
{
	const double step =
		(double)(end_ns > start_ns ? end_ns - start_ns : 1) / MODEL_MEMORY_POINTS;
	double live = 0, most = 0;
	size_t i = 0;
	for (unsigned k = 0; k < MODEL_MEMORY_POINTS; k++) {
		double top = live;
		for (; i < n; i++) {
			const uint64_t at = changes[i].time_ns;
			if (k + 1 < MODEL_MEMORY_POINTS && at > start_ns &&
			    (double)(at - start_ns) >= step * (k + 1))
				break;
			live += changes[i].bytes;
			top = live > top ? live : top;
			if (live > most) {
				most = live;
				to->peak_ns = at;
			}
		}
		to->points[k] = (float)(top > 0 ? top : 0);
	}
}

bool memory_account(const struct memory_sample *samples, size_t n, uint64_t start_ns,
		    uint64_t end_ns, struct model_memory *to)
{
	struct change *changes = malloc((2 * n + 1) * sizeof *changes);
	if (!changes)
		return false;
	const size_t n_changes = list_changes(samples, n, changes);
	qsort(changes, n_changes, sizeof *changes, compare_changes);
	draw(changes, n_changes, start_ns, end_ns, to);
	free(changes);
	for (unsigned i = 0; i < MODEL_MEMORY_SIZES_N; i++)
		to->classes[i] = (struct model_memory_class){.table = MODEL_MEMORY_SIZES,
							     .limit = size_limits[i]};
	for (unsigned i = 0; i < MODEL_MEMORY_LIVES_N; i++)
		to->classes[MODEL_MEMORY_SIZES_N + i] = (struct model_memory_class){
			.table = MODEL_MEMORY_LIVES, .limit = life_limits[i]};
	for (size_t i = 0; i < n; i++)
		add_sample(to, &samples[i]);
	struct model_amount *const amounts[] = {&to->bytes, &to->calls, &to->mapped,
						&to->peak,  &to->end,   &to->temporary};
	for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
		finish(amounts[i]);
	return true;
}
