/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases that programs marked, of all processes: ranges that began at one line are one phase.
 * Test: tests/unit/prof_parallel/test_view_phases.c.
 */
#ifndef HPCPROF_ATTRIBUTE_PHASES_H
#define HPCPROF_ATTRIBUTE_PHASES_H

#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

/* Returns the context of a node; MODEL_NONE: the node is damaged. */
typedef uint32_t phases_context_fn(const void *arg, uint32_t file, uint32_t thread, uint32_t node);

/* Call it when the processes and contexts are there. False if memory is short. */
bool phases_attribute(struct model *m, const struct load_job *job, phases_context_fn *context,
	const void *arg);
/* Sorts ranges as the model has them: by phase, then process, then enter_ns. */
void phases_sort(struct model_range *ranges, size_t n);

#endif
