/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a job that run on this node, for --attach-job: from what their launcher has left in
 * their environment. Test: tests/cli/attach/attach_job.sh.
 */
#ifndef HPCRUN_LITE_LAUNCH_ATTACH_JOB_H
#define HPCRUN_LITE_LAUNCH_ATTACH_JOB_H

#include "common/base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct attach_rank {
	pid_t pid;
	int32_t rank;
	uint64_t group;     /* step of Slurm, and whether another job spawned it: ranks are apart */
	uint64_t cpu_ticks; /* that it has used */
};

/*
 * Finds the ranks of a job of Slurm, by its id, or the descendants of a launcher (mpirun, srun, a
 * batch script), by its process id. Of several processes of one rank, a script and its program, the
 * one counts that has used most CPU time. The caller frees *ranks, sorted by rank. Logs why there
 * are none.
 */
enum status attach_job_find(const char *job, struct attach_rank **ranks, size_t *n);

#endif
