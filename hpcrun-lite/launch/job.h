/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which run this process belongs to: what all ranks of one parallel job have in common and no other run has. The measurement
 * directory is shared by it. Not for the measured process. Test: tests/unit/test_launch.c.
 */
#ifndef HPCRUN_LITE_LAUNCH_JOB_H
#define HPCRUN_LITE_LAUNCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_scope {
	JOB_ALONE,   /* one process: shares a directory only with others that run at the same time */
	JOB_SHARED,  /* the identity is that of one parallel run: equal identities share */
	JOB_NODE,    /* the same, but ranks on other nodes cannot know it: common_bytes of it are theirs too */
	JOB_CLAIMED  /* the identity may come back with the next run of the same batch job: a rank that is already there tells them apart */
};

struct job {
	int rank, n_ranks;   /* -1: no process of a parallel job, or not known */
	enum job_scope scope;
	char name[96];       /* for the directory's name: id of the batch job (and step); "" when there is none; only [A-Za-z0-9._-] */
	char identity[1024]; /* one line without control characters */
	size_t common_bytes; /* JOB_NODE */
};

#define JOB_ALONE_MARK " alone " /* in the identity of a run of JOB_ALONE */

/* When a process of this host started, in clock ticks since boot. False: there is none. */
bool job_process_start(long pid, uint64_t *ticks);

/* From the environment and, where it says nothing that is unique, from the processes that started us. Cannot fail. */
void job_find(char *const *environment, struct job *job);

#endif
