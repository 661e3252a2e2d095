/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guards the start of MPI. MPI waits for all ranks, without a word and for ever, even if some of
 * them never start this program. The guard is a thread that warns after some seconds, and later
 * ends the process with status 1. Test: tests/unit/prof_parts/test_start_guard.c.
 */
#ifndef HPCPROF_PARTS_START_GUARD_H
#define HPCPROF_PARTS_START_GUARD_H

#include <pthread.h>
#include <stdbool.h>

struct start_guard {
	const char *launcher;
	int rank;
	unsigned warn_s, limit_s; /* after start_guard_begin() */
	/* the guard's own: */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_running, is_over;
};

/* The caller sets the first four members. Guards nothing if memory for a thread is short. */
void start_guard_begin(struct start_guard *g);
/* Call it when all ranks have started. */
void start_guard_end(struct start_guard *g);

#endif
