/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_values.h. Test: tests/unit/compare/test_compare.c. */
#include "hpcprof-lite/compare/compare_values.h"

#include <math.h>
#include <stdlib.h>

static void grow(struct compare_amount *to, const struct compare_amount *by)
{
	to->value += by->value;
	to->variance += by->variance;
}

/* A side of an estimate: the means over its runs. */
struct side {
	struct compare_amount mean;
	double squares; /* sum of the squared distances from the mean */
	uint32_t n;
};

/* `counts` NULL: all runs count. */
static struct side side_of(const struct compare_values *v, const struct compare_amount *runs,
			   const bool *counts, enum compare_side side)
{
	struct side s = {0};
	for (uint32_t i = 0; i < v->n_runs; i++)
		if (v->c->runs.at[i].side == side && (!counts || counts[i])) {
			grow(&s.mean, &runs[i]);
			s.n++;
		}
	s.mean.value /= s.n ? s.n : 1;
	s.mean.variance /= s.n ? s.n : 1;
	for (uint32_t i = 0; i < v->n_runs; i++)
		if (v->c->runs.at[i].side == side && (!counts || counts[i])) {
			double distance = runs[i].value - s.mean.value;
			s.squares += distance * distance;
		}
	return s;
}

/*
 * Runs differ by more than sampling explains: other jobs, memory placement, clock rates. The excess
 * is estimated over all functions together, because one function in a few runs says too little.
 */
static void measure_excess(struct compare_values *v, const struct compare_amount *functions,
			   size_t n_functions)
{
	double excess = 0, squares_of_values = 0;
	for (size_t i = 0; i < n_functions; i++)
		for (int side = 0; side < COMPARE_N_SIDES; side++) {
			struct side s = side_of(v, functions + i * v->n_runs, NULL, side);
			if (s.n < 2)
				continue;
			v->is_excess_measured = true;
			excess += s.squares / (s.n - 1) - s.mean.variance;
			squares_of_values += s.mean.value * s.mean.value;
		}
	if (v->is_excess_measured)
		v->excess = excess > 0 && squares_of_values > 0 ? excess / squares_of_values : 0;
}

static bool add_functions(struct compare_values *v)
{
	const struct compare *c = v->c;
	struct compare_amount *functions =
		calloc(c->functions.n * v->n_runs + 1, sizeof *functions);
	if (!functions)
		return false;
	for (uint32_t node = 0; node < c->nodes.n; node++) {
		uint32_t f = compare_function_of(c, node);
		if (f == MODEL_NONE || c->nodes.at[node].kind == COMPARE_LINE)
			continue;
		for (uint32_t i = 0; i < v->n_runs; i++)
			grow(&functions[(size_t)f * v->n_runs + i],
			     &v->self[(size_t)node * v->n_runs + i]);
	}
	measure_excess(v, functions, c->functions.n);
	free(functions);
	return true;
}

static void add_cells(struct compare_values *v)
{
	const struct compare *c = v->c;
	double n[COMPARE_N_SIDES] = {0}, sum[COMPARE_N_SIDES] = {0};
	for (uint32_t i = 0; i < v->n_runs; i++)
		for (size_t k = 0; k < c->runs.at[i].cells.n; k++) {
			const struct compare_cell *cell = &c->runs.at[i].cells.at[k];
			const struct compare_amount own = {cell->sum, cell->variance};
			if (cell->metric != v->metric)
				continue;
			n[c->runs.at[i].side] += (double)cell->n;
			sum[c->runs.at[i].side] += cell->sum;
			grow(&v->self[(size_t)cell->node * v->n_runs + i], &own);
			if (c->nodes.at[cell->node].kind == COMPARE_LINE)
				grow(&v->self[(size_t)c->nodes.at[cell->node].parent * v->n_runs +
					      i],
				     &own);
		}
	for (int side = 0; side < COMPARE_N_SIDES; side++)
		if (c->metrics.at[v->metric].kind == MODEL_METRIC_SAMPLED && n[side] > 0)
			v->weights[side] = sum[side] / n[side];
}

