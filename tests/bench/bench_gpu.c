/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launch and its operation cost: launches of the vendor that does not exist
 * (tests/workload/gpu/gpu_fake_backend.c) from a stack of given depth. Prints the mean and the
 * median of blocks, in ns a pair, and what is left of it when the program runs without the tool.
 * Usage: bench_gpu LIBRARY DEPTH THREADS [by]; by: a loop of two levels below the deepest frame
 * changes from launch to launch. Driver: bench_gpu.sh.
 */
#include "tests/workload/gpu/gpu_fake.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 400, PAIRS = 500 };

static const struct fake_api *api;
static int depth;
static bool changing;
static __thread double block_ns[BLOCKS];

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

__attribute__((noinline)) static void one(void)
{
	struct gpu_ticket t;
	api->launch(MSR_GPU_KERNEL, 0, 0, &t);
	api->done(&t, 0, 1000, 0);
	__asm__ volatile("");
}

__attribute__((noinline)) static void other(void)
{
	one();
	__asm__ volatile("");
}

__attribute__((noinline)) static void work(void)
{
	for (int b = 0; b < BLOCKS; b++) {
		double start = now_ns();
		for (int i = 0; i < PAIRS; i++)
			if (changing && i % 2)
				other();
			else
				one();
		block_ns[b] = (now_ns() - start) / PAIRS;
	}
}

__attribute__((noinline)) static void down(int n)
{
	if (n > 0)
		down(n - 1);
	else
		work();
	__asm__ volatile("");
}

static int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static void *run(void *median)
{
	down(depth);
	qsort(block_ns, BLOCKS, sizeof *block_ns, by_value);
	*(double *)median = block_ns[BLOCKS / 2];
	return NULL;
}

int main(int argc, char **argv)
{
	double median[64], sum = 0;
	pthread_t thread[64];
	void *library = argc > 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	api = library ? dlsym(library, FAKE_SYMBOL) : NULL;
	if (!api)
		return 2;
	depth = atoi(argv[2]);
	int n = atoi(argv[3]);
	changing = argc > 4;
	bool measured = api->enter("fake");
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run, &median[i]) != 0)
			return 2;
	for (int i = 0; i < n; i++) {
		pthread_join(thread[i], NULL);
		sum += median[i];
	}
	printf("%s %.1f\n", measured ? "measured" : "alone", sum / n);
	return 0;
}
