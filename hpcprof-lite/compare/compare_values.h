/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One metric of a comparison by node and run, and the estimate of a difference with its
 * uncertainty. doc/guide/compare.md has the formulas. Test: tests/unit/compare/test_compare.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_VALUES_H
#define HPCPROF_COMPARE_COMPARE_VALUES_H

#include "hpcprof-lite/compare/compare.h"

/* A value and the variance that sampling causes. */
struct compare_amount {
	double value, variance;
};

struct compare_values {
	const struct compare *c;
	uint32_t metric, n_runs;
	/* [node * n_runs + run]; a LINE has no calls below it, so both are its own value */
	struct compare_amount *self, *total;
	struct compare_amount *whole; /* by run */
	/*
	 * The square of the relative standard deviation between runs of the same program, in excess
	 * of sampling: measured if a side has several runs, else assumed.
	 */
	double excess;
	bool is_excess_measured;
	double weights[COMPARE_N_SIDES]; /* mean weight of a sample; 0: not sampled */
};

/*
 * `assumed` is the relative standard deviation between runs to assume if no side has several;
 * metrics that count are exact. False if memory is short; then there is nothing to close.
 */
bool compare_values_open(const struct compare *c, uint32_t metric, double assumed,
			 struct compare_values *v);
void compare_values_close(struct compare_values *v);

/* The means over the runs of both sides, and the variances of these means. */
struct compare_estimate {
	double base, new;
	double base_variance, new_variance;
};

/* `runs` has an amount for each run. */
struct compare_estimate compare_estimate(const struct compare_values *v,
					 const struct compare_amount *runs);
/* The same over the runs that count: `counts` has a flag for each run. */
struct compare_estimate compare_estimate_some(const struct compare_values *v,
					      const struct compare_amount *runs,
					      const bool *counts);
/* The standard deviation of new - base. */
double compare_deviation(const struct compare_estimate *e);
/*
 * Returns a number of standard deviations, at least 3. Chance is as unlikely to exceed it in any of
 * `n_looks` looks as it is to exceed 3 in one look (Bonferroni).
 */
double compare_limit(size_t n_looks);

#endif
