/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions with loops of each schedule; prints a sum. With an argument it ends inside of a region,
 * with this status. Used by tests/cli/openmp/omp_schedule.sh.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

enum { N = 4000 };

static volatile double sink;

/* Not inlined: gcc 14 would say that the loop around it belongs to it. */
static NOINLINE double work(long i)
{
	double s = 0;
	for (int k = 0; k < 400; k++)
		s += (double)(i * k % 7);
	sink = s;
	return s;
}

/* Bounds are constants: gcc starts team and loop with one call. */
static NOINLINE void guided_7(double *to)
{
#pragma omp parallel for schedule(guided, 7) num_threads(2)
	for (int i = 0; i < N; i++)
		to[i] = work(i);
}

static NOINLINE double dynamic_16(int n)
{
	double s = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : s) num_threads(2)
	for (int i = 0; i < n; i++)
		s += work(i);
	return s;
}

static NOINLINE double of_runtime(int n)
{
	double s = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : s) num_threads(2)
	for (int i = 0; i < n; i++)
		s += work(i);
	return s;
}

static NOINLINE double unsigned_3(unsigned long long n)
{
	double s = 0;
#pragma omp parallel for schedule(dynamic, 3) reduction(+ : s) num_threads(2)
	for (unsigned long long i = 0; i < n; i++)
		s += work((long)i);
	return s;
}

static NOINLINE double of_static(int n)
{
	double s = 0;
#pragma omp parallel for schedule(static) reduction(+ : s) num_threads(2)
	for (int i = 0; i < n; i++)
		s += work(i);
	return s;
}

/* Chunks that differ. */
static NOINLINE double two_loops(int n)
{
	double s = 0;
#pragma omp parallel reduction(+ : s) num_threads(2)
	{
#pragma omp for schedule(dynamic, 5) nowait
		for (int i = 0; i < n; i++)
			s += work(i);
#pragma omp for schedule(dynamic, 9)
		for (int i = 0; i < n; i++)
			s += work(i);
	}
	return s;
}

static NOINLINE double mixed(int n)
{
	double s = 0;
#pragma omp parallel reduction(+ : s) num_threads(2)
	{
#pragma omp for schedule(guided) nowait
		for (int i = 0; i < n; i++)
			s += work(i);
#pragma omp for schedule(dynamic, 9)
		for (int i = 0; i < n; i++)
			s += work(i);
	}
	return s;
}

int main(int argc, char **argv)
{
	static double each[N];
	double s = 0;
	for (int i = 0; i < 20; i++) {
		guided_7(each);
		s += each[i] + dynamic_16(N) + of_runtime(N) + unsigned_3(N) + of_static(N) +
		     two_loops(N) + mixed(N);
	}
	printf("%.0f\n", s);
	fflush(stdout);
#pragma omp parallel num_threads(2)
	if (argc > 1 && omp_get_thread_num() == 0)
		exit(atoi(argv[1]));
	return 0;
}
