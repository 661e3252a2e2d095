/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See share_values.h. Parts exchange in a ring: at distance d, each sends to the d-th part after it
 * and gets from the d-th before it. Memory: what a part gets is out of core, as all values are.
 * What it sends is copied for one part at a time. Test: tests/unit/prof_parts/test_parts.c.
 */
#include "hpcprof-lite/attribute/shared/share_values.h"

#include "common/base/sorted.h"
#include "hpcprof-lite/model/model_values.h"

#include <stdlib.h>
#include <string.h>

bool share_profiles(struct model *m, struct comm *c, bool gathers, const uint64_t *weights,
		    const uint64_t *first)
{
	struct model_share *s = model_own(m, calloc(1, sizeof *s));
	const size_t n = (size_t)c->n_parts + 1;
	uint64_t *profiles = model_own(m, calloc(n, sizeof *profiles)),
		 *contexts = model_own(m, calloc(n, sizeof *contexts));
	if (!s || !profiles || !contexts)
		return false;
	*s = (struct model_share){.comm = c,
				  .gathers = gathers,
				  .is_split = first,
				  .first_profile = profiles,
				  .first_context = contexts};
	if (first)
		memcpy(profiles, first, n * sizeof *profiles);
	else
		comm_cut(c, s->gathers, weights, m->n_profiles, profiles);
	m->share = m->private_->share = s;
	return true;
}

/* ---- exchange ---- */

/* Who gets which contexts, and what this part gets. */
struct exchange {
	const struct model *m;
	const struct comm *c;
	const uint64_t *profiles; /* by part, as in struct model_share */
	const uint64_t *first;    /* by part, and the end: the first context that it gets */
	size_t *cuts; /* by own profile, then part, and the end: its first value */
	uint64_t *n_values;       /* by profile: that this part gets */
	struct model_value **to;  /* by part: room for its values, in the order of profiles */
	struct model_value *out;  /* room for what another part gets */
	uint64_t *n_out;          /* by own profile */
};

static uint64_t n_own(const struct exchange *e)
{
	return e->profiles[e->c->part + 1] - e->profiles[e->c->part];
}

static size_t *cuts_of(const struct exchange *e, uint64_t i)
{
	return e->cuts + i * ((size_t)e->c->n_parts + 1);
}

/* Searches once: several steps need the places, and a profile is not in the cache. */
static void find_cuts(const struct exchange *e)
{
	const struct model_profile *p = &e->m->profiles[e->profiles[e->c->part]];
	for (uint64_t i = 0; i < n_own(e); i++, p++) {
		size_t *cuts = cuts_of(e, i);
		for (int part = 0; part <= e->c->n_parts; part++)
			cuts[part] = sorted_below(p->values, p->n_values, context, e->first[part]);
	}
}

/* The values of an own profile that `part` gets. */
static struct model_column piece(const struct exchange *e, uint64_t i, int part)
{
	const struct model_value *values = e->m->profiles[e->profiles[e->c->part] + i].values;
	const size_t *cuts = &cuts_of(e, i)[part];
	return (struct model_column){values ? values + cuts[0] : NULL, cuts[1] - cuts[0]};
}

static uint64_t sum(const uint64_t *n, uint64_t first, uint64_t end)
{
	uint64_t all = 0;
	for (uint64_t i = first; i < end; i++)
		all += n[i];
	return all;
}

static int part_after(const struct exchange *e, int distance)
{
	return (e->c->part + distance) % e->c->n_parts;
}

static uint64_t count_out(const struct exchange *e, int part)
{
	for (uint64_t i = 0; i < n_own(e); i++)
		e->n_out[i] = cuts_of(e, i)[part + 1] - cuts_of(e, i)[part];
	return sum(e->n_out, 0, n_own(e));
}

/* Each part learns how many values it gets of each profile. Returns the most that it sends. */
static uint64_t exchange_numbers(const struct exchange *e)
{
	uint64_t most = 0;
	for (int d = 0; d < e->c->n_parts; d++) {
		const int from = part_after(e, e->c->n_parts - d);
		const uint64_t n = count_out(e, part_after(e, d));
		most = d && n > most ? n : most;
		comm_shift(e->c, d, e->n_out, n_own(e) * sizeof *e->n_out,
			   e->n_values + e->profiles[from],
			   (e->profiles[from + 1] - e->profiles[from]) * sizeof *e->n_values);
	}
	return most;
}

/* Returns the number of values. */
static uint64_t pack(const struct exchange *e, int part)
{
	struct model_value *to = e->out;
	for (uint64_t i = 0; i < n_own(e); i++) {
		const struct model_column c = piece(e, i, part);
		if (c.n)
			memcpy(to, c.values, c.n * sizeof *to);
		to += c.n;
	}
	return (uint64_t)(to - e->out);
}

/* The number of values that this part gets of another. */
static uint64_t n_of(const struct exchange *e, int part)
{
	return sum(e->n_values, e->profiles[part], e->profiles[part + 1]);
}

