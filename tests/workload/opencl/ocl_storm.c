/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Very many tiny kernels from several threads, each with a queue of its own, all on one kernel of
 * one program. Usage: ocl_storm THREADS KERNELS [times | loose]. times (default): every command has
 * an event and a profiling queue, and its time is added up. loose: the queues know no times; a
 * third of the commands have no event, a third's is released at once, a third's when something
 * later is done; queues, buffers and kernels are released before their commands are done. Prints a
 * sum that tells whether all of them ran.
 */
#include "ocl_common.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP 16
#define BATCH 64
#define MAX_THREADS 64

static const char source[] = "kernel void count(global uint *a)\n"
			     "{\n"
			     "	a[get_global_id(0)]++;\n"
			     "}\n";

static struct ocl ocl;
static cl_program program;
static long n_kernels;
static bool loose;

struct worker {
	pthread_t thread;
	unsigned long sum;
};

static void __attribute__((noinline))
enqueue(cl_command_queue queue, cl_kernel kernel, cl_event *event)
{
	const size_t global = GROUP;

	OCL_DO(OCL_KERNEL, 0,
	       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &global, 0, NULL, event));
}

static void with_times(cl_command_queue queue, cl_kernel kernel)
{
	cl_event event[BATCH];

	for (long done = 0; done < n_kernels;) {
		const long n = n_kernels - done < BATCH ? n_kernels - done : BATCH;

		for (long i = 0; i < n; i++)
			enqueue(queue, kernel, &event[i]);
		OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &event[n - 1]));
		/* In another order than they were made. */
		for (long i = 0; i < n; i++)
			ocl_done(event[(i * 37 + 11) % n], OCL_KERNEL, NULL);
		done += n;
	}
}

static void without_times(cl_command_queue queue, cl_kernel kernel)
{
	cl_event kept = NULL;

	for (long i = 0; i < n_kernels; i++) {
		cl_event event = NULL;

		enqueue(queue, kernel, i % 3 == 0 ? NULL : &event);
		if (i % 3 == 1)
			clReleaseEvent(event);
		if (i % 3 == 2) {
			if (kept)
				clReleaseEvent(kept);
			kept = event;
		}
		if (i % 1024 == 1023)
			OCL_DO(OCL_FINISH, 0, clFinish(queue));
	}
	if (kept)
		clReleaseEvent(kept);
}

static void *work(void *argument)
{
	struct worker *me = argument;
	cl_command_queue queue =
		ocl_queue(ocl.context, ocl.device, loose ? 0 : CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue reader = ocl_queue(ocl.context, ocl.device, 0);
	cl_mem buffer = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, GROUP * 4, NULL);
	cl_kernel kernel = ocl_kernel(program, "count");
	cl_uint host[GROUP] = {0};
	cl_event last;

	OCL_DO(OCL_WRITE, sizeof host,
	       clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
	ocl_must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
	if (loose)
		without_times(queue, kernel);
	else
		with_times(queue, kernel);
	OCL_DO(OCL_MARKER, 0, clEnqueueMarkerWithWaitList(queue, 0, NULL, &last));
	clReleaseKernel(kernel);
	OCL_DO(OCL_FLUSH, 0, clFlush(queue));
	clReleaseCommandQueue(queue);
	OCL_DO(OCL_READ, sizeof host,
	       clEnqueueReadBuffer(reader, buffer, CL_TRUE, 0, sizeof host, host, 1, &last, NULL));
	clReleaseEvent(last);
	clReleaseMemObject(buffer);
	clReleaseCommandQueue(reader);
	for (int i = 0; i < GROUP; i++)
		me->sum += host[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const int n_threads = argc > 1 ? atoi(argv[1]) : 4;
	static struct worker workers[MAX_THREADS];
	unsigned long sum = 0;

	n_kernels = argc > 2 ? atol(argv[2]) : 5000;
	loose = argc > 3 && strcmp(argv[3], "loose") == 0;
	if (n_threads < 1 || n_threads > MAX_THREADS || n_kernels < 1) {
		fprintf(stderr, "usage: ocl_storm THREADS KERNELS [times | loose]\n");
		return 2;
	}
	ocl_open(&ocl);
	program = ocl_build(ocl.context, ocl.device, source, "");
	for (int i = 0; i < n_threads; i++) {
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			fprintf(stderr, "ocl_storm: cannot make a thread\n");
			return 1;
		}
	}
	for (int i = 0; i < n_threads; i++) {
		pthread_join(workers[i].thread, NULL);
		sum += workers[i].sum;
	}
	printf("%d threads, %ld kernels each: %lu of %lu\n", n_threads, n_kernels, sum,
	       (unsigned long)n_threads * (unsigned long)n_kernels * GROUP);
	clReleaseProgram(program);
	clReleaseContext(ocl.context);
	ocl_write_truth();
	return 0;
}
