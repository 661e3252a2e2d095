/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that are created anew all the time, as by nested parallel regions. Doc:
 * doc/findings.md#processors. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

/* So many threads, and so many for each that lives at one time, are no pool. */
enum { MANY = 100, ANEW = 10 };
/* Threads that live for long cost less than this share of the elapsed time. */
static const double COSTLY = 0.2;

/* With as many threads as live at one time, or processors, the work would take work / threads. */
bool rule_threads(struct finding_run *r, struct findings *to)
{
	const struct view_processors *p = &r->account;
	struct finding f = finding_begin(
		"new-threads", "threads that are created anew all the time",
		"keep threads and give them new work; no parallel region inside of another one "
		"(OMP_MAX_ACTIVE_LEVELS=1)");
	if (p->n_all_threads < MANY || p->n_all_threads < ANEW * p->n_threads)
		return true;
	const double n = p->quota.n_given > 0 && p->quota.n_given < p->n_threads
				 ? p->quota.n_given
				 : p->n_threads,
		     files = finding_lost(r, MODEL_BLOCKED_IO),
		     lost = r->elapsed - p->seconds[MODEL_WORK] / n - files -
			    finding_lost(r, MODEL_BLOCKED_SLEEP);
	if (lost < COSTLY * r->elapsed)
		return true;
	finding_fact(&f, "threads in all", MODEL_COUNT, p->n_all_threads);
	finding_fact(&f, "at one time", MODEL_COUNT, p->n_threads);
	finding_fact(&f, "threads worked", MODEL_SHARE, p->seconds[MODEL_WORK] / p->capacity);
	r->has_new_threads = true;
	return finding_add(r, to, &f, lost, lost / 2, lost, lost);
}
