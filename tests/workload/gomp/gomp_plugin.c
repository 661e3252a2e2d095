/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with regions, as Python modules are: it brings its own OpenMP run time, which is loaded
 * for it alone. Built once for each run time. See gomp_host.c.
 */
#include <dlfcn.h>
#include <omp.h>
#include <time.h>

/* Runs regions and returns how many threads saw what they should. */
int plugin_run(int rounds);
int plugin_run(int rounds)
{
	int n_right = 0;
	for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(3)
		{
			if (omp_get_num_threads() == 3 && omp_get_level() == 1)
#pragma omp atomic
				n_right++;
/* no data of its own, so gcc makes a tail call */
#pragma omp parallel num_threads(1)
			if (omp_get_level() == 2)
#pragma omp atomic
				n_right++;
		}
	}
	return n_right;
}

static __attribute__((noinline)) void plugin_work(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	const long end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
}

/* Works in a region of two threads, for as many ms of CPU time in each. */
int plugin_burn(int ms);
int plugin_burn(int ms)
{
	int n = 0;
#pragma omp parallel num_threads(2)
	{
		plugin_work(ms);
#pragma omp atomic
		n++;
	}
	return n;
}

/* The library that omp_get_level() is in. */
const char *plugin_run_time(void);
const char *plugin_run_time(void)
{
	Dl_info info;
	return dladdr((void *)omp_get_level, &info) ? info.dli_fname : "?";
}
