/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_metrics.h. Test: tests/unit/prof_gpu/test_gpu_join.c. */
#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h"

#include "common/base/capped.h"

#include <stdlib.h>
#include <string.h>

#define MERGE_FROM ((size_t)1 << 20) /* values */

/* ---- stall reasons and counters ---- */

static int compare_stalls(const void *a, const void *b)
{
	return strcmp(((const struct gpu_stall_metric *)a)->name,
		      ((const struct gpu_stall_metric *)b)->name);
}

static int compare_counters(const void *pa, const void *pb)
{
	const struct gpu_counter_metric *a = pa, *b = pb;
	int c = strcmp(a->name, b->name);
	return c ? c : (a->unit > b->unit) - (a->unit < b->unit);
}

static bool list_stalls(struct gpu_metrics *m, const struct load_gpu *g)
{
	for (size_t i = 0; i < g->stalls.n; i++) {
		const struct load_gpu_stall *s = &g->stalls.at[i];
		if (!s->record || !s->name[0])
			continue;
		struct gpu_stall_metric new = {
			.name = gpu_stall_metric_name(
				s->name, s->record->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED),
			.vendor = s->name,
			.description = s->description,
			.flags = s->record->flags};
		const struct gpu_stall *known = gpu_stall_of(s->name);
		if (known && !(s->record->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED)) {
			new.counts_issues = known->counts_issues;
			new.dependency = gpu_stall_dependency(known);
		}
		struct gpu_stall_metric *at = new.name ? vec_push(&m->stalls) : NULL;
		if (!at) {
			free(new.name);
			return false;
		}
		*at = new;
	}
	return true;
}

static bool list_counters(struct gpu_metrics *m, const struct load_gpu *g)
{
	for (size_t i = 0; i < g->counters.n; i++) {
		const struct load_gpu_counter *c = &g->counters.at[i];
		if (!c->record || !c->name[0])
			continue;
		struct gpu_counter_metric *at = vec_push(&m->counters);
		if (!at)
			return false;
		*at = (struct gpu_counter_metric){c->name, c->description, c->record->unit};
	}
	return true;
}

static void sort_named(struct gpu_metrics *m)
{
	size_t kept = 0;
	if (m->stalls.n)
		qsort(m->stalls.at, m->stalls.n, sizeof *m->stalls.at, compare_stalls);
	for (size_t i = 0; i < m->stalls.n; i++) {
		if (kept && compare_stalls(&m->stalls.at[kept - 1], &m->stalls.at[i]) == 0)
			free(m->stalls.at[i].name);
		else
			m->stalls.at[kept++] = m->stalls.at[i];
	}
	m->stalls.n = kept;
	kept = 0;
	if (m->counters.n)
		qsort(m->counters.at, m->counters.n, sizeof *m->counters.at, compare_counters);
	for (size_t i = 0; i < m->counters.n; i++)
		if (!kept || compare_counters(&m->counters.at[kept - 1], &m->counters.at[i]) != 0)
			m->counters.at[kept++] = m->counters.at[i];
	m->counters.n = kept;
}

bool gpu_metrics_init(struct gpu_metrics *m, const struct load_job *job)
{
	for (size_t i = 0; i < job->files.n; i++)
		if (!list_stalls(m, &job->files.at[i].gpu) ||
		    !list_counters(m, &job->files.at[i].gpu))
			return false;
	sort_named(m);
	m->merge_at = MERGE_FROM;
	size_t n = GPU_N_FIXED + m->stalls.n + m->counters.n;
	return vec_extend(&m->n_samples, n) && vec_extend(&m->sums, n);
}

uint32_t gpu_metrics_stall(const struct gpu_metrics *m, const struct load_gpu *g, uint32_t stall)
{
	const struct load_gpu_stall *s = load_gpu_find(&g->stalls, stall);
	if (!s || !s->name[0])
		return MODEL_NONE;
	struct gpu_stall_metric key = {
		.name = gpu_stall_metric_name(s->name,
					      s->record->flags & MSR_GPU_STALL_ONLY_NOT_ISSUED)};
	const struct gpu_stall_metric *found =
		key.name ? bsearch(&key, m->stalls.at, m->stalls.n, sizeof key, compare_stalls)
			 : NULL;
	free(key.name);
	return found ? GPU_N_FIXED + (uint32_t)(found - m->stalls.at) : MODEL_NONE;
}

