/* SPDX-License-Identifier: BSD-3-Clause */
/* A library for run_life: opened and closed while running (plugin_run), or, built with
 * RUN_CONSTRUCTOR, one that starts a thread, and works, before main, and in each child of fork. */
#include <pthread.h>
#include <time.h>

void plugin_run(double seconds);

__attribute__((noinline)) void plugin_run(double seconds)
{
	struct timespec t;
	double start = -1, now;
	volatile double x = 0;
	do {
		for (int i = 0; i < 100000; i++)
			x = x + i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
		start = start < 0 ? now : start;
	} while (now < start + seconds);
}

#ifdef RUN_CONSTRUCTOR
static pthread_t thread;

static void *early(void *unused)
{
	plugin_run(0.3);
	return unused;
}

static void again(void)
{
	pthread_create(&thread, NULL, early, NULL);
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(NULL, NULL, again);
	pthread_create(&thread, NULL, early, NULL);
	plugin_run(0.05); /* called by the dynamic loader, whose entry has no unwind information */
}

__attribute__((destructor)) static void stop(void)
{
	pthread_join(thread, NULL);
}
#endif
