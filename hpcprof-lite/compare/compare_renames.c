/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_renames.h. Test: tests/unit/compare/test_compare.c. */
#include "hpcprof-lite/compare/compare_renames.h"

#include "hpcprof-lite/compare/compare_names.h"

#include <math.h>
#include <stdlib.h>

/*
 * A pair needs half of its callers in common and totals within a quarter of each other, or within
 * their uncertainty. At most MOST functions of a side are looked at, the largest first.
 */
enum { MOST = 200 };
static const double in_common = 0.5, alike = 0.25, limit = 3;

/* A function on one side only. */
struct lone {
	uint32_t function;
	bool is_taken;
	struct compare_estimate total;
	VEC(uint32_t) callers; /* sorted */
};

struct side {
	struct lone at[MOST];
	size_t n;
};

static int order_totals(const void *a_, const void *b_)
{
	const struct compare_row *a = a_, *b = b_;
	double a_size = a->total.base + a->total.new, b_size = b->total.base + b->total.new;
	return a_size < b_size ? 1 : a_size > b_size ? -1 : a->id < b->id ? -1 : a->id > b->id;
}

/* A function with a few samples may be missing on the other side by chance. */
static bool is_missing(const struct compare_row *r, double limit_of_all)
{
	return fabs(r->total.new - r->total.base) > limit_of_all * compare_deviation(&r->total);
}

static void find_lone(const struct compare *c, const struct compare_row *rows, size_t n,
		      struct side sides[COMPARE_N_SIDES])
{
	double limit_of_all = compare_limit(n);
	for (size_t i = 0; i < n; i++) {
		const struct compare_function *f = &c->functions.at[rows[i].id];
		if (f->is_on[COMPARE_BASE] == f->is_on[COMPARE_NEW] ||
		    !compare_is_named_code(compare_string(c, f->name)) ||
		    !is_missing(&rows[i], limit_of_all))
			continue;
		struct side *side = &sides[f->is_on[COMPARE_BASE] ? COMPARE_BASE : COMPARE_NEW];
		if (side->n < MOST)
			side->at[side->n++] =
				(struct lone){.function = rows[i].id, .total = rows[i].total};
	}
}

static bool add_caller(struct lone *l, uint32_t caller)
{
	size_t at = 0;
	while (at < l->callers.n && l->callers.at[at] < caller)
		at++;
	if (at < l->callers.n && l->callers.at[at] == caller)
		return true;
	if (!vec_push(&l->callers))
		return false;
	for (size_t i = l->callers.n - 1; i > at; i--)
		l->callers.at[i] = l->callers.at[i - 1];
	l->callers.at[at] = caller;
	return true;
}

/* Callers are functions; MODEL_NONE is an entry. A function that calls itself says nothing. */
static bool find_callers(const struct compare *c, struct side *side, struct lone **lone_of)
{
	for (size_t i = 0; i < side->n; i++)
		lone_of[side->at[i].function] = &side->at[i];
	for (uint32_t node = 1; node < c->nodes.n; node++) {
		const struct compare_node *n = &c->nodes.at[node];
		struct lone *l = n->kind == COMPARE_FUNCTION ? lone_of[n->id] : NULL;
		uint32_t caller = compare_function_of(c, n->parent);
		if (l && caller != n->id && !add_caller(l, caller))
			return false;
	}
	return true;
}

/* The callers of both over the callers of either (Jaccard). */
static double common_callers(const struct lone *a, const struct lone *b)
{
	size_t both = 0, i = 0, k = 0;
	while (i < a->callers.n && k < b->callers.n) {
		uint32_t x = a->callers.at[i], y = b->callers.at[k];
		both += x == y;
		i += x <= y;
		k += y <= x;
	}
	size_t either = a->callers.n + b->callers.n - both;
	return either ? (double)both / (double)either : 0;
}

/* From 0, nothing in common, to 2. Sets *both to the estimate of one function under two names. */
static double likeness(const struct lone *a, const struct lone *b, struct compare_estimate *both)
{
	*both = (struct compare_estimate){a->total.base, b->total.new, a->total.base_variance,
					  b->total.new_variance};
	double distance = fabs(both->new - both->base), size = fmax(both->new, both->base),
	       callers = common_callers(a, b);
	if (callers < in_common || size <= 0)
		return 0;
	if (distance > alike * size && distance > limit * compare_deviation(both))
		return 0;
	return callers + 1 - distance / size;
}

static bool pair(const struct compare *c, struct side sides[COMPARE_N_SIDES],
		 struct compare_renames *to)
{
	struct side *base = &sides[COMPARE_BASE], *new = &sides[COMPARE_NEW];
	for (size_t i = 0; i < base->n; i++) {
		struct lone *best = NULL;
		double most = 0;
		for (size_t k = 0; k < new->n; k++) {
			struct compare_estimate both;
			bool same_kind = c->functions.at[base->at[i].function].is_kernel ==
					 c->functions.at[new->at[k].function].is_kernel;
			double like = likeness(&base->at[i], &new->at[k], &both);
			if (new->at[k].is_taken || !same_kind || like <= most)
				continue;
			most = like;
			best = &new->at[k];
		}
		if (!best)
			continue;
		struct compare_renamed *r = vec_push(to);
		if (!r)
			return false;
		best->is_taken = true;
		*r = (struct compare_renamed){.from = base->at[i].function, .to = best->function};
		likeness(&base->at[i], best, &r->total);
	}
	return true;
}

bool compare_renames_find(const struct compare_values *v, const struct compare_rows *rows,
			  struct compare_renames *to)
{
	struct side *sides = calloc(COMPARE_N_SIDES, sizeof *sides);
	struct compare_row *sorted = calloc(rows->n_all + 1, sizeof *sorted);
	struct lone **lone_of = calloc(v->c->functions.n + 1, sizeof *lone_of);
	bool ok = sides && sorted && lone_of;
	for (size_t i = 0; ok && i < rows->n_all; i++)
		sorted[i] = rows->at[i];
	if (ok) {
		qsort(sorted, rows->n_all, sizeof *sorted, order_totals);
		find_lone(v->c, sorted, rows->n_all, sides);
		ok = find_callers(v->c, &sides[COMPARE_BASE], lone_of) &&
		     find_callers(v->c, &sides[COMPARE_NEW], lone_of) && pair(v->c, sides, to);
	}
	for (int side = 0; sides && side < COMPARE_N_SIDES; side++)
		for (size_t i = 0; i < sides[side].n; i++)
			vec_free(&sides[side].at[i].callers);
	free(sides);
	free(sorted);
	free(lone_of);
	return ok;
}