/* Children have larger indices than their parents. */
static void add_totals(struct compare_values *v)
{
	const struct compare *c = v->c;
	for (size_t i = 0; i < c->nodes.n * v->n_runs; i++)
		v->total[i] = v->self[i];
	for (size_t node = c->nodes.n; node-- > 1;)
		for (uint32_t i = 0; c->nodes.at[node].kind != COMPARE_LINE && i < v->n_runs; i++)
			grow(&v->total[(size_t)c->nodes.at[node].parent * v->n_runs + i],
			     &v->total[node * v->n_runs + i]);
	v->whole = v->total;
}

bool compare_values_open(const struct compare *c, uint32_t metric, double assumed,
			 struct compare_values *v)
{
	size_t n = c->nodes.n * c->runs.n + 1;
	*v = (struct compare_values){.c = c, .metric = metric, .n_runs = (uint32_t)c->runs.n};
	v->excess = compare_is_exact(c, metric) ? 0 : assumed * assumed;
	v->self = calloc(n, sizeof *v->self);
	v->total = calloc(n, sizeof *v->total);
	if (!v->self || !v->total) {
		compare_values_close(v);
		return false;
	}
	add_cells(v);
	add_totals(v);
	if (add_functions(v))
		return true;
	compare_values_close(v);
	return false;
}

void compare_values_close(struct compare_values *v)
{
	free(v->self);
	free(v->total);
	*v = (struct compare_values){0};
}

/*
 * A few samples are a poor estimate of their variance: a side without any would seem certain. So
 * both sides get the variance of their common rate, as if nothing had changed (a score test).
 */
static void share_rate(const struct compare_values *v, struct side sides[COMPARE_N_SIDES])
{
	double weights[COMPARE_N_SIDES], n = 0, of_one = 0;
	for (int i = 0; i < COMPARE_N_SIDES; i++) {
		const struct compare_amount *mean = &sides[i].mean;
		weights[i] = mean->value > 0 && mean->variance > 0 ? mean->variance / mean->value
								   : v->weights[i];
		if (weights[i] <= 0 || !sides[i].n)
			return;
		n += mean->value / weights[i] * sides[i].n;
		of_one += sides[i].n / weights[i];
	}
	for (int i = 0; i < COMPARE_N_SIDES; i++)
		sides[i].mean.variance = weights[i] * n / of_one;
}

/*
 * The variance of the mean of a side: what sampling explains, or what the runs show if that is
 * larger.
 */
static double variance_of_mean(const struct compare_values *v, const struct side *s)
{
	double expected = s->mean.variance + v->excess * s->mean.value * s->mean.value,
	       spread = s->n > 1 ? s->squares / (s->n - 1) : 0;
	return s->n ? (spread > expected ? spread : expected) / s->n : 0;
}

struct compare_estimate compare_estimate_some(const struct compare_values *v,
					      const struct compare_amount *runs, const bool *counts)
{
	struct side sides[COMPARE_N_SIDES];
	for (int i = 0; i < COMPARE_N_SIDES; i++)
		sides[i] = side_of(v, runs, counts, i);
	if (v->weights[COMPARE_BASE] > 0 && v->weights[COMPARE_NEW] > 0)
		share_rate(v, sides);
	return (struct compare_estimate){
		.base = sides[COMPARE_BASE].mean.value,
		.new = sides[COMPARE_NEW].mean.value,
		.base_variance = variance_of_mean(v, &sides[COMPARE_BASE]),
		.new_variance = variance_of_mean(v, &sides[COMPARE_NEW]),
	};
}

struct compare_estimate compare_estimate(const struct compare_values *v,
					 const struct compare_amount *runs)
{
	return compare_estimate_some(v, runs, NULL);
}

double compare_deviation(const struct compare_estimate *e)
{
	return sqrt(e->base_variance + e->new_variance);
}

double compare_limit(size_t n_looks)
{
	enum { STEPS = 50 };
	static const double one_look = 3;
	double target = erfc(one_look * M_SQRT1_2) / (double)(n_looks ? n_looks : 1),
	       low = one_look, high = 40;
	for (int i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;
		if (erfc(middle * M_SQRT1_2) > target)
			low = middle;
		else
			high = middle;
	}
	return low;
}
