/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sum up: the cells of each thread become sparse values in the four scopes of model.h, and the values of all threads become totals. Within a thread all sums are of
 * integers and exact; totals add threads in their order, so that neither the order of input nor the number of workers changes a bit. Test: tests/unit/test_sum.c.
 */
#ifndef HPCPROF_ATTRIBUTE_SUM_H
#define HPCPROF_ATTRIBUTE_SUM_H

#include "hpcprof-lite/load/load_file.h"
#include "hpcprof-lite/model/private.h"

/* A value that is in no cell of the measurement: what GPUs did for a thread. */
struct sum_extra {
	uint32_t thread;           /* index in its file */
	uint32_t context, metric;
	uint64_t n_samples, sum;
};

/* Where a profile's cells are. context_of and metric_of come from the profile's timeline. */
struct sum_source {
	struct load_file *file;
	const struct load_thread *thread; /* NULL: a profile without values */
	const struct sum_extra *extras;   /* n_extras, all of this thread; any order */
	size_t n_extras;
};

/*
 * Sets values of m->private_->profiles (sources[i] is profile i) and the totals. `divisors`: by metric, from the measurement's unit to the model's.
 * A sum beyond 64 bits stays there and sets m->sums_overflow. The model must have its contexts, metrics, profiles and timelines. n_workers as in pool_run(). False when memory is short.
 */
bool sum_up(struct model *m, const struct sum_source *sources, const double *divisors, unsigned n_workers);

#endif
