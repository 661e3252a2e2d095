/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_balance.h. Test: tests/unit/prof/test_view_balance.c. */
#include "hpcprof-lite/view/parallel/view_balance.h"

#include "hpcprof-lite/view/parallel/view_processors.h"

#include <stdlib.h>

static bool is_empty(const struct view_share *r)
{
	return !r->n_samples && !r->n_lost && r->value <= 0;
}

static int compare_shares(const void *pa, const void *pb)
{
	const struct view_share *a = pa, *b = pb;
	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	if (is_empty(a) != is_empty(b))
		return is_empty(a) ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

/* n: of how many the mean is. */
static void finish(struct view_side *s, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const double value = s->at[i].counts ? s->at[i].value : 0;
		sum += value;
		s->most = value > s->most ? value : s->most;
	}
	if (!s->n)
		return;
	qsort(s->at, s->n, sizeof *s->at, compare_shares);
	s->mean = n ? sum / n : 0;
	s->mean = s->mean < s->most ? s->mean : s->most; /* threads one after the other */
	while (s->n_empty < s->n && is_empty(&s->at[s->n - 1 - s->n_empty]))
		s->n_empty++;
}

/* The ledger of a thread does not know which samples are in a part of the run. */
static uint64_t count_samples(const struct model *m, const struct model_profile *p)
{
	return m->part && m->has_traces ? p->n_trace_records : p->ledger->in_tree;
}

bool view_balance_is_time(const struct model *m, uint32_t metric)
{
	return metric < m->n_metrics &&
	       (m->metrics[metric].is_time || m->metrics[metric].kind == MODEL_METRIC_ACTIVITY);
}

static void add_thread(const struct model *m, uint32_t metric, uint32_t profile,
		       struct view_balance *b)
{
	const struct model_profile *p = &m->profiles[profile];
	const struct model_value *value = model_find_value(m, profile, 0, metric);
	struct view_share *of = &b->processes.at[p->process], *t = &b->threads.at[b->threads.n++];
	*t = (struct view_share){profile,
				 1,
				 value ? value->at[MODEL_EXECUTION] : 0,
				 count_samples(m, p),
				 view_count_lost(p->ledger),
				 p->cpu_ns,
				 !view_balance_is_time(m, metric) || view_is_used_thread(m, p)};
	of->n_threads++;
	of->value += t->value;
	of->n_samples += t->n_samples;
	of->n_lost += t->n_lost;
	of->cpu_ns += t->cpu_ns;
}

bool view_balance_make(const struct model *m, uint32_t metric, struct view_balance *b)
{
	*b = (struct view_balance){
		.threads.at = calloc((size_t)m->n_profiles + 1, sizeof *b->threads.at),
		.processes.at = calloc((size_t)m->n_processes + 1, sizeof *b->processes.at),
		.processes.n = m->n_processes};
	if (!b->threads.at || !b->processes.at) {
		view_balance_free(b);
		return false;
	}
	for (uint32_t i = 0; i < m->n_processes; i++)
		b->processes.at[i] = (struct view_share){.id = i, .counts = true};
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_THREAD)
			add_thread(m, metric, i, b);
	uint32_t most, all;
	if (!view_count_threads(m, 0, m->n_profiles, &most, &all)) {
		view_balance_free(b);
		return false;
	}
	finish(&b->threads, view_balance_is_time(m, metric) ? most : b->threads.n);
	finish(&b->processes, b->processes.n);
	return true;
}

void view_balance_free(struct view_balance *b)
{
	free(b->threads.at);
	free(b->processes.at);
	*b = (struct view_balance){0};
}

uint64_t view_count_lost(const struct model_ledger *l)
{
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		n += msr_loss_takes_sample(i) ? l->losses[i] : 0;
	return n;
}
