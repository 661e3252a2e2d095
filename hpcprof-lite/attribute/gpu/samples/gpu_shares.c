/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_shares.h. Test: tests/unit/prof_gpu/test_gpu_samples.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_shares.h"

#include <stdlib.h>

bool gpu_shares_begin(struct gpu_shares *s, const uint64_t *weights, size_t n, uint64_t step)
{
	*s = (struct gpu_shares){.n = n,
				 .step = step,
				 .weights = malloc(n * sizeof *s->weights),
				 .before = calloc(n + 1, sizeof *s->before),
				 .rests = calloc(n + 1, sizeof *s->rests)};
	if (!s->weights || !s->before || !s->rests)
		return false;
	for (size_t i = 0; i < n; i++)
		s->total += weights[i];
	for (size_t i = 0; i < n; i++) {
		s->weights[i] = s->total ? weights[i] : 1;
		s->before[i + 1] = s->before[i] + s->weights[i];
	}
	s->total = s->total ? s->total : n;
	return true;
}

/* Returns the entry into whose stretch of the line the next point falls. */
static size_t draw(struct gpu_shares *s, const unsigned __int128 *before)
{
	uint64_t fraction = ++s->n_drawn * s->step;
	unsigned __int128 all = before[s->n],
			  point = (all >> 64) * fraction +
				  ((unsigned __int128)(uint64_t)all * fraction >> 64);
	size_t low = 0;
	for (size_t high = s->n; high - low > 1;) {
		size_t middle = low + (high - low) / 2;
		if (before[middle] <= point)
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool gpu_shares_deal(struct gpu_shares *s, uint64_t count,
		     bool (*give)(void *arg, size_t i, uint64_t part), void *arg)
{
	if (s->n == 1)
		return give(arg, 0, count);
	bool is_large = count >= s->n;
	uint64_t left = count;
	for (size_t i = 0; is_large && i < s->n; i++) {
		unsigned __int128 due = (unsigned __int128)count * s->weights[i];
		uint64_t share = (uint64_t)(due / s->total);
		s->rests[i + 1] = s->rests[i] + (due - (unsigned __int128)share * s->total);
		left -= share;
		if (share && !give(arg, i, share))
			return false;
	}
	for (; left; left--)
		if (!give(arg, draw(s, is_large ? s->rests : s->before), 1))
			return false;
	return true;
}

void gpu_shares_end(struct gpu_shares *s)
{
	free(s->weights);
	free(s->before);
	free(s->rests);
	*s = (struct gpu_shares){0};
}
