/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the work of one metric is distributed over threads and processes. Test:
 * tests/unit/prof/test_view_balance.c.
 */
#ifndef HPCPROF_VIEW_VIEW_BALANCE_H
#define HPCPROF_VIEW_VIEW_BALANCE_H

#include "hpcprof-lite/model/model.h"

/* The share of one thread or process. */
struct view_share {
	uint32_t id; /* of the profile or process */
	uint32_t n_threads;
	double value;
	uint64_t n_samples, n_lost, cpu_ns;
	bool counts; /* in the mean */
};

struct view_side {
	struct view_share *at; /* by falling value; empty ones last, then by id */
	uint32_t n, n_empty;   /* n_empty: at the end, without value, samples and losses */
	/*
	 * Of the values. A time of threads: of those that count (view_is_used_thread()); the mean
	 * is over as many as matter at one time (view_count_threads()), as in the efficiencies.
	 */
	double mean, most;
};

struct view_balance {
	struct view_side threads, processes;
};

/* True for a time of threads: CPUTIME and so on, and what they did meanwhile. */
bool view_balance_is_time(const struct model *m, uint32_t metric);
/* False if memory is short; then there is nothing to free. */
bool view_balance_make(const struct model *m, uint32_t metric, struct view_balance *b);
void view_balance_free(struct view_balance *b);

/* Lost samples of a ledger: the sum over the causes that count samples. */
uint64_t view_count_lost(const struct model_ledger *l);

#endif