/* Of each part apart: pieces that are not too large stay in memory. Own values have their place. */
static bool make_room(struct model *m, const struct exchange *e)
{
	struct model_values_room room = {0};
	bool ok = true;
	for (int part = 0; ok && part < e->c->n_parts; part++)
		if (part != e->c->part)
			ok = (e->to[part] = model_values_get(m, &room, n_of(e, part) + 1));
	return ok;
}

static void exchange_all(const struct exchange *e)
{
	for (int d = 1; d < e->c->n_parts; d++) {
		const int to = part_after(e, d), from = part_after(e, e->c->n_parts - d);
		const uint64_t n_sent = pack(e, to);
		comm_shift(e->c, d, e->out, n_sent * sizeof *e->out, e->to[from],
			   n_of(e, from) * sizeof *e->to[from]);
	}
}

/* By profile: where its values are. */
static void point(const struct exchange *e, struct model_column *columns)
{
	for (int part = 0; part < e->c->n_parts; part++) {
		const struct model_value *at = e->to[part];
		for (uint64_t p = e->profiles[part]; at && p < e->profiles[part + 1]; p++) {
			columns[p] = (struct model_column){at, e->n_values[p]};
			at += e->n_values[p];
		}
	}
	for (uint64_t i = 0; i < n_own(e); i++)
		columns[e->profiles[e->c->part] + i] = piece(e, i, e->c->part);
}

/* Sets columns[] to the values of this part's contexts. False: some part has no memory. */
static bool exchange(struct model *m, const uint64_t *first, struct model_column *columns)
{
	struct comm *c = m->share->comm;
	struct exchange e = {.m = m,
			     .c = c,
			     .profiles = m->share->first_profile,
			     .first = first};
	e.n_values = calloc((size_t)m->n_profiles + 1, sizeof *e.n_values);
	e.n_out = calloc(n_own(&e) + 1, sizeof *e.n_out);
	e.to = calloc((size_t)c->n_parts, sizeof *e.to);
	e.cuts = malloc((n_own(&e) + 1) * ((size_t)c->n_parts + 1) * sizeof *e.cuts);
	bool ok = columns && e.n_values && e.n_out && e.to && e.cuts;
	ok = comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (ok) {
		find_cuts(&e);
		e.out = malloc((exchange_numbers(&e) + 1) * sizeof *e.out);
		ok = e.out && make_room(m, &e);
		ok = comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	}
	if (ok) {
		exchange_all(&e);
		point(&e, columns);
	}
	free(e.out);
	free(e.cuts);
	free(e.to);
	free(e.n_out);
	free(e.n_values);
	return ok;
}

/* ---- by context ---- */

/*
 * By context: about how many values this part has. Of many profiles it counts some, which are of
 * all threads of a process. NULL if memory is short.
 */
static uint64_t *count_values(const struct model *m)
{
	enum { MANY = 10000, STEP = 7 };
	const struct model_share *s = m->share;
	const uint64_t first = s->first_profile[s->comm->part],
		       end = s->first_profile[s->comm->part + 1],
		       step = end - first < MANY ? 1 : STEP;
	uint64_t *n = calloc((size_t)m->n_contexts + 1, sizeof *n);
	for (uint64_t p = first; n && p < end; p += step)
		for (size_t i = 0; i < m->profiles[p].n_values; i++)
			n[m->profiles[p].values[i].context] += step;
	return n;
}

bool share_values(struct model *m, bool ok)
{
	struct model_share *s = m->private_->share;
	uint64_t *first = (uint64_t *)(uintptr_t)s->first_context, *n = ok ? count_values(m) : NULL;
	struct model_column *columns =
		model_own(m, calloc((size_t)m->n_profiles + 1, sizeof *columns));
	ok = comm_agree(s->comm, n && columns ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (ok) {
		comm_add(s->comm, n, m->n_contexts);
		comm_cut(s->comm, s->gathers, n, m->n_contexts, first);
	}
	free(n);
	s->columns = columns;
	return ok && exchange(m, first, columns);
}

bool share_totals(struct model *m, bool ok)
{
	struct comm *c = m->share->comm;
	uint64_t *first = ok ? calloc((size_t)c->n_parts + 1, sizeof *first) : NULL;
	struct model_total *all = comm_join(c, m->totals, m->n_totals, sizeof *all, first);
	if (all) {
		free(m->private_->totals);
		m->totals = m->private_->totals = all;
		m->n_totals = first[c->n_parts];
	}
	free(first);
	return all;
}

bool share_gather(struct model *m)
{
	struct comm *c = m->share->comm;
	const size_t n = (size_t)c->n_parts;
	uint64_t *first = calloc(n + 1, sizeof *first);
	struct model_column *columns = calloc((size_t)m->n_profiles + 1, sizeof *columns);
	bool ok = comm_agree(c, first && columns ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	if (ok) {
		for (size_t i = 1; i <= n; i++)
			first[i] = m->n_contexts;
		ok = exchange(m, first, columns);
	}
	for (uint32_t p = 0; ok && c->part == 0 && p < m->n_profiles; p++) {
		m->private_->profiles[p].values = columns[p].values;
		m->private_->profiles[p].n_values = columns[p].n;
	}
	free(columns);
	free(first);
	return ok;
}
