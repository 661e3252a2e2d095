/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel regions and barriers that do nothing: ns each, the fastest of some rounds. Usage:
 * omp_regions [THREADS]. Used by tests/bench/bench_openmp.sh.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000, ROUNDS = 20 };

static double fastest_region_ns(int n_threads)
{
	double fastest_ns = 1e18;

	for (int round = 0; round < ROUNDS; round++) {
		const double start = omp_get_wtime();

		for (int i = 0; i < N; i++) {
#pragma omp parallel num_threads(n_threads)
			__asm__ volatile("");
		}
		const double ns = (omp_get_wtime() - start) * 1e9 / N;
		fastest_ns = ns < fastest_ns ? ns : fastest_ns;
	}
	return fastest_ns;
}

static double fastest_barrier_ns(int n_threads)
{
	double fastest_ns = 1e18;

	for (int round = 0; round < ROUNDS; round++) {
		const double start = omp_get_wtime();

#pragma omp parallel num_threads(n_threads)
		for (int i = 0; i < N; i++) {
#pragma omp barrier
		}
		const double ns = (omp_get_wtime() - start) * 1e9 / N;
		fastest_ns = ns < fastest_ns ? ns : fastest_ns;
	}
	return fastest_ns;
}

int main(int argc, char **argv)
{
	const int n_threads = argc > 1 ? atoi(argv[1]) : 2;

	printf("region %.1f\n", fastest_region_ns(n_threads));
	printf("barrier %.1f\n", fastest_barrier_ns(n_threads));
	return 0;
}
