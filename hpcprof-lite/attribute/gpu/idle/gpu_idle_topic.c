/* SPDX-License-Identifier: BSD-3-Clause */
/* The row of idle GPUs in the table of topics. It needs time lines. Tests: as gpu_idle.h. */
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle.h"
#include "hpcprof-lite/attribute/sum/sum.h"

/* The state is the blame, a sum_extras by profile. */
static bool keep_idle(struct topic_run *r, struct gpu_idle *idle, sum_extras *blames)
{
	uint32_t metric_of[GPU_IDLE_METRICS];
	struct model_gpu_idle *devices = idle->devices;
	idle->devices = NULL;
	if ((devices && !model_own(r->m, devices)) || !gpu_idle_add_metrics(r->m, idle, metric_of))
		return false;
	r->m->gpu_idle = devices;
	r->m->gpu_waits = idle->waits;
	for (size_t i = 0; i < idle->blames.n; i++) {
		const struct gpu_blame *b = &idle->blames.at[i];
		struct sum_extra *x = vec_push(blames);
		if (!x)
			return false;
		*x = (struct sum_extra){b->profile, b->context, metric_of[b->metric], b->n, b->ns};
	}
	return true;
}

static bool find_idle(void *state, struct topic_run *r)
{
	struct gpu_idle idle;
	struct gpu_idle_of of = {.until_ns = UINT64_MAX, .end_process = r->m->n_processes};
	if (r->job->is_split) { /* a process is a file */
		of.first_process = (uint32_t)r->job->first_file[r->job->part];
		of.end_process = (uint32_t)r->job->first_file[r->job->part + 1];
	}
	bool ok = gpu_idle_find(r->m, &of, r->n_workers, &idle);
	ok = topic_share_occurs(r, ok, idle.occurs, GPU_IDLE_METRICS) && keep_idle(r, &idle, state);
	gpu_idle_free(&idle);
	return ok;
}

static const struct sum_extra *values(const void *state, const struct topic_thread *t, size_t *n)
{
	return sum_extras_of(state, t->profile, n);
}

static void close_idle(void *state)
{
	sum_extras *blames = state;
	vec_free(blames);
}

const struct topic_ops topic_gpu_idle = {.state_bytes = sizeof(sum_extras),
					 .steps = {[TOPIC_ATTRIBUTE] = find_idle},
					 .values = values,
					 .close = close_idle};
