/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with regions, as Python modules are: it brings its own OpenMP run time, which is loaded
 * for it alone. Built once for each run time. See gomp_host.c.
 */
#include <dlfcn.h>
#include <omp.h>

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

/* The library that omp_get_level() is in. */
const char *plugin_run_time(void);
const char *plugin_run_time(void)
{
	Dl_info info;
	return dladdr((void *)omp_get_level, &info) ? info.dli_fname : "?";
}
