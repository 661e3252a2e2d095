/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes metrics, processes, profiles and time lines of the model. See attribute_steps.h. */
#include "common/base/pool.h"
#include "hpcprof-lite/attribute/attribute_steps.h"
#include "hpcprof-lite/attribute/describe/describe.h"

#include <stdlib.h>

static struct topic_file file_of(const struct topic_run *r, uint32_t file)
{
	struct topic_file f = {0};
	for (size_t i = 0; r->topics[i]; i++)
		if (r->topics[i]->describe_file)
			r->topics[i]->describe_file(r->states[i], file, &f);
	return f;
}

static void number_profiles(struct topic_run *r, const uint32_t *n_more)
{
	uint32_t profile = 0;
	for (uint32_t i = 0; i < r->job->files.n; i++) {
		r->first_profile[i] = profile;
		for (uint32_t k = 0; k < r->job->files.at[i].threads.n; k++)
			r->threads.at[r->first_thread[i] + k].profile = profile++;
		profile += n_more[i];
	}
}

static bool describe_all(struct topic_run *r)
{
	const size_t n = r->job->files.n;
	uint64_t *last_moments = calloc(n + 1, sizeof *last_moments);
	uint32_t *n_more = calloc(n + 1, sizeof *n_more);
	r->first_profile = calloc(n + 1, sizeof *r->first_profile);
	bool ok = last_moments && n_more && r->first_profile;
	for (uint32_t i = 0; ok && i < n; i++) {
		const struct topic_file f = file_of(r, i);
		last_moments[i] = f.last_ns;
		n_more[i] = f.n_profiles;
	}
	ok = ok && describe_processes(r->m, r->job, last_moments) &&
	     describe_profiles(r->m, r->job, n_more, r->n_workers);
	if (ok)
		number_profiles(r, n_more);
	free(last_moments);
	free(n_more);
	return ok;
}

/* ---- time lines: node ids of the files become contexts ---- */

static void make_contexts_of(const struct topic_run *r, size_t i, uint32_t *node_to, uint32_t n)
{
	const uint32_t *to_whole = r->to_whole[r->threads.at[i].worker].at;
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t node = node_to[k];
		if (node != LOAD_DAMAGED) /* the same value as MODEL_NONE */
			node_to[k] = r->context_of[to_whole ? to_whole[node] : node];
	}
}

static void timeline_job(void *arg, size_t i, unsigned worker)
{
	struct attribution *a = arg;
	struct topic_run *r = &a->run;
	const struct topic_thread *at = &r->threads.at[i];
	struct load_file *f = &r->job->files.at[at->file];
	struct load_thread *t = topic_thread(r, i);
	(void)worker;
	if (f->is_outline)
		return;
	make_contexts_of(r, i, t->node_to, t->n_nodes);
	if (t->shown_to)
		make_contexts_of(r, i, t->shown_to, t->n_nodes);
	if (!describe_timeline(r->m, f, t, &r->m->private_->timelines[at->profile]))
		atomic_store(&a->failed, true);
}

static bool make_timelines(struct attribution *a)
{
	pool_run_shown("time lines", a->run.threads.n, a->run.n_workers, timeline_job, a);
	return !atomic_load(&a->failed);
}

bool attribute_profiles(struct attribution *a)
{
	return describe_metrics(a->run.m, a->run.job) && attribute_step(a, TOPIC_METRICS) &&
	       describe_all(&a->run) && attribute_step(a, TOPIC_DESCRIBE) && make_timelines(a);
}