uint32_t gpu_metrics_counter(const struct gpu_metrics *m, const struct load_gpu *g,
			     uint32_t counter)
{
	const struct load_gpu_counter *c = load_gpu_find(&g->counters, counter);
	if (!c || !c->name[0])
		return MODEL_NONE;
	struct gpu_counter_metric key = {.name = c->name, .unit = c->record->unit};
	const struct gpu_counter_metric *found =
		bsearch(&key, m->counters.at, m->counters.n, sizeof key, compare_counters);
	return found ? GPU_N_FIXED + (uint32_t)(m->stalls.n + (size_t)(found - m->counters.at))
		     : MODEL_NONE;
}

uint32_t gpu_metrics_stall_flags(const struct gpu_metrics *m, uint32_t metric)
{
	return metric >= GPU_N_FIXED && metric - GPU_N_FIXED < m->stalls.n
		       ? m->stalls.at[metric - GPU_N_FIXED].flags
		       : 0;
}

bool gpu_metrics_counts_issues(const struct gpu_metrics *m, uint32_t metric)
{
	return metric >= GPU_N_FIXED && metric - GPU_N_FIXED < m->stalls.n &&
	       m->stalls.at[metric - GPU_N_FIXED].counts_issues;
}

enum gpu_dependency gpu_metrics_dependency(const struct gpu_metrics *m, uint32_t metric)
{
	return metric >= GPU_N_FIXED && metric - GPU_N_FIXED < m->stalls.n
		       ? m->stalls.at[metric - GPU_N_FIXED].dependency
		       : GPU_DEPENDS_ON_NOTHING;
}

/* ---- what operations add ---- */

static int compare_extras(const void *pa, const void *pb)
{
	const struct sum_extra *a = pa, *b = pb;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->metric > b->metric) - (a->metric < b->metric);
}

/*
 * Merges equal values. The instructions and stall reasons of one line add to the same few values.
 */
static void merge_extras(gpu_extras *e)
{
	size_t kept = 0;
	if (e->n > 1)
		qsort(e->at, e->n, sizeof *e->at, compare_extras);
	for (size_t i = 0; i < e->n; i++) {
		struct sum_extra *last = kept ? &e->at[kept - 1] : NULL;
		if (last && compare_extras(last, &e->at[i]) == 0) {
			capped_grow(&last->n_samples, e->at[i].n_samples);
			capped_grow(&last->sum, e->at[i].sum);
		} else {
			e->at[kept++] = e->at[i];
		}
	}
	e->n = kept;
}

bool gpu_metrics_add(struct gpu_metrics *m, gpu_extras *to, const struct sum_extra *x)
{
	capped_grow(&m->n_samples.at[x->metric], x->n_samples);
	capped_grow(&m->sums.at[x->metric], x->sum);
	if (!x->sum)
		return true; /* the metric occurs, but no context has a value */
	if (to->n && to->n >= m->merge_at) {
		merge_extras(to);
		m->merge_at = 2 * to->n > MERGE_FROM ? 2 * to->n : MERGE_FROM;
	}
	struct sum_extra *at = vec_push(to);
	if (at)
		*at = *x;
	return at != NULL;
}

bool gpu_metrics_add_instruction(struct gpu_metrics *m, const struct gpu_instruction *i)
{
	const uint64_t at = map_put(&m->instruction_index, (uint64_t)i->module << 32 | i->metric,
				    i->link_addr, m->instructions.n);
	if (at == MAP_NONE || (at == m->instructions.n && !vec_push(&m->instructions)))
		return false;
	const uint64_t n = m->instructions.at[at].n + i->n;
	m->instructions.at[at] = *i;
	m->instructions.at[at].n = n;
	return true;
}

void gpu_metrics_free(struct gpu_metrics *m)
{
	for (size_t i = 0; i < m->stalls.n; i++)
		free(m->stalls.at[i].name);
	vec_free(&m->stalls);
	vec_free(&m->counters);
	vec_free(&m->n_samples);
	vec_free(&m->sums);
	map_free(&m->instruction_index);
	vec_free(&m->instructions);
}
