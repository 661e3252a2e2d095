/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of one summing up. Shared by sum.c and sum_profile.c, and private to them. */
#ifndef HPCPROF_ATTRIBUTE_SUM_SUM_RUN_H
#define HPCPROF_ATTRIBUTE_SUM_SUM_RUN_H

#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/model/model_values.h"

#include <stdatomic.h>

struct sums {
	uint64_t at[MODEL_N_SCOPES];
};

struct sum_part {
	size_t next, end;
};

struct sum_worker {
	uint64_t *touched;   /* bitmap over contexts, clear between profiles */
	uint32_t *index_of;  /* by context: its place in `list`; valid for touched ones */
	VEC(uint32_t) list;  /* touched contexts, ascending: parents first */
	VEC(struct sums) sums; /* by place, then metric of the group */
	VEC(struct model_value) values; /* of the profile, one group of metrics after the other */
	VEC(struct sum_part) groups;    /* where the values of each group are */
	struct model_values_room room; /* keeps the values of finished profiles */
};

struct sum_run {
	struct model *m;
	const struct sum_source *sources;
	const double *divisors;
	struct sum_worker *workers;
	/* by context: the context or one above it has a guessed frame; NULL: none has */
	bool *on_guess;
	uint32_t *guessed; /* by metric: the metric of its part on guessed paths, or MODEL_NONE */
	uint32_t part_of[MODEL_N_ACTIVITIES]; /* metric of the activity; MODEL_NONE: none */
	/* by metric, then context, so that metrics with few contexts touch few pages */
	_Atomic uint64_t *n_samples;
	uint32_t first;              /* profile of the batch */
	atomic_size_t n_done;
	atomic_bool failed;
	atomic_bool overflowed;
};

/*
 * Sums up profile i of the model, if it has a source, and gives back the pages of its cells. False
 * if memory is short. Workers may call it at the same time, each with its own `w`.
 */
bool sum_profile(struct sum_run *s, size_t i, struct sum_worker *w);

#endif
