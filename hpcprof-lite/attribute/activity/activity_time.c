/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which activities have time, and so get a metric. Test: tests/unit/prof/test_activity.c. */
#include "common/base/pool.h"
#include "hpcprof-lite/attribute/activity/activity.h"
#include "hpcprof-lite/attribute/activity/activity_metrics.h"
#include "hpcprof-lite/attribute/describe/describe.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/model/model_hash.h"

#include <stdatomic.h>

struct activities {
	const struct topic_run *r;
	atomic_bool occurs[MODEL_N_ACTIVITIES];
};

static void mark_cell(struct activities *a, const struct topic_thread *t, const struct msr_cell *c)
{
	const uint32_t context = topic_node_context(a->r, t->file, t->thread, c->node);
	atomic_bool *occurs = &a->occurs[a->r->m->contexts[context].activity];
	/* relaxed: pool_run() joins its threads before anyone reads */
	if (!atomic_load_explicit(occurs, memory_order_relaxed))
		atomic_store_explicit(occurs, true, memory_order_relaxed);
}

/* Marks the activities of the contexts in which the thread has time. */
static void activity_job(void *arg, size_t i, unsigned worker)
{
	struct activities *a = arg;
	const struct topic_run *r = a->r;
	const struct topic_thread *at = &r->threads.at[i];
	struct load_file *f = &r->job->files.at[at->file];
	const struct load_thread *t = topic_thread(r, i);
	bool is_time[MSR_MAX_METRICS];
	(void)worker;
	if (!load_is_own(r->job, at->file))
		return;
	describe_is_time(r->m, f, is_time);
	for (size_t k = 0; k < t->cells.n; k++) {
		const struct msr_cell *cells = (const void *)t->cells.at[k].content;
		for (size_t c = 0; c < t->cells.at[k].n_bytes / sizeof *cells; c++)
			if (load_cell_is_sound(f, t, &cells[c]) && cells[c].sum &&
			    is_time[cells[c].metric])
				mark_cell(a, at, &cells[c]);
	}
	if (topic_is_last_of_file(r, i))
		load_release(f, LOAD_ALL);
}

static bool add_activities(void *none, struct topic_run *r)
{
	struct activities a = {.r = r};
	bool occurs[MODEL_N_ACTIVITIES];
	(void)none;
	if (!topic_agree_on(r, activity_find(r->m), model_hash_contexts))
		return false;
	activity_mark_time(r->m);
	pool_run(r->threads.n, r->n_workers, activity_job, &a);
	for (unsigned i = 0; i < MODEL_N_ACTIVITIES; i++)
		occurs[i] = atomic_load(&a.occurs[i]);
	return topic_share_occurs(r, true, occurs, MODEL_N_ACTIVITIES) &&
	       activity_add_metrics(r->m, occurs);
}

const struct topic_ops topic_activity = {.steps = {[TOPIC_METRICS] = add_activities}};
