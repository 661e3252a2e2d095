/* SPDX-License-Identifier: BSD-3-Clause */
/* See cctdb_plan.h. Tests: tests/unit/sink/test_sink_cctdb.c, tests/cli/sink/sink_cctdb.sh. */
#include "hpcprof-lite/sink/cctdb/cctdb_plan.h"

#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"

#include <stdlib.h>
#include <string.h>

/* ---- contexts ---- */

/* True if the context has values of its own. Its totals begin at *at, which is moved behind them.
 */
static bool has_own(const struct model *m, uint32_t context, size_t *at)
{
	bool has = false;
	for (; *at < m->n_totals && m->totals[*at].context == context; ++*at)
		has |= m->totals[*at].n_values[MODEL_POINT] != 0;
	return has;
}

static void number_contexts(struct cctdb_plan *p)
{
	const struct model *m = p->m;
	size_t at = 0;
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		const bool is_left_out = !has_own(m, i, &at) &&
					 c->kind == MODEL_CONTEXT_INSTRUCTION && c->subtree_n > 1;
		p->id_of[i] = is_left_out ? MODEL_NONE : p->n_contexts++;
	}
}

uint32_t cctdb_plan_id(const struct cctdb_plan *p, uint32_t context)
{
	while (p->id_of[context] == MODEL_NONE)
		context = p->m->contexts[context].parent;
	return p->id_of[context];
}

/* Children of a context that is left out come right behind it. */
static uint32_t skip_left_out(const struct cctdb_plan *p, uint32_t child, uint32_t end)
{
	while (child < end && p->id_of[child] == MODEL_NONE)
		child++;
	return child;
}

uint32_t cctdb_plan_first_child(const struct cctdb_plan *p, uint32_t parent)
{
	return skip_left_out(p, parent + 1, parent + p->m->contexts[parent].subtree_n);
}

uint32_t cctdb_plan_next_child(const struct cctdb_plan *p, uint32_t parent, uint32_t child)
{
	return skip_left_out(p, child + p->m->contexts[child].subtree_n,
			     parent + p->m->contexts[parent].subtree_n);
}

/* ---- blocks ---- */

/* True if the totals a and b are of the same values, in all scopes of the database. */
static bool are_same(const struct model_total *a, const struct model_total *b)
{
	bool same = a->metric == b->metric && a->n_profiles == b->n_profiles;
	for (unsigned s = MODEL_FUNCTION; s < MODEL_N_SCOPES; s++)
		same = same && a->n_values[s] == b->n_values[s] && a->sum[s] == b->sum[s] &&
		       a->sum_of_squares[s] == b->sum_of_squares[s] && a->min[s] == b->min[s] &&
		       a->max[s] == b->max[s];
	return same;
}

/* The range of totals of each context. first[n_contexts] is the end of the last. */
static void find_totals(const struct model *m, size_t *first)
{
	size_t at = 0;
	for (uint32_t i = 0; i <= m->n_contexts; i++) {
		while (at < m->n_totals && m->totals[at].context < i)
			at++;
		first[i] = at;
	}
}

/* The only child with values; MODEL_NONE: there is none, or several. */
static uint32_t only_child(const struct cctdb_plan *p, const size_t *first, uint32_t context)
{
	const uint32_t end = context + p->m->contexts[context].subtree_n;
	uint32_t only = MODEL_NONE;
	for (uint32_t c = cctdb_plan_first_child(p, context); c < end;
	     c = cctdb_plan_next_child(p, context, c)) {
		if (first[c] == first[c + 1])
			continue;
		if (only != MODEL_NONE)
			return MODEL_NONE;
		only = c;
	}
	return only;
}

/*
 * Values are never negative. So if a context has the totals of its only child, each thread has the
 * same values in both.
 */
static uint32_t find_block(const struct cctdb_plan *p, const size_t *first, uint32_t context)
{
	const uint32_t child = only_child(p, first, context);
	const size_t n = first[context + 1] - first[context];
	if (child == MODEL_NONE || first[child + 1] - first[child] != n)
		return context;
	for (size_t i = 0; i < n; i++)
		if (!are_same(&p->m->totals[first[context] + i], &p->m->totals[first[child] + i]))
			return context;
	return p->block_of[child];
}

static bool share_blocks(struct cctdb_plan *p)
{
	size_t *first = malloc(((size_t)p->m->n_contexts + 1) * sizeof *first);
	if (!first)
		return false;
	find_totals(p->m, first);
	for (uint32_t i = p->m->n_contexts; i-- > 0;)
		if (p->id_of[i] != MODEL_NONE)
			p->block_of[i] = find_block(p, first, i);
	free(first);
	return true;
}

/* ---- the plan ---- */

bool cctdb_plan_make(struct cctdb_plan *p, const struct model *m)
{
	const size_t n = (size_t)m->n_contexts + 1;
	*p = (struct cctdb_plan){.m = m,
				 .id_of = malloc(n * sizeof *p->id_of),
				 .block_of = malloc(n * sizeof *p->block_of),
				 .statistics = cctdb_choose_statistics(m)};
	bool ok = p->id_of && p->block_of && p->statistics;
	if (ok) {
		memset(p->block_of, 0xff, n * sizeof *p->block_of); /* MODEL_NONE */
		number_contexts(p);
		ok = share_blocks(p);
	}
	if (!ok)
		cctdb_plan_free(p);
	return ok;
}

void cctdb_plan_free(struct cctdb_plan *p)
{
	free(p->id_of);
	free(p->block_of);
	free(p->statistics);
	*p = (struct cctdb_plan){0};
}
