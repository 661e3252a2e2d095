/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of one process with unequal work, without regions of OpenMP. Doc:
 * doc/findings.md#balance. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include "hpcprof-lite/view/parallel/view_balance.h"

#include <stdio.h>
#include <stdlib.h>

/* The work of a thread; work in several kinds of measured time adds up. */
static double work_of(const struct model *m, uint32_t profile)
{
	double work = 0;
	bool any = false;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		const bool is_activity = k->kind == MODEL_METRIC_ACTIVITY;
		any |= is_activity;
		const struct model_value *v = is_activity && k->activity == MODEL_WORK
						      ? model_find_value(m, profile, 0, i)
						      : NULL;
		work += v ? v->at[MODEL_EXECUTION] : 0;
	}
	for (uint32_t i = 0; !any && i < m->n_metrics; i++) {
		const struct model_value *v =
			m->metrics[i].is_time ? model_find_value(m, profile, 0, i) : NULL;
		work += v ? v->at[MODEL_EXECUTION] : 0;
	}
	return work;
}

/* The thread that worked most, and the mean of as many threads as matter. */
struct spread {
	double most, mean;
	uint32_t busiest; /* profile */
};

static struct spread find_spread(const struct finding_run *r)
{
	const struct model *m = r->m;
	struct spread s = {.busiest = MODEL_NONE};
	double sum = 0;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		if (!view_is_used_thread(m, &m->profiles[i]))
			continue;
		const double work = work_of(m, i);
		sum += work;
		if (s.busiest == MODEL_NONE || work > s.most) {
			s.most = work;
			s.busiest = i;
		}
	}
	s.mean = r->account.n_threads ? sum / r->account.n_threads : 0;
	return s;
}

/* Weighs places by what the busiest thread does there. */
static bool put_places(const struct finding_run *r, uint32_t profile, struct finding *f)
{
	const struct model *m = r->m;
	double *weights = finding_weights(m);
	if (!weights)
		return false;
	const struct model_profile *p = &m->profiles[profile];
	for (size_t i = 0; i < p->n_values; i++) {
		const struct model_value *v = &p->values[i];
		if (m->metrics[v->metric].is_time &&
		    m->contexts[v->context].activity == MODEL_WORK)
			weights[v->context] += v->at[MODEL_POINT];
	}
	finding_places(r, f, weights);
	free(weights);
	return true;
}

bool rule_balance(struct finding_run *r, struct findings *to)
{
	struct finding f = finding_begin("balance", "threads with unequal work",
					 "divide the work into smaller pieces; idle threads take "
					 "the next one");
	const struct view_processors *p = &r->account;
	if (p->capacity <= 0 || p->n_threads < 2 || p->n_ranks > 1 || r->m->n_omp_regions)
		return true;
	const struct spread s = find_spread(r);
	if (s.busiest == MODEL_NONE)
		return true;
	const struct model_profile *t = &r->m->profiles[s.busiest];
	/* all work took longer where processors were missing */
	const double work = p->seconds[MODEL_WORK], missing = p->seconds[MODEL_NO_CPU];
	double gain = (s.most - s.mean) * (work > 0 ? 1 + missing / work : 1);
	/* unequal work is no loss while the others wait for something else */
	const double idle = finding_lost(r, MODEL_BLOCKED_THREAD) +
			    finding_lost(r, VIEW_USE_NO_THREAD) +
			    (r->account.lacks_offcpu ? finding_lost(r, VIEW_USE_UNKNOWN) : 0);
	gain = gain < idle ? gain : idle;
	/* even work takes its time on the processors that there are */
	const double best = s.mean * p->n_threads /
			    (p->quota.n_given > 0 && p->quota.n_given < p->n_threads
				     ? p->quota.n_given
				     : p->n_threads);
	gain = gain < r->elapsed - best ? gain : r->elapsed - best;
	if (!finding_is_own(r, gain))
		return true;
	finding_fact(&f, "threads", MODEL_COUNT, r->account.n_threads);
	finding_fact(&f, "most work of a thread", MODEL_SECONDS, s.most);
	finding_fact(&f, "mean of the threads", MODEL_SECONDS, s.mean);
	r->by_balance = gain;
	f.process = t->process;
	return put_places(r, s.busiest, &f) &&
	       finding_add(r, to, &f, gain, gain / 2, gain, gain);
}
