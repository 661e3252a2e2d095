/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the totals of all profiles in one pass over their values. Profiles come in batches, in
 * their order, and each worker adds up some contexts. So every sum adds the profiles in their
 * order, and the number of workers does not change a bit of it. Test: tests/unit/prof/test_sum.c.
 */
#ifndef HPCPROF_ATTRIBUTE_SUM_TOTALS_H
#define HPCPROF_ATTRIBUTE_SUM_TOTALS_H

#include "hpcprof-lite/model/private.h"

struct totals;

/* n_workers: as in pool_run(). NULL if memory is short. */
struct totals *totals_begin(const struct model *m, unsigned n_workers);
/* Adds profiles first .. end - 1. False if memory is short. */
bool totals_add(struct totals *t, uint32_t first, uint32_t end);
/*
 * Sets the totals of the model. n_samples: by metric, then context. False if memory is short.
 */
bool totals_keep(struct totals *t, struct model *m, const _Atomic uint64_t *n_samples);
/* NULL is allowed. */
void totals_free(struct totals *t);

#endif
