/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the processes and threads of the run: hosts and ranks, time without measurement, cost
 * of our handlers, and how the CPU time was sampled. Test: tests/unit/test_view_run.c.
 */
#ifndef HPCPROF_VIEW_VIEW_RUN_H
#define HPCPROF_VIEW_VIEW_RUN_H

#include "hpcprof-lite/view/view_values.h"

struct view_run {
	size_t n_hosts, n_ranks;
	uint64_t lifetime_ns;     /* of all processes */
	uint64_t off_ns, n_stops; /* time without measurement; calls that stopped it */
	uint64_t n_off;           /* processes whose measurement was off for a time */
	uint64_t n_never;         /* processes among them that never started or stopped it */
	/* CPU time of threads whose CPU clock is known, and the part of it in our handlers */
	uint64_t cpu_ns, handler_ns;
};

/* False if memory is short. */
bool view_run_make(const struct model *m, struct view_run *r);

/* CPU time that one kind of sample source covered. */
struct view_source_use {
	uint64_t ns, n_samples, n_threads;
};

struct view_sources {
	struct view_source_use event, timer;
	uint64_t n_switches;   /* context switches while the kernel's event sampled */
	double switch_seconds; /* CPU time that these switches may have cost */
	double cpu_seconds;    /* of all threads, by clock or samples */
};

void view_sources_make(const struct model *m, struct view_sources *s);
/* True if this metric is CPUTIME, and both the kernel's event and a timer sampled it. */
bool view_sampled_by_both(const struct model *m, uint32_t metric);

/* The sum of own values by module. The caller frees it. NULL if memory is short. */
double *view_sum_modules(const struct model *m, const struct view_values *v);
/* Samples of the metric over everything. */
uint64_t view_count_samples(const struct model *m, uint32_t metric);

#endif
