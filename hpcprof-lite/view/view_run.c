/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_run.h. Test: tests/unit/test_view_run.c. */
#include "hpcprof-lite/view/view_run.h"

#include "common/base/map.h"

#include <stdlib.h>
#include <string.h>

/* ---- processes ---- */

static bool count_hosts_and_ranks(const struct model *m, struct view_run *r)
{
	struct map hosts = {0}, ranks = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		ok = map_put(&hosts, hash_bytes(p->host, strlen(p->host)), 0, 1) != MAP_NONE &&
		     (p->rank < 0 || map_put(&ranks, (uint64_t)p->rank, 0, 1) != MAP_NONE);
	}
	r->n_hosts = hosts.n;
	r->n_ranks = ranks.n;
	map_free(&hosts);
	map_free(&ranks);
	return ok;
}

bool view_run_make(const struct model *m, struct view_run *r)
{
	*r = (struct view_run){0};
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		r->off_ns += p->off_ns;
		r->lifetime_ns += p->end_ns - p->start_ns;
		r->n_off += p->off_ns || p->n_stops;
		r->n_stops += p->n_stops;
		r->n_never += p->off_ns && !p->n_stops && !p->n_starts;
	}
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].cpu_ns) { /* 0: the thread was killed */
			r->cpu_ns += m->profiles[i].cpu_ns;
			r->handler_ns += m->profiles[i].ledger->handler_ns;
		}
	return count_hosts_and_ranks(m, r);
}

/* ---- sample sources ---- */

#define FIRST_SAMPLES 2u /* the first samples of every thread come from the timer */

/* True if the thread stayed with the timer. */
static bool is_by_timer(const struct model_source_use *u)
{
	return u->timer_samples > FIRST_SAMPLES || (u->timer_samples && !u->event_samples);
}

static bool is_cputime(const struct model_metric *k)
{
	return k->kind == MODEL_METRIC_SAMPLED && k->measures == MODEL_EVENT_CPUTIME;
}

static uint64_t period_of_cputime(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (is_cputime(&m->metrics[i]) && m->metrics[i].period)
			return m->metrics[i].period;
	return 0;
}

bool view_sampled_by_both(const struct model *m, uint32_t metric)
{
	bool by_event = false, by_timer = false;
	for (uint32_t i = 0; i < m->n_profiles && is_cputime(&m->metrics[metric]); i++) {
		by_event |= m->profiles[i].source_use.event_samples != 0;
		by_timer |= is_by_timer(&m->profiles[i].source_use);
	}
	return by_event && by_timer;
}

/* CPU time of a thread: by its CPU clock, or if it was killed, by the weights of its samples. */
static uint64_t used_ns(const struct model_profile *p)
{
	uint64_t sampled_ns = p->source_use.event_ns + p->source_use.timer_ns;
	return p->cpu_ns > sampled_ns ? p->cpu_ns : sampled_ns;
}

void view_sources_make(const struct model *m, struct view_sources *s)
{
	*s = (struct view_sources){0};
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_source_use *u = &m->profiles[i].source_use;
		s->event.ns += u->event_ns;
		s->event.n_samples += u->event_samples;
		s->event.n_threads += u->event_samples != 0;
		s->timer.ns += u->timer_ns;
		s->timer.n_samples += u->timer_samples;
		s->timer.n_threads += is_by_timer(u);
		s->n_switches += u->event_switches;
		s->cpu_seconds += (double)used_ns(&m->profiles[i]) / 1e9;
	}
	s->switch_seconds =
		(double)s->n_switches * (double)msr_switch_cost_ns(period_of_cputime(m)) / 1e9;
}

/* ---- values ---- */

double *view_sum_modules(const struct model *m, const struct view_values *v)
{
	double *of_module = calloc((size_t)m->n_modules + 1, sizeof *of_module);
	for (uint32_t c = 0; of_module && c < m->n_contexts; c++)
		if (m->contexts[c].module != MODEL_NONE)
			of_module[m->contexts[c].module] += v->self[c];
	return of_module;
}

uint64_t view_count_samples(const struct model *m, uint32_t metric)
{
	uint64_t n = 0;
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].metric == metric)
			n += m->totals[i].n_samples;
	return n;
}
