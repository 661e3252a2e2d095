/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_rows.h. Test: tests/unit/compare/test_compare.c. */
#include "hpcprof-lite/compare/compare_rows.h"

#include <math.h>
#include <stdlib.h>

/* Amounts by row and run, before they become estimates. */
struct table {
	const struct compare_values *v;
	enum compare_by by;
	size_t n; /* ids */
	struct compare_amount *self, *total;
};

static size_t count_ids(const struct compare_values *v, enum compare_by by)
{
	const struct compare *c = v->c;
	return by == COMPARE_BY_LINE   ? c->lines.n
	       : by == COMPARE_BY_PATH ? c->nodes.n
	       : by == COMPARE_BY_RANK ? c->ranks.n
				       : c->functions.n;
}

/* The row that the values of a node count for, or MODEL_NONE. */
static uint32_t row_of(const struct compare *c, uint32_t node, enum compare_by by)
{
	const struct compare_node *n = &c->nodes.at[node];
	switch (by) {
	case COMPARE_BY_LINE: return n->kind == COMPARE_LINE ? n->id : MODEL_NONE;
	case COMPARE_BY_PATH: return n->kind == COMPARE_LINE ? MODEL_NONE : node;
	case COMPARE_BY_KERNEL:
		return n->kind == COMPARE_FUNCTION && c->functions.at[n->id].is_kernel ? n->id
										       : MODEL_NONE;
	default: return n->kind == COMPARE_FUNCTION ? n->id : MODEL_NONE;
	}
}

static void grow(struct compare_amount *to, const struct compare_amount *by)
{
	to->value += by->value;
	to->variance += by->variance;
}

static void add_nodes(struct table *t)
{
	const struct compare_values *v = t->v;
	for (uint32_t node = 0; node < v->c->nodes.n; node++) {
		uint32_t row = row_of(v->c, node, t->by);
		bool is_outermost = v->c->nodes.at[node].is_outermost;
		for (uint32_t i = 0; row != MODEL_NONE && i < v->n_runs; i++) {
			size_t from = (size_t)node * v->n_runs + i,
			       to = (size_t)row * v->n_runs + i;
			grow(&t->self[to], &v->self[from]);
			if (is_outermost)
				grow(&t->total[to], &v->total[from]);
		}
	}
}

/* The values of ranks have no count of samples, so they vary as the whole does. */
static void add_ranks(struct table *t)
{
	const struct compare_values *v = t->v;
	for (uint32_t i = 0; i < v->n_runs; i++) {
		const struct compare_run *run = &v->c->runs.at[i];
		const struct compare_amount *whole = &v->whole[i];
		double of_one = whole->value > 0 ? whole->variance / whole->value : 0;
		for (size_t k = 0; k < run->ranks.n; k++) {
			const struct compare_rank *r = &run->ranks.at[k];
			const struct compare_amount a = {r->sum, fabs(r->sum) * of_one};
			if (r->metric == v->metric)
				grow(&t->self[(size_t)r->rank * v->n_runs + i], &a);
		}
	}
}

static double difference(const struct compare_estimate *e)
{
	return fabs(e->new - e->base);
}

static bool is_empty(const struct compare_estimate *e)
{
	return e->base == 0 && e->new == 0;
}

static bool is_real(const struct compare_rows *rows, const struct compare_row *r)
{
	const struct compare_estimate *e = compare_row_judged(rows, r);
	return difference(e) > rows->limit * compare_deviation(e);
}

static int order_rows(const void *a_, const void *b_, void *arg)
{
	const struct compare_row *a = a_, *b = b_;
	const struct compare_rows *rows = arg;
	const int a_empty = is_empty(compare_row_judged(rows, a)),
		  b_empty = is_empty(compare_row_judged(rows, b)), a_real = is_real(rows, a),
		  b_real = is_real(rows, b);
	double a_size = difference(compare_row_judged(rows, a)),
	       b_size = difference(compare_row_judged(rows, b));
	if (a_empty != b_empty)
		return a_empty - b_empty;
	if (a_real != b_real)
		return b_real - a_real;
	if (a_size != b_size)
		return a_size < b_size ? 1 : -1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* Totals are sums of own values, so both are judged alike: a leaf is real by both or by none. */
static void judge(struct compare_rows *rows)
{
	size_t n_looks = 0;
	for (size_t i = 0; i < rows->n_all; i++) {
		rows->n += !is_empty(compare_row_judged(rows, &rows->at[i]));
		n_looks += !is_empty(&rows->at[i].self);
	}
	rows->limit = compare_limit(n_looks);
	qsort_r(rows->at, rows->n_all, sizeof *rows->at, order_rows, rows);
	while (rows->n_real < rows->n && is_real(rows, &rows->at[rows->n_real]))
		rows->n_real++;
	for (size_t i = rows->n_real; i < rows->n; i++) {
		const struct compare_estimate *e = compare_row_judged(rows, &rows->at[i]);
		rows->noise += e->new - e->base;
	}
}

static void make_rows(const struct table *t, struct compare_rows *rows)
{
	bool has_totals = t->by == COMPARE_BY_FUNCTION || t->by == COMPARE_BY_KERNEL;
	for (size_t id = 0; id < t->n; id++) {
		struct compare_row r = {.id = (uint32_t)id};
		r.self = compare_estimate(t->v, t->self + id * t->v->n_runs);
		r.total =
			has_totals ? compare_estimate(t->v, t->total + id * t->v->n_runs) : r.self;
		if (!is_empty(&r.self) || !is_empty(&r.total))
			rows->at[rows->n_all++] = r;
	}
}

bool compare_rows_make(const struct compare_values *v, enum compare_by by, bool by_total,
		       struct compare_rows *rows)
{
	struct table t = {.v = v, .by = by, .n = count_ids(v, by)};
	size_t n = t.n * v->n_runs + 1;
	*rows = (struct compare_rows){.by = by, .by_total = by_total};
	t.self = calloc(n, sizeof *t.self);
	t.total = calloc(n, sizeof *t.total);
	rows->at = calloc(t.n + 1, sizeof *rows->at);
	bool ok = t.self && t.total && rows->at;
	if (ok) {
		if (by == COMPARE_BY_RANK)
			add_ranks(&t);
		else
			add_nodes(&t);
		make_rows(&t, rows);
		judge(rows);
	} else {
		compare_rows_free(rows);
	}
	free(t.self);
	free(t.total);
	return ok;
}

void compare_rows_free(struct compare_rows *rows)
{
	free(rows->at);
	*rows = (struct compare_rows){0};
}
