/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait for another thread (condition variables and the like), and that sleep. Doc:
 * doc/findings.md#waits. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

static bool add(struct finding_run *r, unsigned activity, double lost, double high,
		struct finding *f, struct findings *to)
{
	const bool is_found = activity == MODEL_BLOCKED_THREAD ? finding_is_own(r, lost)
							       : finding_is_large(r, lost);
	if (!is_found)
		return true;
	finding_fact(f, "threads waited", MODEL_SECONDS, r->account.seconds[activity]);
	finding_fact(f, "of the threads' time", MODEL_SHARE,
		     r->account.seconds[activity] / r->account.capacity);
	return finding_places_of(r, f, activity) &&
	       finding_add(r, to, f, lost, lost / 2, 0.9 * lost + 0.7 * (high - lost), high);
}

/* No thread waits for what the processors do in any case. */
static double at_most(const struct finding_run *r)
{
	const struct view_processors *p = &r->account;
	const double given = p->quota.n_given > 0 && p->quota.n_given < p->n_threads
				     ? p->quota.n_given
				     : p->n_threads,
		     work = p->seconds[MODEL_WORK] - r->handling * r->lanes;
	return given > 0 && work > 0 ? r->elapsed - work / given : r->elapsed;
}

static double bound(double x, double most)
{
	return x < most ? x : most;
}

/*
 * At most, the CPU time to begin and end waits ends, too, and waits that are too short for samples.
 * While a thread sleeps, others may wait for it.
 */
bool rule_waits(struct finding_run *r, struct findings *to)
{
	struct finding turns = finding_begin("condition", "threads that wait for another thread",
					     "hand over more work at a time, and let the threads "
					     "work at the same time"),
		       sleep = finding_begin("sleep", "threads that sleep",
					     "wait for the event itself instead of looking again "
					     "after a while");
	if (r->account.capacity <= 0)
		return true;
	const double waited = finding_lost(r, MODEL_BLOCKED_THREAD),
		     slept = finding_lost(r, MODEL_BLOCKED_SLEEP), most = at_most(r),
		     lost = bound(waited - r->by_balance, most);
	return add(r, MODEL_BLOCKED_THREAD, lost,
		   bound(lost + r->handling + finding_lost(r, VIEW_USE_UNKNOWN), most), &turns,
		   to) &&
	       add(r, MODEL_BLOCKED_SLEEP, slept,
		   bound(slept + waited, r->account.seconds[MODEL_BLOCKED_SLEEP]), &sleep, to);
}
