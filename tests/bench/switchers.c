/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs for bench_switches.sh. Usage: switchers threads N (makes and joins N threads, prints
 * microseconds for each), switchers regions N (N short parallel regions of OpenMP), switchers
 * compute N (N million additions).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *nothing(void *argument)
{
	return argument;
}

static int threads(int n)
{
	double start = now();
	for (int i = 0; i < n; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, nothing, NULL) != 0 ||
		    pthread_join(thread, NULL) != 0)
			return 1;
	}
	printf("%.2f\n", (now() - start) * 1e6 / n);
	return 0;
}

static int regions(int n)
{
	static double a[20000];
	double sum = 0;
	for (int i = 0; i < n; i++) {
#pragma omp parallel for reduction(+ : sum)
		for (int k = 0; k < 20000; k++) {
			a[k] = a[k] * 0.99 + k;
			sum += a[k];
		}
	}
	printf("%g\n", sum);
	return 0;
}

static int compute(int n)
{
	volatile double x = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 1000000; k++)
			x = x + k;
	return 0;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 1000;
	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		return threads(n);
	if (argc > 1 && strcmp(argv[1], "regions") == 0)
		return regions(n);
	if (argc > 1 && strcmp(argv[1], "compute") == 0)
		return compute(n);
	fputs("usage: switchers threads|regions|compute N\n", stderr);
	return 2;
}
