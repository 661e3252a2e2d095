/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to ask for a tiny kernel from the bottom of a stack of given depth, in a queue with
 * profiling: prints the median over batches of the CPU time of the thread that asks, in ns a
 * command, and the CPU time of the whole process, in ns a command, all of it included. Every
 * command has an event, which is released at once; with "times" the program itself reads start and
 * end of each when a batch is done, as anybody must who wants to know them, and that is counted
 * too. Usage: bench_enqueue DEPTH BATCHES [times]. Driver: bench_enqueue.sh.
 */
#include "tests/workload/opencl/ocl_common.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 1000
#define MAX_BATCHES 10000

static const char source[] = "kernel void nothing(global uint *a)\n"
			     "{\n"
			     "	a[get_global_id(0)] = 1;\n"
			     "}\n";

static struct ocl ocl;
static cl_command_queue queue;
static cl_kernel kernel;
static uint64_t took[MAX_BATCHES];
static cl_event events[BATCH];
static int with_times;

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void batch(void)
{
	const size_t global = 1;

	for (int i = 0; i < BATCH; i++) {
		ocl_must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &global, 0, NULL,
						&events[i]),
			 "clEnqueueNDRangeKernel");
		if (!with_times)
			clReleaseEvent(events[i]);
	}
}

static __attribute__((noinline)) void read_times(void)
{
	for (int i = 0; i < BATCH && with_times; i++)
		ocl_done(events[i], OCL_KERNEL, NULL);
}

static void batches(int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);

		batch();
		took[i] = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before;
		ocl_must(clFinish(queue), "clFinish");
		before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
		read_times();
		took[i] += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before;
	}
}

static __attribute__((noinline)) void descend(int depth, int n)
{
	if (depth > 0)
		descend(depth - 1, n);
	else
		batches(n);
	__asm__ volatile("" ::: "memory");
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const int depth = argc > 1 ? atoi(argv[1]) : 25;
	const int n = argc > 2 ? atoi(argv[2]) : 100;
	uint64_t all;
	cl_mem buffer;

	if (depth < 1 || n < 1 || n > MAX_BATCHES) {
		fprintf(stderr, "usage: bench_enqueue DEPTH BATCHES [times]\n");
		return 2;
	}
	with_times = argc > 3;
	ocl_open(&ocl);
	queue = ocl_queue(ocl.context, ocl.device, CL_QUEUE_PROFILING_ENABLE);
	kernel = ocl_kernel(ocl_build(ocl.context, ocl.device, source, ""), "nothing");
	buffer = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, 4, NULL);
	ocl_must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
	/* Compiled, warm. */
	batch();
	ocl_must(clFinish(queue), "clFinish");
	read_times();
	all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	descend(depth, n);
	all = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - all;
	qsort(took, (size_t)n, sizeof *took, by_size);
	printf("%.1f %.1f\n", (double)took[n / 2] / BATCH, (double)all / n / BATCH);
	return 0;
}
