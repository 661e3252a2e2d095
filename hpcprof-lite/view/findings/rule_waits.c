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
	if (r->account.capacity <= 0 || !is_found)
		return true;
	finding_fact(f, "threads waited", MODEL_SECONDS, r->account.seconds[activity]);
	finding_fact(f, "of the threads' time", MODEL_SHARE,
		     r->account.seconds[activity] / r->account.capacity);
	return finding_places_of(r, f, activity) &&
	       finding_add(r, to, f, lost, lost / 2, 0.9 * lost + 0.5 * (high - lost), high);
}

/* Beside the waits: CPU time to begin and end them, and waits that are too short for samples. */
static double handling(const struct finding_run *r)
{
	static const char *const calls[] = {"pthread_cond", "pthread_barrier", "sem_", "futex",
					    "GI___futex", "pthread_mutex", "lll_", "GI___lll",
					    NULL};
	return r->account.capacity > 0
		       ? finding_libc_time(r, calls) + finding_lost(r, VIEW_USE_UNKNOWN)
		       : 0;
}

bool rule_waits(struct finding_run *r, struct findings *to)
{
	struct finding turns = finding_begin("condition", "threads that wait for another thread",
					     "hand over more work at a time, and let the threads "
					     "work at the same time"),
		       sleep = finding_begin("sleep", "threads that sleep",
					     "wait for the event itself instead of looking again "
					     "after a while");
	/* unequal work makes threads wait, too */
	const double waited = finding_lost(r, MODEL_BLOCKED_THREAD) - r->by_balance,
		     slept = finding_lost(r, MODEL_BLOCKED_SLEEP);
	return add(r, MODEL_BLOCKED_THREAD, waited, waited + handling(r), &turns, to) &&
	       add(r, MODEL_BLOCKED_SLEEP, slept, slept, &sleep, to);
}
