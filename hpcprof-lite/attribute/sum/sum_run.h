/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by sum.c and sum_profile.c, and private to them: one summing up. */
#ifndef HPCPROF_ATTRIBUTE_SUM_SUM_RUN_H
#define HPCPROF_ATTRIBUTE_SUM_SUM_RUN_H

#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/model/model_values.h"

#include <stdatomic.h>

struct sums {
	uint64_t at[MODEL_N_SCOPES];
};

struct sum_worker {
	uint64_t *touched;   /* bitmap over contexts, clear between profiles */
	uint32_t *index_of;  /* by context: its place in `list`; valid for touched ones */
	VEC(uint32_t) list;  /* touched contexts, ascending: parents first */
	VEC(struct sums) sums; /* by place, then metric of the group */
	VEC(struct model_value) values; /* of the profile */
	struct model_values_room room; /* where the values of profiles stay */
};

struct sum_run {
	struct model *m;
	const struct sum_source *sources;
	const double *divisors;
	struct sum_worker *workers;
	bool *on_guess; /* by context: it or a context above it is of a guessed frame; NULL: there
			   is none */
	uint32_t *guessed;           /* by metric: that of its part on guessed paths, MODEL_NONE */
	uint32_t part_of[MODEL_N_ACTIVITIES]; /* metric of the activity; MODEL_NONE: none */
	_Atomic uint64_t *n_samples; /* by metric, then context: metrics that few contexts have
					touch few pages */
	uint32_t first;              /* profile of the batch */
	atomic_size_t n_done;
	atomic_bool failed;
	atomic_bool overflowed;
};

/*
 * Sums up profile i of the model, if it has a source, and gives back the pages of its cells. False
 * if memory is short. Workers may do it at the same time, each with its own `w`.
 */
bool sum_profile(struct sum_run *s, size_t i, struct sum_worker *w);

#endif
