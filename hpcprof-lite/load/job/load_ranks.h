/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of jobs that MPI_Comm_spawn started. Each job counts its ranks from 0, but a report needs a
 * distinct number for each process. So the ranks of a spawned job continue after the ranks of
 * earlier jobs. No other file knows about this; after this step, ranks are unique. Test:
 * tests/unit/prof/test_load.c.
 */
#ifndef HPCPROF_LITE_LOAD_JOB_LOAD_RANKS_H
#define HPCPROF_LITE_LOAD_JOB_LOAD_RANKS_H

#include "hpcprof-lite/load/job/load_job.h"

/*
 * Sets rank and spawned_job of all files. Jobs are numbered in the order in which they started. The
 * order of the files does not matter. False if memory is short.
 */
bool load_rank_files(struct load_job *job);

/* True if both files belong to the same job. */
static inline bool load_is_same_job(const struct msr_header *a, const struct msr_header *b)
{
	return a->job_id == b->job_id && a->job_host_id == b->job_host_id &&
	       a->job_pid == b->job_pid;
}

#endif
