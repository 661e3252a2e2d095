/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_yardstick.h. Test: tests/unit/prof_gpu/test_gpu_ranges.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_yardstick.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PAIRS = 1 << 24 }; /* the most pairs of place and context to compare one by one */

/* Sorts by instruction, the kernel's own instructions first. */
static int compare_samples(const void *pa, const void *pb, void *arg)
{
	const struct gpu_yard_sample *a = pa, *b = pb;
	uint32_t own = *(const uint32_t *)arg;
	if (a->function != b->function)
		return (a->function != own) != (b->function != own)
			       ? (a->function != own) - (b->function != own)
		       : a->function < b->function ? -1
						   : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->context > b->context) - (a->context < b->context);
}

/* Sorts the list and returns how many of its samples are in the kernel's own code. */
static size_t sort_own(struct gpu_yard_sample *list, size_t n, uint32_t own, uint64_t *n_samples)
{
	size_t n_own = 0;
	if (n)
		qsort_r(list, n, sizeof *list, compare_samples, &own);
	for (*n_samples = 0; n_own < n && list[n_own].function == own; n_own++)
		*n_samples += list[n_own].count;
	return n_own;
}

/*
 * The mean of |k - mean|, where k counts independent events, each with probability `share` at most.
 * Uses Poisson's distribution for rare events (exact below a mean of 1), else the normal
 * distribution. exp() would need a libm of 2.29.
 */
static double chance(double mean, double share)
{
	return mean < 1 ? 2 * mean * (1 + expm1(-mean)) : sqrt(2 * mean * (1 - share) / M_PI);
}

static double at_most_all(double share)
{
	return share < 1 ? share : 1;
}

struct yard {
	const struct gpu_yard_input *in;
	struct gpu_yard *out;
	double window_ns, time_ns;     /* sums */
	uint64_t *counts;              /* scratch space, by context */
};

/* ---- contexts ---- */

/*
 * Several contexts ran in the windows: compares their shares of the samples with their shares of
 * time.
 */
static void compare_shares(struct yard *y)
{
	double n = (double)y->out->n_samples, wrong = 0, by_chance = 0;
	for (size_t i = 0; i < y->in->n_contexts; i++) {
		double share = (double)y->in->contexts[i].window_ns / y->window_ns;
		wrong += fabs((double)y->counts[i] - n * share);
		by_chance += chance(n * share, share);
	}
	y->out->wrong_context = at_most_all(wrong / 2 / n);
	y->out->chance_context = at_most_all(by_chance / 2 / n);
}

/*
 * One context ran in the windows: compares its samples per time with the samples per time of all
 * contexts elsewhere. If kernels overlap outside the windows, the result is too large, because
 * overlapping kernels count the same time twice.
 */
static void compare_rates(struct yard *y, size_t context, uint64_t n_unknown)
{
	const struct gpu_yard_context *c = &y->in->contexts[context];
	double n = (double)y->out->n_samples, share = (double)c->time_ns / y->time_ns;
	double ratio = n / (double)c->window_ns / ((double)n_unknown / y->time_ns);
	y->out->wrong_context = at_most_all(share * fabs(ratio - 1));
	y->out->chance_context =
		at_most_all(share * sqrt(2 / M_PI * (1 / n + 1 / (double)n_unknown)));
}

static void compare_contexts(struct yard *y, uint64_t n_unknown)
{
	size_t one = 0;
	while (!y->in->contexts[one].window_ns)
		one++;
	if (y->out->n_contexts > 1)
		compare_shares(y);
	else if (y->in->n_contexts > 1 && n_unknown && y->time_ns > 0 && y->out->n_samples)
		compare_rates(y, one, n_unknown);
}

/* ---- instructions ---- */

/*
 * Takes the samples at the next instruction off both lists. Counts the known ones by context and
 * returns the number of the others.
 */
