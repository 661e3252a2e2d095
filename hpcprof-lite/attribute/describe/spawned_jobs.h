/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that MPI_Comm_spawn started: who spawned them, and how many of their processes were not
 * measured. Test: tests/unit/prof/test_children.c, tests/cli/mpi/mpi_spawn.sh.
 */
#ifndef HPCPROF_ATTRIBUTE_DESCRIBE_SPAWNED_JOBS_H
#define HPCPROF_ATTRIBUTE_DESCRIBE_SPAWNED_JOBS_H

#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/model.h"

/*
 * Adds a note to the first process of each job. Adds programs that were started but left no
 * measurement to m->unmeasured. Call it after children_settle(). False if memory is short.
 */
bool spawned_jobs_describe(struct model *m, const struct load_job *job);

#endif
