/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel asked for from two places in the program, once with three times the work, and another
 * kernel from both. Everything is on a profiling queue of its own, so that the sum of kernel times
 * below each place is known: "ns kernel:path_once", "ns kernel:path_thrice". Usage: ocl_paths
 * [ROUNDS].
 */
#include "ocl_common.h"

#include <stdio.h>
#include <stdlib.h>

#define N 4096
#define WORK 400
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static const char source[] = "kernel void work(global float *a, int n)\n"
			     "{\n"
			     "	float x = a[get_global_id(0)];\n"
			     "\n"
			     "	for (int i = 0; i < n; i++)\n"
			     "		x = x * 0.999f + 0.5f;\n"
			     "	a[get_global_id(0)] = x;\n"
			     "}\n"
			     "\n"
			     "kernel void other(global float *a)\n"
			     "{\n"
			     "	a[get_global_id(0)] += 1;\n"
			     "}\n";

static struct ocl ocl;
static cl_command_queue queue;
static cl_kernel work, other;
static cl_mem data;

/* Runs a kernel and waits for it; part is the name under which its time is added up. */
static NOINLINE void launch(cl_kernel kernel, const char *part)
{
	const size_t global = N;
	cl_event event;

	OCL_DO(OCL_KERNEL, 0,
	       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &event));
	ocl_done(event, OCL_KERNEL, part);
}

static NOINLINE void do_work(int n, const char *part)
{
	ocl_must(clSetKernelArg(work, 1, sizeof n, &n), "clSetKernelArg");
	launch(work, part);
	__asm__ volatile("");
}

static NOINLINE void path_once(void)
{
	do_work(WORK, "path_once");
	launch(other, "path_once");
	__asm__ volatile("");
}

static NOINLINE void path_thrice(void)
{
	do_work(3 * WORK, "path_thrice");
	launch(other, "path_thrice");
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 200;
	static float values[N];
	cl_program program;
	double sum = 0;

	ocl_open(&ocl);
	queue = ocl_queue(ocl.context, ocl.device, CL_QUEUE_PROFILING_ENABLE);
	program = ocl_build(ocl.context, ocl.device, source, "");
	work = ocl_kernel(program, "work");
	other = ocl_kernel(program, "other");
	data = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, sizeof values, NULL);
	OCL_DO(OCL_WRITE, sizeof values,
	       clEnqueueWriteBuffer(queue, data, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
	ocl_must(clSetKernelArg(work, 0, sizeof data, &data), "clSetKernelArg");
	ocl_must(clSetKernelArg(other, 0, sizeof data, &data), "clSetKernelArg");
	for (int i = 0; i < rounds; i++) {
		path_once();
		path_thrice();
	}
	OCL_DO(OCL_READ, sizeof values,
	       clEnqueueReadBuffer(queue, data, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL));
	for (int i = 0; i < N; i++)
		sum += (double)values[i];
	printf("sum %.6g\n", sum);
	clReleaseMemObject(data);
	clReleaseKernel(work);
	clReleaseKernel(other);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(ocl.context);
	ocl_write_truth();
	return 0;
}
