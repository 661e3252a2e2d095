/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_metrics.h. Makes the model's metrics. Test: tests/unit/prof_gpu/test_gpu_join.c. */
#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics_table.h"

#include "hpcprof-lite/attribute/gpu/metrics/gpu_stalls.h"
#include "hpcprof-lite/model/private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times and counts occur if there were operations. Other metrics occur if their sum is not 0. */
static bool occurs(const struct gpu_metrics *m, uint32_t metric)
{
	bool is_basic = metric < GPU_SYNC_TIME_OF || metric == GPU_KERNELS ||
			metric == GPU_COPIES || metric == GPU_SETS || metric == GPU_ALLOCS ||
			metric == GPU_SYNCS || metric == GPU_MARKERS ||
			(metric >= GPU_SAMPLED && metric <= GPU_SAMPLES_OUTSIDE) ||
			metric >= GPU_N_FIXED + m->stalls.n;
	return is_basic ? m->n_samples.at[metric] != 0 : m->sums.at[metric] != 0;
}

static char *describe_samples(const struct gpu_metrics *m, struct model *model, const char *what,
			      const char *vendor)
{
	char *text;
	int n = asprintf(
		&text,
		"%s%s%s%s: %llu samples exact, %llu apportioned: over the contexts that launched "
		"the kernel by their GPU time, and over the calls that lead to a device function",
		what, vendor[0] ? " (" : "", vendor, vendor[0] ? ")" : "",
		(unsigned long long)m->n_exact, (unsigned long long)m->n_apportioned);
	return n < 0 ? NULL : model_own(model, text);
}

static bool describe_fixed(const struct gpu_metrics *m, struct model *model, uint32_t metric,
			   const uint32_t *index_of, struct model_metric *out)
{
	const struct gpu_metric_row *row = &gpu_metrics_table[metric];
	*out = (struct model_metric){
		.kind = row->kind,
		.role = row->role,
		.name = row->name,
		.unit = row->unit,
		.is_of_pc_samples = row->kind == MODEL_METRIC_GPU_SAMPLES ||
				    (metric >= GPU_SAMPLED && metric <= GPU_UTILISATION),
		.description = row->description,
		.parent = row->parent == MODEL_NONE ? MODEL_NONE : index_of[row->parent],
		.divisor = row->divisor == MODEL_NONE ? MODEL_NONE : index_of[row->divisor]};
	if (out->kind == MODEL_METRIC_GPU_SAMPLES) {
		out->apportioned = m->n_apportioned != 0;
		out->description = describe_samples(m, model, row->description, "");
	}
	return out->description != NULL;
}

static bool describe_stall(const struct gpu_metrics *m, struct model *model,
			   const struct gpu_stall_metric *s, const uint32_t *index_of,
			   struct model_metric *out)
{
	bool only = s->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED,
	     issued = s->flags & MSR_GPU_STALL_ISSUED;
	const struct gpu_stall *known = gpu_stall_of(s->vendor);
	char *copy = strdup(s->name);
	*out = (struct model_metric){
		.kind = MODEL_METRIC_GPU_SAMPLES,
		.unit = MODEL_COUNT,
		.is_of_pc_samples = true,
		.divisor = MODEL_NONE,
		.apportioned = m->n_apportioned != 0,
		.name = copy ? model_own(model, copy) : NULL,
		.description = describe_samples(m, model,
						s->description[0] ? s->description
						: known           ? known->description
								  : "GPU instruction stalls",
						s->vendor),
		.parent = only ? MODEL_NONE : index_of[issued ? GPU_SAMPLES : GPU_STALLED],
		.meaning = known ? known->description : NULL,
		.hint = known ? known->hint : NULL};
	out->role = only ? MODEL_ROLE_STALL_IDLE : issued ? MODEL_ROLE_ISSUED : MODEL_ROLE_STALL;
	out->reason = out->name ? gpu_stall_reason(out->name) : NULL;
	out->idle = MODEL_NONE;
	return out->name && out->description;
}

/* Finds the idle part of each stall reason: its name is the reason's name plus "_NI". */
static void pair_stalls(struct model_metric *metrics, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; metrics[i].role == MODEL_ROLE_STALL && k < n; k++)
			if (metrics[k].role == MODEL_ROLE_STALL_IDLE &&
			    gpu_stall_is_idle_part(metrics[k].reason, metrics[i].reason))
				metrics[i].idle = k;
}

static struct model_metric describe_counter(const struct gpu_counter_metric *c)
{
	return (struct model_metric){.kind = MODEL_METRIC_GPU_COUNT,
				     .role = MODEL_ROLE_COUNTER,
				     .name = c->name,
				     .description = c->description,
				     .unit = (uint8_t)model_unit_of(c->unit),
				     .parent = MODEL_NONE,
				     .divisor = MODEL_NONE};
}

bool gpu_metrics_describe(const struct gpu_metrics *m, struct model *model, uint32_t **index_of)
{
	uint32_t n = (uint32_t)m->n_samples.n;
	struct model_metric *metrics =
		realloc(model->private_->metrics, (model->n_metrics + n + 1) * sizeof *metrics);
	if (metrics)
		model->metrics = model->private_->metrics = metrics;
	*index_of = malloc((n + 1) * sizeof **index_of);
	if (!metrics || !*index_of)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		bool ok = true;
		struct model_metric *out = &metrics[model->n_metrics];
		(*index_of)[i] = MODEL_NONE;
		if (!occurs(m, i))
			continue;
		if (i < GPU_N_FIXED)
			ok = describe_fixed(m, model, i, *index_of, out);
		else if (i - GPU_N_FIXED < m->stalls.n)
			ok = describe_stall(m, model, &m->stalls.at[i - GPU_N_FIXED], *index_of,
					    out);
		else
			*out = describe_counter(&m->counters.at[i - GPU_N_FIXED - m->stalls.n]);
		if (!ok)
			return false;
		out->event = "gpu";
		(*index_of)[i] = model->n_metrics++;
	}
	pair_stalls(metrics, model->n_metrics);
	return true;
}
