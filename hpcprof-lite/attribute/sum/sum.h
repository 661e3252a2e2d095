/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns the cells of each thread into sparse values in the four scopes of model.h, and the values
 * of all threads into totals. Sums within a thread are integers and exact. Totals add the threads
 * in their order, so neither the order of the input nor the number of workers changes a bit of the
 * result. Test: tests/unit/prof/test_sum.c.
 */
#ifndef HPCPROF_ATTRIBUTE_SUM_SUM_H
#define HPCPROF_ATTRIBUTE_SUM_SUM_H

#include "hpcprof-lite/load/load_file.h"
#include "hpcprof-lite/model/private.h"
#include "hpcprof-lite/parts/comm.h"

/* A value that is in no cell of the measurement: GPU work for a thread, a call of MPI. */
struct sum_extra {
	uint32_t thread;           /* index in its file */
	uint32_t context, metric;
	uint64_t n_samples, sum;
};

typedef VEC(struct sum_extra) sum_extras;
/* Values of one thread, in any order. */
struct sum_list {
	const struct sum_extra *at;
	size_t n;
};

/*
 * The cells of a profile. Its time line translates their nodes (context_of) and metrics
 * (metric_of).
 */
struct sum_source {
	struct load_file *file;
	const struct load_thread *thread; /* NULL: the profile has no values */
	const struct sum_list *lists;     /* its other values; borrowed */
	size_t n_lists;
};

/*
 * Finds the values of a profile in a list. `thread` is the profile there, and the list is sorted by
 * it.
 */
const struct sum_extra *sum_extras_of(const sum_extras *all, uint32_t profile, size_t *n);

/* The parts that share the work. All have the same model and sources. */
struct sum_parts {
	struct comm *comm;
	const uint64_t *first_profile; /* by part, with an end entry; NULL: any division will do */
};

/*
 * Sets the values of m->private_->profiles and the totals; sources[i] is profile i. `divisors`: by
 * metric, from the unit of the measurement to the unit of the model. A sum that exceeds 64 bits
 * stays at the maximum and sets m->sums_overflow. The model must have its contexts, metrics,
 * profiles and time lines. parts NULL: this process works alone. Otherwise the call sets m->share,
 * and each part sets the values of some profiles only. n_workers: as in pool_run(). False if memory
 * is short.
 */
bool sum_up(struct model *m, const struct sum_source *sources, const double *divisors,
	const struct sum_parts *parts, unsigned n_workers);

#endif
