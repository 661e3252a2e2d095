/* SPDX-License-Identifier: BSD-3-Clause */
/* The row of GPUs in the table of topics. Tests: as gpu_attribute.h. */
#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"

static bool join(void *state, struct topic_run *r)
{
	return gpu_join_all(state, r->job, r->n_workers) &&
	       gpu_add_modules(state, r->modules, r->m);
}

static bool need(const void *state, const struct topic_run *r, bool *needed, size_t n)
{
	(void)r;
	return gpu_need_modules(state, needed, n);
}

static bool expand(void *state, struct topic_run *r)
{
	return gpu_expand(state, r->expand, r->expand_modules, (uint32_t)r->modules->list.n,
			  topic_node_context, r);
}

static bool settle(void *state, struct topic_run *r)
{
	return gpu_settle(state, r->m, r->expand);
}

static void describe_file(const void *state, uint32_t file, struct topic_file *f)
{
	const uint64_t last_ns = gpu_last_moment(state, file);
	f->last_ns = last_ns > f->last_ns ? last_ns : f->last_ns;
	f->n_profiles += gpu_n_profiles(state, file);
}

static bool describe(void *state, struct topic_run *r)
{
	for (uint32_t i = 0; i < r->job->files.n; i++)
		gpu_set_first_profile(state, i, r->first_profile[i]);
	return gpu_describe(state, r->m);
}

static const struct sum_extra *values(const void *state, const struct topic_thread *t, size_t *n)
{
	return gpu_extras_of(state, t->file, t->thread, n);
}

static void close_gpu(void *state)
{
	gpu_free(state);
}

const struct topic_ops topic_gpu = {.state_bytes = sizeof(struct gpu_part),
				    .steps = {[TOPIC_JOIN] = join,
					      [TOPIC_EXPAND] = expand,
					      [TOPIC_METRICS] = settle,
					      [TOPIC_DESCRIBE] = describe},
				    .need = need,
				    .describe_file = describe_file,
				    .values = values,
				    .close = close_gpu};
