/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More threads than processors, and threads that had no processor although there were enough. Doc:
 * doc/findings.md#processors. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdio.h>

/* Less of the threads' time without a processor shows no contention. */
#define CONTENTION 0.02

/* Time in which threads could not run: known with OFFCPU, else together with blocked time. */
static double without_processor(const struct finding_run *r)
{
	return finding_lost(r, MODEL_NO_CPU) +
	       (r->account.lacks_offcpu ? finding_lost(r, VIEW_USE_UNKNOWN) : 0);
}

/* Waits that need no processor and that no number of processors shortens. */
static double other_waits(const struct finding_run *r)
{
	return finding_lost(r, MODEL_BLOCKED_IO) + finding_lost(r, MODEL_BLOCKED_SLEEP) +
	       finding_lost(r, MODEL_BLOCKED_POLL) + finding_lost(r, MODEL_GPU_WAIT) +
	       finding_lost(r, MODEL_MPI_OTHER);
}

/* Waits for threads that may have had no processor. */
static double waits_for_others(const struct finding_run *r)
{
	double lost = finding_lost(r, MODEL_BLOCKED_LOCK) + finding_lost(r, MODEL_BLOCKED_THREAD);
	for (unsigned k = MODEL_OMP_BARRIER; k < MODEL_MPI_OTHER; k++)
		lost += finding_lost(r, k);
	return lost;
}

static void name_quota(const struct view_processors *p, struct finding *f)
{
	char given[VIEW_QUOTA_TEXT];
	view_quota_text(p->quota.n_given, given);
	const char *threads = p->n_threads == 1 ? "thread" : "threads";
	if (p->quota.has_quota)
		snprintf(f->subject, sizeof f->subject,
			 "%u %s; the CPU quota gives %s of %u processors", p->n_threads, threads,
			 given, p->quota.n_allowed);
	else
		snprintf(f->subject, sizeof f->subject, "%u %s on %s %s", p->n_threads, threads,
			 given, p->quota.n_given == 1 ? "processor" : "processors");
}

/* With a thread for each processor, the work would take work / processors, without waits. */
static bool too_many(struct finding_run *r, struct findings *to)
{
	const struct view_processors *p = &r->account;
	struct finding f =
		finding_begin("processors", "more threads than processors",
			      "start one thread for each processor (OMP_NUM_THREADS, "
			      "--cpus-per-task), or ask for more processors");
	const double work = p->seconds[MODEL_WORK] - r->handling * r->lanes,
		     best = work / p->quota.n_given + other_waits(r),
		     most = without_processor(r) + waits_for_others(r) + r->handling,
		     gain = r->elapsed - best < most ? r->elapsed - best : most;
	if (!finding_is_large(r, gain))
		return true;
	name_quota(p, &f);
	finding_fact(&f, "the processors were used", MODEL_SHARE,
		     p->cpu_seconds / (r->elapsed * p->quota.n_given));
	finding_fact(&f, "threads worked", MODEL_SHARE, p->seconds[MODEL_WORK] / p->capacity);
	finding_fact(&f, "waited for each other, or had no processor", MODEL_SHARE,
		     1 - p->seconds[MODEL_WORK] / p->capacity);
	if (p->quota.throttled > 0)
		finding_fact(&f, "throttled", MODEL_SECONDS, p->quota.throttled);
	r->by_processors = gain;
	return finding_add(r, to, &f, gain, gain / 2, gain, gain);
}

static bool too_few(struct finding_run *r, struct findings *to)
{
	const struct view_processors *p = &r->account;
	/*
	 * Threads that had no processor at the same time lost that time once; if one after the
	 * other had none and all waited for it, its sum, but no more than the waits.
	 */
	const double lost = finding_lost(r, MODEL_NO_CPU),
		     best = p->seconds[MODEL_WORK] / p->n_threads + other_waits(r),
		     waits = lost + waits_for_others(r), in_turn = p->seconds[MODEL_NO_CPU],
		     bound = waits < in_turn ? waits : in_turn,
		     most = r->elapsed - best < bound ? r->elapsed - best : bound;
	struct finding f =
		finding_begin("no-processor", "threads that were ready, but had no processor",
			      "look for other programs on the node, and for an affinity that puts "
			      "several threads on one processor (taskset -p, OMP_PROC_BIND)");
	if (!finding_is_large(r, lost))
		return true;
	finding_fact(&f, "ready without a processor", MODEL_SHARE,
		     p->seconds[MODEL_NO_CPU] / p->capacity);
	finding_fact(&f, "processors that were used", MODEL_COUNT, p->cpu_seconds / r->elapsed);
	finding_fact(&f, "threads", MODEL_COUNT, p->n_threads);
	return finding_add(r, to, &f, lost, lost / 2, lost, most > lost ? most : lost);
}

bool rule_processors(struct finding_run *r, struct findings *to)
{
	const struct view_processors *p = &r->account;
	if (p->capacity <= 0)
		return true;
	const bool has_fewer = p->quota.n_allowed && p->n_threads > 1.05 * p->quota.n_given;
	if (!has_fewer)
		return too_few(r, to);
	return without_processor(r) < CONTENTION * r->elapsed || too_many(r, to);
}
