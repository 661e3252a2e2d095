/* SPDX-License-Identifier: BSD-3-Clause */
/* See code_hot.h. */
#include "hpcprof-lite/code/code_hot.h"

#include "common/base/map.h"
#include "common/format/structure.h"

#include <stdlib.h>

#define LEAST_SHARE 0.002 /* functions with less have no place on the page */

/* The outermost scope around a place; STRUCTURE_NONE: none is known. */
static uint32_t function_of(const struct structure *s, uint32_t scope)
{
	uint32_t at = STRUCTURE_NONE;
	for (; scope != STRUCTURE_NONE; scope = structure_get_scope(s, scope).parent)
		at = scope;
	return at;
}

/* Samples of CPUs, and all samples of GPUs: stall reasons are parts of those. */
static bool counts(const struct model_metric *metric)
{
	return metric->kind == MODEL_METRIC_SAMPLED || metric->role == MODEL_ROLE_SAMPLES;
}

/* What all functions have of one metric. */
static bool sum_metric(const struct model *m, uint32_t metric, struct map *index,
		       struct code_hots *h)
{
	const struct model_total *whole = model_find_total(m, 0, metric);
	VEC(double) sums = {0};
	bool ok = true;
	for (size_t i = 0; ok && whole && i < m->n_instructions; i++) {
		const struct model_instruction *at = &m->instructions[i];
		const struct structure *s = m->modules[at->module].code;
		struct structure_place place;
		if (at->metric != metric || !structure_lookup(s, at->link_addr, &place))
			continue;
		const uint32_t scope = function_of(s, place.scope);
		if (scope == STRUCTURE_NONE)
			continue;
		const uint64_t id = map_put(index, at->module, scope, h->list.n);
		struct code_hot *new = id == h->list.n ? vec_push(&h->list) : NULL;
		if (new)
			*new = (struct code_hot){.module = at->module, .scope = scope};
		ok = id < h->list.n && (sums.n > id || vec_extend(&sums, id + 1 - sums.n));
		if (ok)
			sums.at[id] += at->value;
	}
	for (size_t i = 0; ok && i < sums.n; i++) {
		const double share = sums.at[i] / whole->sum[MODEL_EXECUTION];
		if (share > h->list.at[i].share)
			h->list.at[i].share = share;
	}
	vec_free(&sums);
	return ok;
}

static int compare(const void *pa, const void *pb)
{
	const struct code_hot *a = pa, *b = pb;
	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->scope > b->scope) - (a->scope < b->scope);
}

static struct code_hot *find_hot(struct code_hots *h, uint32_t module, uint32_t scope)
{
	for (size_t i = 0; i < h->list.n; i++)
		if (h->list.at[i].module == module && h->list.at[i].scope == scope)
			return &h->list.at[i];
	return NULL;
}

static bool find_ranges(const struct model *m, uint32_t module, struct code_hots *h)
{
	const struct structure *s = m->modules[module].code;
	for (size_t i = 0; i < structure_n_intervals(s); i++) {
		struct structure_place place;
		struct code_range r;
		if (!structure_get_interval(s, i, &r.start, &r.end, &place))
			continue;
		struct code_hot *hot = find_hot(h, module, function_of(s, place.scope));
		if (!hot)
			continue;
		struct code_range *last = hot->ranges.n ? &hot->ranges.at[hot->ranges.n - 1] : NULL;
		if (last && last->end == r.start) {
			last->end = r.end;
			continue;
		}
		if (!(last = vec_push(&hot->ranges)))
			return false;
		*last = r;
	}
	return true;
}

bool code_hots_find(const struct model *m, size_t most, struct code_hots *h)
{
	struct map index = {0};
	bool ok = true;
	for (uint32_t i = 0; ok && i < m->n_metrics; i++)
		ok = !counts(&m->metrics[i]) || sum_metric(m, i, &index, h);
	map_free(&index);
	if (h->list.n)
		qsort(h->list.at, h->list.n, sizeof *h->list.at, compare);
	size_t n = 0;
	while (n < h->list.n && n < most && h->list.at[n].share >= LEAST_SHARE)
		n++;
	h->list.n = n;
	for (uint32_t module = 0; ok && module < m->n_modules; module++) {
		bool is_hot = false;
		for (size_t i = 0; i < n; i++)
			is_hot |= h->list.at[i].module == module;
		ok = !is_hot || find_ranges(m, module, h);
	}
	return ok;
}

void code_hots_free(struct code_hots *h)
{
	for (size_t i = 0; i < h->list.n; i++)
		vec_free(&h->list.at[i].ranges);
	vec_free(&h->list);
}
