/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of activities: "OMP:BARRIER (sec)" is the part of the measured time in contexts with
 * this activity. The metrics of all activities add up to the measured time. They exist only if some
 * thread did something other than work. Test: tests/unit/prof/test_activity.c.
 */
#ifndef HPCPROF_ATTRIBUTE_ACTIVITY_METRICS_H
#define HPCPROF_ATTRIBUTE_ACTIVITY_METRICS_H

#include "hpcprof-lite/model/private.h"

/*
 * Marks the metrics that the activities are parts of (model_metric.is_time): CPUTIME and OFFCPU,
 * or REALTIME if CPUTIME was not measured.
 */
void activity_mark_time(struct model *m);
/* Adds a metric for each activity that occurs. False if memory is short. */
bool activity_add_metrics(struct model *m, const bool occurs[MODEL_N_ACTIVITIES]);

#endif
