/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_yardstick.h. Test: tests/unit/test_gpu_samples.c. */
#include "hpcprof-lite/attribute/gpu_yardstick.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PAIRS = 1 << 24 }; /* of places and contexts that are compared one by one */

static int compare_samples(const void *pa, const void *pb)
{
	const struct gpu_yard_sample *a = pa, *b = pb;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->launcher > b->launcher) - (a->launcher < b->launcher);
}

/* Mean of |k - mean| where k are independent events, each of probability `share` at most: Poisson's where they are rare (exact below a mean of 1), else the normal distribution's. */
static double chance(double mean, double share)
{
	return mean < 1 ? 2 * mean * exp(-mean) : sqrt(2 * mean * (1 - share) / M_PI);
}

struct distance {
	double wrong, chance; /* sums of differences in samples */
};

/* n samples at one place: counts[i] of launcher i against the shares by time. */
static void compare(struct distance *d, const uint64_t *counts, const uint64_t *window_ns, size_t n_launchers, double window_sum_ns, uint64_t n)
{
	for (size_t i = 0; i < n_launchers; i++) {
		double share = (double)window_ns[i] / window_sum_ns, expected = (double)n * share;
		d->wrong += fabs((double)counts[i] - expected);
		d->chance += chance(expected, share);
	}
}

static void compare_places(const uint64_t *window_ns, size_t n_launchers, double window_sum_ns, const struct gpu_yard_sample *samples, size_t n, uint64_t *counts, struct distance *d)
{
	for (size_t i = 0, end; i < n; i = end) {
		uint64_t n_here = 0;
		for (size_t k = 0; k < n_launchers; k++)
			counts[k] = 0;
		for (end = i; end < n && samples[end].function == samples[i].function && samples[end].offset == samples[i].offset; end++) {
			counts[samples[end].launcher] += samples[end].count;
			n_here += samples[end].count;
		}
		compare(d, counts, window_ns, n_launchers, window_sum_ns, n_here);
	}
}

static size_t count_places(const struct gpu_yard_sample *samples, size_t n)
{
	size_t n_places = n > 0;
	for (size_t i = 1; i < n; i++)
		n_places += samples[i].function != samples[i - 1].function || samples[i].offset != samples[i - 1].offset;
	return n_places;
}

static double half_of(double differences, uint64_t n)
{
	double share = differences / 2 / (double)n;
	return share < 1 ? share : 1;
}

bool gpu_yardstick(const uint64_t *window_ns, size_t n_launchers, struct gpu_yard_sample *samples, size_t n, struct gpu_yard *out)
{
	double window_sum_ns = 0;
	*out = (struct gpu_yard){0};
	for (size_t i = 0; i < n_launchers; i++) {
		window_sum_ns += (double)window_ns[i];
		out->n_launchers += window_ns[i] > 0;
	}
	for (size_t i = 0; i < n; i++)
		out->n_samples += samples[i].count;
	if (out->n_launchers < 2 || !out->n_samples) {
		out->n_launchers = 0;
		return true;
	}
	uint64_t *counts = calloc(n_launchers, sizeof *counts);
	if (!counts)
		return false;
	struct distance contexts = {0}, places = {0};
	for (size_t i = 0; i < n; i++)
		counts[samples[i].launcher] += samples[i].count;
	compare(&contexts, counts, window_ns, n_launchers, window_sum_ns, out->n_samples);
	out->wrong_context = half_of(contexts.wrong, out->n_samples);
	out->chance_context = half_of(contexts.chance, out->n_samples);
	out->wrong_place = out->chance_place = -1;
	qsort(samples, n, sizeof *samples, compare_samples);
	if (count_places(samples, n) < MOST_PAIRS / n_launchers) {
		compare_places(window_ns, n_launchers, window_sum_ns, samples, n, counts, &places);
		out->wrong_place = half_of(places.wrong, out->n_samples);
		out->chance_place = half_of(places.chance, out->n_samples);
	}
	free(counts);
	return true;
}