static uint64_t take_instruction(struct yard *y, const struct gpu_yard_sample **known,
				 size_t *n_known, const struct gpu_yard_sample **unknown,
				 size_t *n_unknown)
{
	uint64_t offset = !*n_unknown || (*n_known && (*known)->offset < (*unknown)->offset)
				  ? (*known)->offset
				  : (*unknown)->offset,
		 n = 0;
	for (size_t i = 0; i < y->in->n_contexts; i++)
		y->counts[i] = 0;
	for (; *n_known && (*known)->offset == offset; (*known)++, (*n_known)--)
		y->counts[(*known)->context] += (*known)->count;
	for (; *n_unknown && (*unknown)->offset == offset; (*unknown)++, (*n_unknown)--)
		n += (*unknown)->count;
	return n;
}

/*
 * Compares instructions by the samples without a launch, which are the ones to apportion. If there
 * are none, compares by all samples in the windows.
 */
static void compare_places(struct yard *y, size_t n_known, uint64_t n_of_known, size_t n_unknown,
			   uint64_t n_of_unknown)
{
	const struct gpu_yard_sample *known = y->in->known, *unknown = y->in->unknown;
	double wrong = 0, by_chance = 0,
	       spread = n_of_unknown ? sqrt(1 + (double)n_of_known / (double)n_of_unknown) : 1;
	while (n_known || n_unknown) {
		uint64_t n_here = take_instruction(y, &known, &n_known, &unknown, &n_unknown),
			 n_all = n_of_unknown;
		for (size_t i = 0; !n_of_unknown && i < y->in->n_contexts; i++)
			n_here += y->counts[i];
		if (!n_of_unknown)
			n_all = n_of_known;
		for (size_t i = 0; i < y->in->n_contexts; i++) {
			double share = (double)y->in->contexts[i].window_ns / y->window_ns *
				       (double)n_here / (double)n_all;
			wrong += fabs((double)y->counts[i] - (double)n_of_known * share);
			by_chance += spread * chance((double)n_of_known * share, share);
		}
	}
	y->out->wrong_place = at_most_all(wrong / 2 / (double)n_of_known);
	y->out->chance_place = at_most_all(by_chance / 2 / (double)n_of_known);
}

/* ---- both ---- */

static void add_up(struct yard *y)
{
	for (size_t i = 0; i < y->in->n_contexts; i++) {
		y->window_ns += (double)y->in->contexts[i].window_ns;
		y->time_ns += (double)y->in->contexts[i].time_ns;
		y->out->n_contexts += y->in->contexts[i].window_ns > 0;
	}
	for (size_t i = 0; i < y->in->n_known; i++) {
		y->out->n_samples += y->in->known[i].count;
		y->counts[y->in->known[i].context] += y->in->known[i].count;
	}
}

bool gpu_yardstick(const struct gpu_yard_input *in, struct gpu_yard *out)
{
	struct yard y = {.in = in,
			 .out = out,
			 .counts = calloc(in->n_contexts ? in->n_contexts : 1, sizeof *y.counts)};
	uint64_t n_of_known, n_of_unknown;
	if (!y.counts)
		return false;
	*out = (struct gpu_yard){
		.wrong_context = -1, .chance_context = -1, .wrong_place = -1, .chance_place = -1};
	add_up(&y);
	size_t n_known = sort_own(in->known, in->n_known, in->function, &n_of_known),
	       n_unknown = sort_own(in->unknown, in->n_unknown, in->function, &n_of_unknown);
	bool can_measure = out->n_contexts && out->n_samples;
	if (can_measure)
		compare_contexts(&y, n_of_unknown);
	if (can_measure && n_of_known && (n_of_unknown || out->n_contexts > 1) &&
	    n_known + n_unknown < MOST_PAIRS / in->n_contexts)
		compare_places(&y, n_known, n_of_known, n_unknown, n_of_unknown);
	if (out->wrong_context < 0 && out->wrong_place < 0)
		out->n_contexts = 0;
	free(y.counts);
	return true;
}
