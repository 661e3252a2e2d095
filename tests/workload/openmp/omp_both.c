/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a parallel region that opens a library with another, which may be for another run
 * time. Usage: omp_both LIBRARY [ROUNDS]. The library is made from this file too, with -DPLUGIN;
 * Python opens it as well. Used by tests/cli/openmp/omp_tools.sh.
 */
#include "omp_truth.h"

#include <omp.h>

#ifdef PLUGIN

NOINLINE static void plugin_work(int row)
{
	truth_burn(row, 1);
}

int plugin_run(int rounds)
{
	int n_threads = 0;

	truth_start();
	for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(2) reduction(+ : n_threads)
		{
			plugin_work(omp_get_thread_num());
			n_threads++;
		}
	}
	return n_threads;
}

#else

#include <dlfcn.h>

NOINLINE static void program_work(int row)
{
	truth_burn(row, 1);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 2 ? atoi(argv[2]) : 50;
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*run)(int) = library ? (int (*)(int))dlsym(library, "plugin_run") : NULL;
	int n_threads = 0;

	if (!run) {
		fprintf(stderr, "usage: %s LIBRARY [ROUNDS]: %s\n", argv[0], dlerror());
		return 2;
	}
	truth_start();
	for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(2) reduction(+ : n_threads)
		{
			program_work(omp_get_thread_num());
			n_threads++;
		}
		n_threads += run(1);
	}
	printf("threads %d\n", n_threads);
	return 0;
}

#endif
