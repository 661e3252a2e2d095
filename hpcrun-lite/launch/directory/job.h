/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the identity of the run that this process belongs to. All ranks of a parallel job have it
 * in common, and no other run has it. Processes of one run share a measurement directory. Not for
 * the measured process. Test: tests/unit/run/test_launch.c.
 */
#ifndef HPCRUN_LITE_LAUNCH_DIRECTORY_JOB_H
#define HPCRUN_LITE_LAUNCH_DIRECTORY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_scope {
	/* one process: shares a directory only with processes that run at the same time */
	JOB_ALONE,
	/* the identity belongs to one parallel run: processes with equal identities share */
	JOB_SHARED,
	/* The same, but ranks on other nodes know only the first common_bytes of the identity. */
	JOB_NODE,
	/*
	 * The next run of the same batch job may have the same identity. A rank that is already
	 * there distinguishes them.
	 */
	JOB_CLAIMED
};

struct job {
	int rank, n_ranks;   /* -1: not a process of a parallel job, or unknown */
	enum job_scope scope;
	/*
	 * For the directory's name: id of the batch job (and step); "" if there is none; only
	 * [A-Za-z0-9._-].
	 */
	char name[96];
	char identity[1024]; /* one line without control characters */
	size_t common_bytes; /* JOB_NODE */
	/*
	 * The process that starts this rank, if it may start ranks again in the same run; else "".
	 * Each host has its own value, which can be part of a file's name.
	 */
	char starter[128];
};

#define JOB_ALONE_MARK " alone " /* part of the identity of a JOB_ALONE run */

/*
 * Sets *ticks to when a process of this host started, in clock ticks since boot. Returns false if
 * there is no such process or it has ended.
 */
bool job_process_start(long pid, uint64_t *ticks);

/*
 * Uses the environment and, if that has nothing unique, the processes that started us. Never fails.
 */
void job_find(char *const *environment, struct job *job);

#endif
