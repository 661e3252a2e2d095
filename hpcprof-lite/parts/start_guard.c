/* SPDX-License-Identifier: BSD-3-Clause */
/* See start_guard.h. Test: tests/unit/prof_parts/test_start_guard.c. */
#include "hpcprof-lite/parts/start_guard.h"

#include "common/base/log.h"
#include "common/base/status.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* Waits until `seconds` after `begin`. False: the start is over. Call it with the lock held. */
static bool wait_until(struct start_guard *g, const struct timespec *begin, unsigned seconds)
{
	const struct timespec end = {begin->tv_sec + seconds, begin->tv_nsec};
	while (!g->is_over)
		if (pthread_cond_timedwait(&g->changed, &g->lock, &end) == ETIMEDOUT)
			return !g->is_over;
	return false;
}

static void *guard(void *arg)
{
	struct start_guard *g = arg;
	struct timespec begin;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pthread_mutex_lock(&g->lock);
	if (wait_until(g, &begin, g->warn_s))
		log_warn(NULL,
			 "rank %d of %s waits until all ranks have started this program; with "
			 "--no-mpi it would work alone",
			 g->rank, g->launcher);
	if (wait_until(g, &begin, g->limit_s)) {
		log_error(NULL,
			  "rank %d of %s waited %u s for the other ranks; start this program in "
			  "all of them, or with --no-mpi",
			  g->rank, g->launcher, g->limit_s);
		_exit(status_exit_code(STATUS_UNSUPPORTED));
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

void start_guard_begin(struct start_guard *g)
{
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&g->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&g->lock, NULL);
	g->is_over = false;
	g->is_running = pthread_create(&g->thread, NULL, guard, g) == 0;
}

void start_guard_end(struct start_guard *g)
{
	pthread_mutex_lock(&g->lock);
	g->is_over = true;
	pthread_cond_signal(&g->changed);
	pthread_mutex_unlock(&g->lock);
	if (g->is_running)
		pthread_join(g->thread, NULL);
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
}
