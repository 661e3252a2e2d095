/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait for another thread (condition variables and the like), and that sleep. Doc:
 * doc/findings.md#waits. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

static bool add(struct finding_run *r, unsigned activity, double lost, struct finding *f,
		struct findings *to)
{
	if (r->account.capacity <= 0 || !finding_is_large(r, lost))
		return true;
	finding_fact(f, "threads waited", MODEL_SECONDS, r->account.seconds[activity]);
	finding_fact(f, "of the threads' time", MODEL_SHARE,
		     r->account.seconds[activity] / r->account.capacity);
	return finding_places_of(r, f, activity) &&
	       finding_add(r, to, f, lost, lost / 2, 0.9 * lost, lost);
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
	return add(r, MODEL_BLOCKED_THREAD,
		   finding_lost(r, MODEL_BLOCKED_THREAD) - r->by_balance, &turns, to) &&
	       add(r, MODEL_BLOCKED_SLEEP, finding_lost(r, MODEL_BLOCKED_SLEEP), &sleep, to);
}
