/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the error of apportioning, and adds the GSAMP metrics. See gpu_samples_run.h. Test:
 * tests/unit/prof_gpu/test_gpu_ranges.c.
 */
#include "common/base/sorted.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_sampling.h"

#include <stdlib.h>

/* ---- the yardstick: samples with a known launch, compared with apportioning ---- */

/* A sample of the launcher with this index in run.launchers. */
struct known {
	uint32_t launcher;
	struct gpu_yard_sample sample;
};

static int compare_known(const void *pa, const void *pb)
{
	const struct known *a = pa, *b = pb;
	return (a->launcher > b->launcher) - (a->launcher < b->launcher);
}

typedef VEC(struct known) knowns;

static const struct gpu_launcher *launcher_with(const struct gpu_samples_run *r,
						const struct gpu_launcher *key)
{
	const struct gpu_launcher *list = r->launchers.at, *end = list + r->launchers.n,
				  *at = r->launchers.n ? bsearch(key, list, r->launchers.n,
								 sizeof *key,
								 gpu_samples_compare_places)
						       : NULL;
	while (at && at > list && gpu_samples_compare_places(at - 1, key) == 0)
		at--;
	while (at && at < end && gpu_samples_compare_places(at, key) == 0) {
		if (at->context == key->context)
			return at;
		at++;
	}
	return NULL;
}

/*
 * Finds the launcher of samples with a known launch. NULL: unknown, or none of its launches has a
 * time.
 */
static const struct gpu_launcher *launcher_of(const struct gpu_samples_run *r,
					      const struct gpu_sample *p)
{
	const struct gpu_launcher *found = NULL;
	if (p->cell != GPU_SAMPLE_NO_CELL) {
		const struct gpu_cell *c = &r->s->join->cells.at[p->cell];
		struct gpu_launcher key = {.function = gpu_join_function(r->g, c->shape),
					   .thread = c->thread,
					   .node = gpu_samples_place(r, c->thread, c->node),
					   .context = r->s->context_of[p->cell]};
		return launcher_with(r, &key);
	}
	size_t n, begin = gpu_samples_launchers_of(r, p->function, &n);
	for (size_t i = begin; i < begin + n; i++)
		if (r->launchers.at[i].is_placed && r->launchers.at[i].thread == p->thread &&
		    r->launchers.at[i].node == p->node) {
			if (found)
				return NULL; /* several nodes of a graph fit */
			found = &r->launchers.at[i];
		}
	return found;
}

static bool gather_known(struct gpu_samples_run *r, knowns *list)
{
	for (size_t i = 0; i < r->samples.n; i++) {
		const struct gpu_sample *p = &r->samples.at[i];
		if (!gpu_sample_has_owner(p) || gpu_samples_is_second(r, p))
			continue;
		const struct gpu_launcher *l = launcher_of(r, p);
		struct known *at = l ? vec_push(list) : NULL;
		if (!l)
			continue;
		if (!at)
			return false;
		*at = (struct known){
			(uint32_t)(l - r->launchers.at),
			{.function = p->function, .offset = p->offset, .count = p->count}};
	}
	if (list->n)
		qsort(list->at, list->n, sizeof *list->at, compare_known);
	return true;
}

/* Finds the *n samples of a function without a known launch. They follow those with one. */
static size_t find_unknown(const struct gpu_samples_run *r, uint32_t function, size_t *n)
{
	size_t begin = sorted_below(r->samples.at, r->samples.n, function, function);
	const struct gpu_sample *at = r->samples.at + begin;
	size_t n_all = sorted_up_to(at, r->samples.n - begin, function, function),
	       n_cells = sorted_below(at, n_all, cell, GPU_SAMPLE_NO_CELL),
	       n_placed = sorted_below(at + n_cells, n_all - n_cells, thread, GPU_SAMPLE_NO_CELL);
	*n = n_all - n_cells - n_placed;
	return begin + n_cells + n_placed;
}

/*
 * Fills the lists of one kernel for the yardstick. The caller frees them, even if this returns
 * false.
 */
static bool list_kernel(struct gpu_samples_run *r, size_t begin, size_t end,
			const struct known *list, size_t n, struct gpu_yard_input *in,
			struct gpu_yard_context **contexts)
{
	uint32_t function = r->launchers.at[begin].function;
	size_t n_unknown, first = find_unknown(r, function, &n_unknown);
	*contexts = malloc((end - begin) * sizeof **contexts);
	*in = (struct gpu_yard_input){
		.contexts = *contexts,
		.n_contexts = end - begin,
		.function = function,
		.known = malloc((n ? n : 1) * sizeof *in->known),
		.unknown = malloc((n_unknown ? n_unknown : 1) * sizeof *in->unknown)};
	if (!*contexts || !in->known || !in->unknown)
		return false;
	for (size_t i = begin; i < end; i++)
		(*contexts)[i - begin] = (struct gpu_yard_context){r->launchers.at[i].window_ns,
								   r->launchers.at[i].weight};
	for (size_t i = 0; i < n; i++) {
		in->known[in->n_known] = list[i].sample;
		in->known[in->n_known++].context = list[i].launcher - (uint32_t)begin;
	}
	for (size_t i = 0; i < n_unknown; i++) {
		const struct gpu_sample *p = &r->samples.at[first + i];
		if (!gpu_samples_is_second(r, p))
			in->unknown[in->n_unknown++] = (struct gpu_yard_sample){
				.function = function, .offset = p->offset, .count = p->count};
	}
	return true;
}

