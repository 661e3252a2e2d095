/* SPDX-License-Identifier: BSD-3-Clause */
/* See cctdb_plan.h. Tests: tests/unit/sink/test_sink_cctdb.c, tests/cli/sink/sink_cctdb.sh. */
#include "hpcprof-lite/sink/cctdb/cctdb_plan.h"

#include "hpcprof-lite/sink/cctdb/cctdb_statistics.h"

#include <stdlib.h>
#include <string.h>

/* ---- contexts ---- */

/* True for a place without a line that calls something. */
static bool is_call(const struct model_context *c)
{
	return c->subtree_n > 1 && (c->kind == MODEL_CONTEXT_INSTRUCTION ||
				    (c->kind == MODEL_CONTEXT_LOOP && c->file == MODEL_NONE));
}

/* Sets id_of[i] to MODEL_NONE for contexts that are left out, to 0 for others. */
static void leave_out(struct cctdb_plan *p)
{
	const struct model *m = p->m;
	for (uint32_t i = 0; i < m->n_contexts; i++)
		p->id_of[i] = is_call(&m->contexts[i]) ? MODEL_NONE : 0;
	for (size_t i = 0; i < m->n_totals; i++)
		if (m->totals[i].n_values[MODEL_POINT])
			p->id_of[m->totals[i].context] = 0;
	for (uint32_t i = m->n_contexts; i-- > 1;) /* a loop is there if what is inside it is */
		if (p->id_of[i] == 0 && m->contexts[i].relation == MODEL_LEXICAL)
			p->id_of[m->contexts[i].parent] = 0;
}

static void number_contexts(struct cctdb_plan *p)
{
	leave_out(p);
	for (uint32_t i = 0; i < p->m->n_contexts; i++)
		if (p->id_of[i] != MODEL_NONE)
			p->id_of[i] = p->n_contexts++;
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
