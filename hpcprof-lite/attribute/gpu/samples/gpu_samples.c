/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_samples.h. Test: tests/unit/prof_gpu/test_gpu_samples.c. */
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples.h"

#include "hpcprof-lite/attribute/gpu/samples/gpu_samples_run.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_sampling.h"

#include <stdlib.h>

/* Values of one launch are neighbours, so a launch is counted with its first value. */
static bool count_launch(const struct gpu_sampled *s, const struct sum_extra *at, uint64_t ns)
{
	struct sum_extra time = *at, n = *at;
	time.metric = GPU_COUNTED_TIME;
	time.sum = ns;
	n.metric = GPU_COUNTED;
	n.sum = 1;
	return gpu_metrics_add(s->metrics, s->extras, &time) &&
	       gpu_metrics_add(s->metrics, s->extras, &n);
}

static bool add_value(const struct gpu_sampled *s, const struct msr_gpu_value *v, bool is_first)
{
	const uint64_t id = v->id & MSR_GPU_ID_MAX,
		       cell = id ? map_get(&s->join->wanted, id, 0) : MAP_NONE;
	struct sum_extra x = {.metric = gpu_metrics_counter(s->metrics, &s->join->file->gpu,
							    v->counter),
			      .n_samples = 1,
			      .sum = v->value};
	if (x.metric == MODEL_NONE) {
		s->join->file->bytes_damaged += sizeof *v;
		return true;
	}
	x.thread = cell == MAP_NONE ? 0 : s->join->cells.at[cell].thread;
	x.context = cell == MAP_NONE ? expand_gpu_entry(s->expand, MODEL_ENTRY_GPU_NO_LAUNCH)
				     : s->context_of[cell];
	return gpu_metrics_add(s->metrics, s->extras, &x) &&
	       (!is_first || cell == MAP_NONE ||
		count_launch(s, &x, map_get(&s->join->wanted_ns, id, 0)));
}

static bool add_values(const struct gpu_sampled *s)
{
	const struct load_gpu *g = &s->join->file->gpu;
	uint64_t last = 0;
	for (size_t k = 0; k < g->values.n; k++)
		for (uint64_t i = 0; i < g->values.at[k].n; i++) {
			const struct msr_gpu_value *v = load_gpu_at(&g->values.at[k], i);
			if (!add_value(s, v, v->id != last))
				return false;
			last = v->id;
		}
	return true;
}

/* Finds the metric of each stall reason, and allocates counters of apportioned samples. */
static bool begin(struct gpu_samples_run *r)
{
	r->metric_of_stall = malloc((r->g->stalls.n + 1) * sizeof *r->metric_of_stall);
	for (uint32_t i = 0; r->metric_of_stall && i < r->g->stalls.n; i++)
		r->metric_of_stall[i] = gpu_metrics_stall(r->s->metrics, r->g, i);
	r->n_apportioned = calloc(r->g->functions.n + 1, sizeof *r->n_apportioned);
	return r->metric_of_stall && r->n_apportioned;
}

static void end(struct gpu_samples_run *r)
{
	free(r->n_apportioned);
	map_free(&r->kernel_index);
	vec_free(&r->kernels);
	free(r->metric_of_stall);
	vec_free(&r->samples);
	vec_free(&r->launchers);
	free(r->codes);
	map_free(&r->count_index);
	vec_free(&r->counts);
	for (size_t i = 0; i < r->modules.n; i++)
		gpu_calls_free(&r->modules.at[i].calls);
	vec_free(&r->modules);
	for (size_t i = 0; i < r->routes.n; i++) {
		vec_free(&r->routes.at[i].paths);
		gpu_shares_end(&r->routes.at[i].shares);
	}
	vec_free(&r->routes);
	map_free(&r->route_index);
	for (size_t i = 0; i < r->choices.n; i++) {
		vec_free(&r->choices.at[i].causes);
		gpu_shares_end(&r->choices.at[i].shares);
	}
	vec_free(&r->choices);
	map_free(&r->choice_index);
	map_free(&r->issue_index);
	vec_free(&r->issues);
	map_free(&r->issue_part_index);
	vec_free(&r->issue_parts);
}

bool gpu_samples_add(const struct gpu_sampled *s)
{
	struct gpu_samples_run r = {.s = s, .g = &s->join->file->gpu};
	bool ok = begin(&r) && gpu_sampling_count(s->sampling, s->join) && gpu_samples_gather(&r);
	if (ok && r.samples.n)
		ok = gpu_samples_gather_launchers(&r) && gpu_samples_find_codes(&r) &&
		     gpu_samples_count_addresses(&r) && gpu_samples_share_all(&r) &&
		     gpu_samples_measure(&r);
	gpu_samples_share_issues(&r);
	ok = ok && gpu_samples_add_sampled(&r) && add_values(s);
	gpu_sampling_settle(s->sampling, s->join->file);
	end(&r);
	return ok;
}
