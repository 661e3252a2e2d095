/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See share_values.h. Parts exchange values in a ring: at distance d, each part sends to the d-th
 * part after it and receives from the d-th part before it. Received values are kept out of core,
 * like all values. Sent values are copied for one part at a time. Test:
 * tests/unit/prof_parts/test_parts.c.
 */
#include "hpcprof-lite/attribute/sum/share_values.h"

#include "common/base/sorted.h"
#include "hpcprof-lite/model/model_values.h"

#include <stdlib.h>
#include <string.h>

bool share_profiles(struct model *m, struct comm *c, const uint64_t *weights,
		    const uint64_t *first)
{
	struct model_share *s = model_own(m, calloc(1, sizeof *s));
	const size_t n = (size_t)c->n_parts + 1;
	uint64_t *profiles = model_own(m, calloc(n, sizeof *profiles)),
		 *contexts = model_own(m, calloc(n, sizeof *contexts));
	if (!s || !profiles || !contexts)
		return false;
	*s = (struct model_share){
		.comm = c, .first_profile = profiles, .first_context = contexts};
	if (first)
		memcpy(profiles, first, n * sizeof *profiles);
	else
		comm_cut(c, weights, m->n_profiles, profiles);
	m->share = m->private_->share = s;
	return true;
}

/* ---- exchange ---- */

/* The contexts of each part, and the items that this part gets. An item is a packed value. */
struct exchange {
	struct model *m;
	struct comm *c;
	const uint64_t *profiles; /* by part, as in struct model_share */
	const uint64_t *first;    /* by part, with an end entry: the first context that it gets */
	size_t *cuts; /* by own profile, then part, with an end entry: its first value */
	struct model_values_room room;
	struct model_packed *out; /* room for the items that another part gets */
	uint64_t *n_out;          /* by own profile */
	struct model_column *columns; /* by profile: what this part gets */
	uint64_t *n_items;            /* by profile: their number */
};

static uint64_t n_own(const struct exchange *e)
{
	return e->profiles[e->c->part + 1] - e->profiles[e->c->part];
}

static size_t *cuts_of(const struct exchange *e, uint64_t i)
{
	return e->cuts + i * ((size_t)e->c->n_parts + 1);
}

/*
 * Finds the cuts once, because several steps need them and a profile is not in the cache. Returns
 * the largest number of values that a part gets.
 */
static uint64_t find_cuts(const struct exchange *e)
{
	const struct model_profile *p = &e->m->profiles[e->profiles[e->c->part]];
	uint64_t most = 0;
	for (uint64_t i = 0; i < n_own(e); i++, p++) {
		size_t *cuts = cuts_of(e, i);
		for (int part = 0; part <= e->c->n_parts; part++)
			cuts[part] = sorted_below(p->values, p->n_values, context, e->first[part]);
	}
	for (int part = 0; part < e->c->n_parts; part++) {
		uint64_t n = 0;
		for (uint64_t i = 0; i < n_own(e); i++)
			n += cuts_of(e, i)[part + 1] - cuts_of(e, i)[part];
		most = n > most ? n : most;
	}
	return most;
}

/* Makes one item for each distinct sum that is not 0. Returns the end of the items. */
static struct model_packed *pack_value(const struct model_value *v, struct model_packed *to)
{
	unsigned left = 0;
	for (unsigned s = 0; s < MODEL_N_SCOPES; s++)
		left |= (unsigned)(v->at[s] != 0) << s;
	for (unsigned s = 0; left; s++) {
		unsigned same = 0;
		if (!(left >> s & 1))
			continue;
		for (unsigned k = s; k < MODEL_N_SCOPES; k++)
			same |= (unsigned)(v->at[k] == v->at[s]) << k;
		*to++ = (struct model_packed){v->context, v->metric, same, v->at[s]};
		left &= ~same;
	}
	return to;
}

/* Packs what `part` gets. Returns the number of items. */
static uint64_t pack(const struct exchange *e, int part)
{
	struct model_packed *to = e->out;
	for (uint64_t i = 0; i < n_own(e); i++) {
		const struct model_value *values =
			e->m->profiles[e->profiles[e->c->part] + i].values;
		const struct model_packed *start = to;
		for (size_t k = cuts_of(e, i)[part]; k < cuts_of(e, i)[part + 1]; k++)
			to = pack_value(&values[k], to);
		e->n_out[i] = (uint64_t)(to - start);
	}
	return (uint64_t)(to - e->out);
}

/* Sets the columns of the profiles of part `from`. Their items begin at `at`. */
static void point(const struct exchange *e, int from, const struct model_packed *at)
{
	for (uint64_t p = e->profiles[from]; p < e->profiles[from + 1]; p++) {
		e->columns[p] = (struct model_column){.packed = at, .n = e->n_items[p]};
		at += e->n_items[p];
	}
}

static int part_after(const struct exchange *e, int distance)
{
	return (e->c->part + distance) % e->c->n_parts;
}

/* Exchanges at distance d: first numbers of items, then items. False: some part has no memory. */
static bool exchange_at(struct exchange *e, int d)
{
	const int from = part_after(e, e->c->n_parts - d);
	const uint64_t n_sent = pack(e, part_after(e, d)),
		       n = e->profiles[from + 1] - e->profiles[from];
	uint64_t *n_items = e->n_items + e->profiles[from], n_got = 0;
	comm_shift(e->c, d, e->n_out, n_own(e) * sizeof *e->n_out, n_items, n * sizeof *n_items);
	for (uint64_t i = 0; i < n; i++)
		n_got += n_items[i];
	/* separate memory for each sender, because smaller pieces stay in memory */
	void *to = model_values_get(e->m, &e->room,
				    n_got * sizeof *e->out / sizeof(struct model_value) + 1);
	if (comm_agree(e->c, to ? STATUS_OK : STATUS_NO_MEMORY) != STATUS_OK)
		return false;
	if (d)
		comm_shift(e->c, d, e->out, n_sent * sizeof *e->out, to, n_got * sizeof *e->out);
	else
		memcpy(to, e->out, n_sent * sizeof *e->out);
	point(e, from, to);
	return true;
}

/* Sets columns[] to the values of this part's contexts. False: some part has no memory. */
static bool exchange(struct model *m, const uint64_t *first, struct model_column *columns)
{
	struct comm *c = m->share->comm;
	struct exchange e = {.m = m,
			     .c = c,
			     .profiles = m->share->first_profile,
			     .first = first,
			     .columns = columns};
	e.n_items = calloc((size_t)m->n_profiles + 1, sizeof *e.n_items);
	e.n_out = calloc(n_own(&e) + 1, sizeof *e.n_out);
	e.cuts = malloc((n_own(&e) + 1) * ((size_t)c->n_parts + 1) * sizeof *e.cuts);
	bool ok = columns && e.n_items && e.n_out && e.cuts;
	if (ok) /* room for an item of each scope; unused pages take no memory */
		e.out = malloc((find_cuts(&e) + 1) * MODEL_N_SCOPES * sizeof *e.out);
	ok = comm_agree(c, ok && e.out ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
	for (int d = 0; ok && d < c->n_parts; d++)
		ok = exchange_at(&e, d);
	free(e.out);
	free(e.cuts);
	free(e.n_out);
	free(e.n_items);
	return ok;
}

/* ---- by context ---- */

/*
 * Estimates by context how many values this part has. If there are many profiles, it counts every
 * STEP-th. These still include all threads of a process. NULL if memory is short.
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
		comm_cut(s->comm, n, m->n_contexts, first);
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
