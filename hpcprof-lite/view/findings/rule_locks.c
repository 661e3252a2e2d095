/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait for locks: critical sections and locks of OpenMP, mutexes. Doc:
 * doc/findings.md#locks. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdlib.h>

/*
 * Threads waited for the lock for at least this share of their time. Most waits for a contended
 * lock are too short to be seen.
 */
#define CONTENDED 0.002

static const char *const LOCK_CALLS[] = {"pthread_mutex", "GI___pthread_mutex", "lll_lock",
					 "lll_unlock",    "GI___lll_lock",      "pthread_rwlock",
					 NULL};

/* The metric of time that others waited for locks that are held here; MODEL_NONE: none. */
static uint32_t find_blame(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_SAMPLED &&
		    m->metrics[i].measures == MODEL_EVENT_BLAME && model_find_total(m, 0, i))
			return i;
	return MODEL_NONE;
}

/* Where the lock is held if that is known, else where threads wait. */
static bool put_places(const struct finding_run *r, unsigned activity, struct finding *f)
{
	const struct model *m = r->m;
	const uint32_t blame = activity == MODEL_BLOCKED_LOCK ? find_blame(m) : MODEL_NONE;
	if (blame == MODEL_NONE)
		return finding_places_of(r, f, activity);
	double *weights = finding_weights(m);
	if (!weights)
		return false;
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].metric == blame)
			weights[m->totals[i].context] += m->totals[i].sum[MODEL_POINT];
	finding_places(r, f, weights);
	free(weights);
	return true;
}

static bool add(struct finding_run *r, unsigned activity, struct finding *f, struct findings *to)
{
	const double waited = finding_lost(r, activity),
		     handling = activity == MODEL_BLOCKED_LOCK ? finding_libc_time(r, LOCK_CALLS)
							       : 0,
		     lost = waited + handling;
	/* a lock that nobody waits for costs some CPU time, too, but no thread */
	if (r->account.capacity <= 0 || waited < CONTENDED * r->elapsed || !finding_is_own(r, lost))
		return true;
	finding_fact(f, "threads waited", MODEL_SECONDS, r->account.seconds[activity]);
	finding_fact(f, "of the threads' time", MODEL_SHARE,
		     r->account.seconds[activity] / r->account.capacity);
	finding_fact(f, "threads", MODEL_COUNT, r->account.n_threads);
	if (handling > 0)
		finding_fact(f, "CPU time in calls of locks", MODEL_SECONDS, handling * r->lanes);
	return put_places(r, activity, f) && finding_add(r, to, f, lost, lost / 2, lost, lost);
}

bool rule_locks(struct finding_run *r, struct findings *to)
{
	struct finding critical = finding_begin(
			       "critical", "a critical section or lock that threads wait for",
			       "do less inside; reduction or atomic; a lock for each part of "
			       "the data"),
		       mutex = finding_begin("mutex", "a mutex that threads wait for",
					     "hold it for less time; a lock for each part of the "
					     "data; results of each thread, joined at the end"),
		       ordered = finding_begin("ordered", "threads that wait for their turn",
					       "take the ordered part out of the loop");
	return add(r, MODEL_OMP_LOCK, &critical, to) && add(r, MODEL_BLOCKED_LOCK, &mutex, to) &&
	       add(r, MODEL_OMP_ORDERED, &ordered, to);
}
