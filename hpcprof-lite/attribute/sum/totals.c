/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See totals.h. Memory: the totals that exist, and four bytes for each (context, metric) on the
 * pages that they touch. Test: tests/unit/prof/test_sum.c.
 */
#include "hpcprof-lite/attribute/sum/totals.h"

#include "common/base/pool.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { RANGES_A_WORKER = 8 }; /* contexts near the root have more values */

struct range {
	uint32_t first, end;   /* contexts */
	VEC(struct model_total) totals; /* in the order in which they were found */
	uint32_t *order;       /* their numbers in the order of the model */
	size_t place;          /* of the first in the model */
};

struct totals {
	const struct model *m;
	unsigned n_workers;
	struct range *ranges;
	uint32_t n_ranges;
	uint32_t *number_of; /* by metric, then context: 1 + index into the totals of its range */
	uint32_t first, end; /* profiles of the batch */
	struct model_total *all; /* the totals of the model */
	const _Atomic uint64_t *n_samples;
	atomic_bool failed;
};

static void add_value(struct model_total *t, const struct model_value *v)
{
	for (unsigned k = 0; k < MODEL_N_SCOPES; k++) {
		t->n_values[k] += v->at[k] != 0;
		t->sum[k] += v->at[k];
		t->sum_of_squares[k] += v->at[k] * v->at[k];
		if (!t->n_profiles || v->at[k] < t->min[k])
			t->min[k] = v->at[k];
		if (v->at[k] > t->max[k])
			t->max[k] = v->at[k];
	}
	t->n_profiles++;
}

static struct model_total *find(struct totals *t, struct range *r, const struct model_value *v)
{
	uint32_t *number = &t->number_of[(size_t)v->metric * t->m->n_contexts + v->context];
	if (*number)
		return &r->totals.at[*number - 1];
	struct model_total *new = vec_push(&r->totals);
	if (!new)
		return NULL;
	*number = (uint32_t)r->totals.n;
	new->context = v->context;
	new->metric = v->metric;
	return new;
}

static void add_range(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct totals *t = arg;
	struct range *r = &t->ranges[i];
	for (uint32_t p = t->first; p < t->end; p++) {
		const struct model_column c = model_column(t->m, p);
		for (size_t k = model_column_find(&c, r->first); k < c.n;) {
			struct model_value room;
			const struct model_value *v;
			k = model_column_read(&c, k, &room, &v);
			if (v->context >= r->end)
				break;
			struct model_total *to = find(t, r, v);
			if (!to) {
				atomic_store(&t->failed, true);
				return;
			}
			add_value(to, v);
		}
	}
}

struct totals *totals_begin(const struct model *m, unsigned n_workers)
{
	struct totals *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	uint32_t most = n_workers > 1 ? n_workers * RANGES_A_WORKER : 1;
	t->m = m;
	t->n_workers = n_workers;
	t->n_ranges = m->n_contexts < most ? m->n_contexts : most;
	t->ranges = calloc((size_t)t->n_ranges + 1, sizeof *t->ranges);
	t->number_of = calloc((size_t)m->n_contexts * m->n_metrics + 1, sizeof *t->number_of);
	if (!t->ranges || !t->number_of) {
		totals_free(t);
		return NULL;
	}
	for (uint64_t i = 0; i < t->n_ranges; i++) {
		t->ranges[i].first = (uint32_t)(i * m->n_contexts / t->n_ranges);
		t->ranges[i].end = (uint32_t)((i + 1) * m->n_contexts / t->n_ranges);
	}
	return t;
}

bool totals_add(struct totals *t, uint32_t first, uint32_t end)
{
	size_t n_values = 0;
	t->first = first;
	t->end = end;
	pool_run(t->n_ranges, t->n_workers, add_range, t);
	for (uint32_t p = first; p < end; p++)
		n_values += model_column(t->m, p).n;
	model_values_done(t->m, n_values);
	return !atomic_load(&t->failed);
}

/* Sorts a context's few numbers by metric. */
static void sort_numbers(const struct model_total *totals, uint32_t *numbers, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t number = numbers[i], at = i;
		for (; at && totals[numbers[at - 1]].metric > totals[number].metric; at--)
			numbers[at] = numbers[at - 1];
		numbers[at] = number;
	}
}

/* Lists the numbers of a range's totals by context, then metric. */
static void sort_range(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct totals *t = arg;
	struct range *r = &t->ranges[i];
	const uint32_t n = (uint32_t)r->totals.n, n_contexts = r->end - r->first;
	uint32_t *end = calloc((size_t)n_contexts + 1, sizeof *end); /* by context */
	r->order = malloc(((size_t)n + 1) * sizeof *r->order);
	if (!end || !r->order) {
		free(end);
		atomic_store(&t->failed, true);
		return;
	}
	for (uint32_t k = 0; k < n; k++)
		end[r->totals.at[k].context - r->first + 1]++;
	for (uint32_t c = 0; c < n_contexts; c++)
		end[c + 1] += end[c];
	for (uint32_t k = 0; k < n; k++)
		r->order[end[r->totals.at[k].context - r->first]++] = k;
	for (uint32_t c = 0, first = 0; c < n_contexts; first = end[c++])
		sort_numbers(r->totals.at, r->order + first, end[c] - first);
	free(end);
}

/* Moves the totals of a range to their place. */
static void keep_range(void *arg, size_t i, unsigned worker)
{
	(void)worker;
	struct totals *t = arg;
	struct range *r = &t->ranges[i];
	for (size_t k = 0; k < r->totals.n; k++) {
		struct model_total *to = &t->all[r->place + k];
		*to = r->totals.at[r->order[k]];
		to->n_samples = t->n_samples[(size_t)to->metric * t->m->n_contexts + to->context];
	}
	vec_free(&r->totals);
}

bool totals_keep(struct totals *t, struct model *m, const _Atomic uint64_t *n_samples)
{
	size_t n = 0;
	free(t->number_of);
	t->number_of = NULL;
	pool_run(t->n_ranges, t->n_workers, sort_range, t);
	for (uint32_t i = 0; i < t->n_ranges; i++) {
		t->ranges[i].place = n;
		n += t->ranges[i].totals.n;
	}
	struct model_total *all = malloc((n ? n : 1) * sizeof *all);
	if (!all || atomic_load(&t->failed)) {
		free(all);
		return false;
	}
	m->totals = m->private_->totals = t->all = all;
	m->n_totals = n;
	t->n_samples = n_samples;
	pool_run(t->n_ranges, t->n_workers, keep_range, t);
	return true;
}

void totals_free(struct totals *t)
{
	for (uint32_t i = 0; t && t->ranges && i < t->n_ranges; i++) {
		vec_free(&t->ranges[i].totals);
		free(t->ranges[i].order);
	}
	if (t) {
		free(t->ranges);
		free(t->number_of);
	}
	free(t);
}
