/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of attribute_run(), private to it. Each is in a file named after it. False: memory is
 * short. If parts share the job, they meet in some of the steps. Tests: as attribute.h.
 */
#ifndef HPCPROF_ATTRIBUTE_ATTRIBUTE_STEPS_H
#define HPCPROF_ATTRIBUTE_ATTRIBUTE_STEPS_H

#include "hpcprof-lite/attribute/attribute.h"
#include "hpcprof-lite/attribute/expand/expand.h"
#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/attribute/topic/topic.h"

#include <stdatomic.h>

struct attribution {
	struct topic_run run;
	const struct attribute_options *o;
	struct merge_modules modules;
	struct merge_tree *trees; /* by worker; the first becomes the whole tree */
	struct expand expand;
	atomic_size_t n_done;
	atomic_bool failed;
};

/* Calls the topics that have this step. */
bool attribute_step(struct attribution *a, enum topic_step step);

/* Gives the modules of all files their dense numbers, and lists the threads. */
bool attribute_unify(struct attribution *a);
/* Makes trees[0] of the call paths of all threads, here and in other parts. */
bool attribute_merge(struct attribution *a);
void attribute_free_trees(struct attribution *a);
/* Makes the contexts of the model. Frees what topics do not need of the call paths and `expand`. */
bool attribute_contexts(struct attribution *a);
/* Makes metrics, processes, profiles and time lines. */
bool attribute_profiles(struct attribution *a);
/* Sums up values and totals. */
bool attribute_sum(struct attribution *a);
/* Counts the samples at each instruction, if they are asked for. */
bool attribute_instructions(struct attribution *a);

#endif