/*
 * Measures the kernel with launchers [begin, end). The launch of n of its samples is known. Adds to
 * *found if there is something to compare.
 */
static bool measure_kernel(struct gpu_samples_run *r, size_t begin, size_t end,
			   const struct known *list, size_t n, struct model_gpu_yardstick *found,
			   uint32_t *n_found)
{
	struct gpu_yard_input in;
	struct gpu_yard_context *contexts;
	struct gpu_yard yard = {0};
	bool ok = list_kernel(r, begin, end, list, n, &in, &contexts) && gpu_yardstick(&in, &yard);
	if (ok && yard.n_contexts)
		found[(*n_found)++] =
			(struct model_gpu_yardstick){.context = r->launchers.at[begin].context,
						     .n_contexts = yard.n_contexts,
						     .n_samples = yard.n_samples,
						     .n_apportioned = *gpu_samples_apportioned_of(
							     r, r->launchers.at[begin].function),
						     .wrong_context = yard.wrong_context,
						     .chance_context = yard.chance_context,
						     .wrong_place = yard.wrong_place,
						     .chance_place = yard.chance_place};
	free(contexts);
	free(in.known);
	free(in.unknown);
	return ok;
}

/*
 * A kernel's weight is the number of its apportioned samples. If no kernel has any, because all ran
 * serialized, it is the number of measured samples.
 */
static void weigh(struct model_gpu_sampling *s)
{
	uint64_t n_apportioned = 0;
	for (uint32_t i = 0; i < s->n_yardsticks; i++)
		n_apportioned += s->yardsticks[i].n_apportioned;
	for (uint32_t i = 0; i < s->n_yardsticks; i++)
		gpu_sampling_add_yardstick(s, &s->yardsticks[i],
					   (double)(n_apportioned ? s->yardsticks[i].n_apportioned
								  : s->yardsticks[i].n_samples));
}

bool gpu_samples_measure(struct gpu_samples_run *r)
{
	knowns list = {0};
	uint32_t n_found = 0;
	struct model_gpu_yardstick *found = malloc((r->launchers.n + 1) * sizeof *found);
	bool ok = found && gather_known(r, &list);
	for (size_t i = 0, end, k = 0; ok && i < r->launchers.n; i = end) {
		size_t first = k;
		for (end = i + 1; end < r->launchers.n &&
				  r->launchers.at[end].function == r->launchers.at[i].function;)
			end++;
		while (k < list.n && list.at[k].launcher < end)
			k++;
		if (end - i > 1 && k > first)
			ok = measure_kernel(r, i, end, list.at + first, k - first, found, &n_found);
	}
	vec_free(&list);
	if (!ok || !n_found) {
		free(found);
		return ok;
	}
	*r->s->yardsticks = found;
	r->s->sampling->yardsticks = found;
	r->s->sampling->n_yardsticks = n_found;
	weigh(r->s->sampling);
	return true;
}

/* ---- GSAMP: sampled and expected samples, by kernel ---- */

static bool add_metric(const struct gpu_samples_run *r, uint32_t metric, uint32_t thread,
		       uint32_t context, uint64_t n)
{
	struct sum_extra x = {
		.thread = thread, .context = context, .metric = metric, .n_samples = 1, .sum = n};
	return gpu_metrics_add(r->s->metrics, r->s->extras, &x);
}

static bool add_expected(struct gpu_samples_run *r, bool *any)
{
	const struct gpu_join *j = r->s->join;
	bool ok = true;
	for (size_t i = 0; ok && i < j->cells.n; i++) {
		double expected = j->cells.at[i].cover.expected;
		uint64_t n = expected < 1e15 ? (uint64_t)(expected + 0.5)
					     : 0; /* a larger value means a damaged file */
		*any |= n > 0;
		ok = !n || add_metric(r, GPU_SAMPLES_EXPECTED, j->cells.at[i].thread,
				      r->s->context_of[i], n);
	}
	return ok;
}

/* Samples in unknown code are shown where samples without a known launch are. */
bool gpu_samples_add_sampled(struct gpu_samples_run *r)
{
	const struct model_gpu_sampling *s = r->s->sampling;
	bool has_expected = false, ok = add_expected(r, &has_expected);
	for (size_t i = 0; ok && i < r->kernels.n; i++) {
		const struct gpu_kernel_samples *k = &r->kernels.at[i];
		ok = add_metric(r, GPU_SAMPLED, k->thread, k->context, k->n) &&
		     (!has_expected ||
		      add_metric(r, GPU_UTILISATION, k->thread, k->context, 100 * k->n));
	}
	if (!ok || !s->n_ranges)
		return ok;
	uint32_t nowhere = 0;
	if (s->dropped || s->outside)
		nowhere = expand_gpu_placeholder(
			r->s->expand, expand_gpu_entry(r->s->expand, MODEL_ENTRY_GPU_NO_LAUNCH),
			MSR_GPU_KERNEL, 0);
	return add_metric(r, GPU_SAMPLES_DROPPED, 0, nowhere, s->dropped) &&
	       add_metric(r, GPU_SAMPLES_OUTSIDE, 0, nowhere, s->outside);
}
