/* SPDX-License-Identifier: BSD-3-Clause */
/* See finding_run.h. Test: tests/unit/prof/test_findings.c. */
#include "hpcprof-lite/view/findings/finding_run.h"

#include "hpcprof-lite/view/view_run.h"

#include <stdlib.h>

/* ---- the facts ---- */

static void add_usage(const struct model *m, struct msr_usage *all)
{
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct msr_usage *u = &m->processes[i].usage;
		all->system_ns += u->system_ns;
		all->page_faults += u->page_faults;
		all->reads += u->reads;
		all->writes += u->writes;
		all->read_bytes += u->read_bytes;
		all->written_bytes += u->written_bytes;
	}
}

static uint32_t find_time(const struct model *m)
{
	uint32_t i = 0;
	while (i < m->n_metrics && !m->metrics[i].is_time)
		i++;
	return i < m->n_metrics ? i : MODEL_NONE;
}

/* Contexts are in preorder: a parent has been seen before its children. */
static void find_contexts(struct finding_run *r)
{
	const struct model *m = r->m;
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->metrics[m->totals[i].metric].is_time)
			r->self[m->totals[i].context] += m->totals[i].sum[MODEL_POINT];
	for (uint32_t c = 1; c < m->n_contexts; c++) {
		const struct model_context *x = &m->contexts[c];
		r->in_region[c] = r->in_region[x->parent] || x->activity == MODEL_OMP_BARRIER ||
				  (x->function < m->n_functions &&
				   model_is_outlined(m->functions[x->function].name));
	}
}

/* What runs below a function has no account of time, but all threads shared the elapsed time. */
static bool count_lanes(struct finding_run *r)
{
	uint32_t most, all;
	if (!view_count_threads(r->m, 0, r->m->n_profiles, &most, &all))
		return false;
	r->lanes = most > 1 ? most : 1;
	return true;
}

bool finding_run_open(const struct model *m, struct finding_run *r)
{
	*r = (struct finding_run){.m = m,
				  .elapsed = (double)m->elapsed_ns / 1e9,
				  .lanes = 1,
				  .time_metric = find_time(m),
				  .self = finding_weights(m),
				  .own = finding_find_own(m),
				  .in_region = calloc((size_t)m->n_contexts + 1, sizeof(bool))};
	if (!r->self || !r->own || !r->in_region)
		return false;
	find_contexts(r);
	if (!m->part)
		add_usage(m, &r->usage);
	if (r->time_metric != MODEL_NONE)
		r->n_samples = view_count_samples(m, r->time_metric);
	if (m->mpi && !view_mpi_make(m, &r->mpi))
		return false;
	if (m->n_omp_regions && !view_regions_make(m, &r->regions))
		return false;
	if (r->time_metric == MODEL_NONE)
		return true;
	if (m->part_has_gaps)
		return count_lanes(r);
	if (!view_processors_make(m, &r->account))
		return false;
	if (r->elapsed > 0 && r->account.capacity > r->elapsed)
		r->lanes = r->account.capacity / r->elapsed;
	static const char *const calls[] = {"pthread_cond", "pthread_barrier", "sem_",  "futex",
					    "GI___futex",   "pthread_mutex",   "lll_", "GI___lll",
					    NULL};
	r->handling = finding_libc_time(r, calls);
	return true;
}

void finding_run_close(struct finding_run *r)
{
	if (r->m->mpi)
		view_mpi_free(&r->mpi);
	view_regions_free(&r->regions);
	view_processors_free(&r->account);
	free(r->self);
	free(r->own);
	free(r->in_region);
}

/* ---- for rules ---- */

double finding_lost(const struct finding_run *r, unsigned use)
{
	return r->account.seconds[use] / r->lanes;
}

bool finding_is_large(const struct finding_run *r, double seconds)
{
	return r->elapsed > 0 && seconds >= FINDING_LEAST * r->elapsed;
}

bool finding_is_own(const struct finding_run *r, double seconds)
{
	return finding_is_large(r, seconds) && seconds > 1.2 * r->by_processors;
}

struct finding finding_begin(const char *key, const char *title, const char *cure)
{
	return (struct finding){.key = key,
				.title = title,
				.cure = cure,
				.process = MODEL_NONE,
				.function = MODEL_NONE};
}

void finding_fact(struct finding *f, const char *what, enum model_unit unit, double value)
{
	if (f->n_facts < VIEW_FACTS)
		f->facts[f->n_facts++] = (struct view_fact){what, unit, value};
}

static double within(double x, double least, double most)
{
	return x < least ? least : x > most ? most : x;
}

bool finding_add(const struct finding_run *r, struct findings *to, struct finding *f, double cost,
		 double low, double likely, double high)
{
	struct finding *at = vec_push(&to->list);
	if (!at)
		return false;
	f->cost = within(cost, 0, r->elapsed);
	f->low = within(low, 0, r->elapsed);
	f->likely = within(likely, f->low, r->elapsed);
	/* what depends on the cause ends, too, and two runs differ by some percent */
	f->high = within(high > 0 ? 1.1 * high + 0.05 * r->elapsed : 0, f->likely, r->elapsed);
	*at = *f;
	return true;
}
