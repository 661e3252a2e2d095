/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses what parents recorded about their children: how processes ended that could not record it
 * themselves, and which programs were not measured, with their CPU time. Test:
 * tests/unit/prof/test_children.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_DESCRIBE_CHILD_PROCESSES_H
#define HPCPROF_LITE_ATTRIBUTE_DESCRIBE_CHILD_PROCESSES_H

#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

/* m->processes must be set, in the order of the files. False if memory is short. */
bool children_settle(struct model *m, const struct load_job *job);

#endif
