/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See share_records.h. Parts exchange in a ring: at distance d, each sends to the d-th part after
 * it. Memory: the records of this part twice, or once together with those that it gets. Test:
 * tests/unit/prof_parts/test_parts.c.
 */
#include "hpcprof-lite/parts/share_records.h"

#include <stdlib.h>
#include <string.h>

struct exchange {
	const struct comm *c;
	struct share_records *r;
	/*
	 * by part, and the end: the first record that goes to it, and the first that comes from it
	 */
	uint64_t *to, *from;
	char *out, *in;
};

static const char *record(const struct share_records *r, uint64_t i)
{
	return (const char *)r->at + i * r->bytes;
}

static void add_up(uint64_t *first, int n_parts)
{
	for (int i = 0; i < n_parts; i++)
		first[i + 1] += first[i];
}

static void drop(struct share_records *r)
{
	free(r->at);
	r->at = NULL;
	r->n = 0;
}

/* Puts records for the same part together, without changing their order. */
static void sort_out(struct exchange *e)
{
	struct share_records *r = e->r;
	const int n_parts = e->c->n_parts;
	for (uint64_t i = 0; i < r->n; i++)
		e->to[r->part_of(r->arg, record(r, i)) + 1]++;
	add_up(e->to, n_parts);
	for (uint64_t i = 0; i < r->n; i++)
		memcpy(e->out + e->to[r->part_of(r->arg, record(r, i))]++ * r->bytes,
		       record(r, i), r->bytes);
	memmove(e->to + 1, e->to, (size_t)n_parts * sizeof *e->to);
	e->to[0] = 0;
	drop(r);
}

/* Exchanges the numbers of records, or the records. */
static void exchange(const struct exchange *e, bool are_numbers)
{
	const int n = e->c->n_parts;
	for (int d = 0; d < n; d++) {
		const int to = (e->c->part + d) % n, from = (e->c->part + n - d) % n;
		const uint64_t n_out = e->to[to + 1] - e->to[to];
		if (are_numbers)
			comm_shift(e->c, d, &n_out, sizeof n_out, &e->from[from + 1],
				   sizeof n_out);
		else
			comm_shift(e->c, d, e->out + e->to[to] * e->r->bytes,
				   n_out * e->r->bytes, e->in + e->from[from] * e->r->bytes,
				   (e->from[from + 1] - e->from[from]) * e->r->bytes);
	}
}

static bool agree(struct comm *c, bool ok)
{
	return comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK;
}

bool share_records(struct comm *c, bool ok, struct share_records *r)
{
	const size_t n = (size_t)c->n_parts + 1;
	struct exchange e = {.c = c,
			     .r = r,
			     .to = calloc(n, sizeof *e.to),
			     .from = calloc(n, sizeof *e.from),
			     .out = ok ? malloc(r->n * r->bytes + 1) : NULL};
	ok = agree(c, e.to && e.from && e.out);
	if (ok) {
		sort_out(&e);
		exchange(&e, true);
		add_up(e.from, c->n_parts);
		e.in = malloc(e.from[c->n_parts] * r->bytes + 1);
		ok = agree(c, e.in);
	}
	drop(r);
	if (ok) {
		exchange(&e, false);
		r->at = e.in;
		r->n = e.from[c->n_parts];
	} else {
		free(e.in);
	}
	free(e.to);
	free(e.from);
	free(e.out);
	return ok;
}
