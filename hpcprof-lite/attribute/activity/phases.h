/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases that the programs of all processes marked. Ranges that began at the same line are one
 * phase. Test: tests/unit/prof_parallel/test_view_phases.c.
 */
#ifndef HPCPROF_ATTRIBUTE_PHASES_H
#define HPCPROF_ATTRIBUTE_PHASES_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

/* Sorts ranges in the order of the model: by phase, then process, then enter_ns. */
void phases_sort(struct model_range *ranges, size_t n);

extern const struct topic_ops topic_phases;

#endif
