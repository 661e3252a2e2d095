/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels, copies and waits in three parts, of which the second is not measured: the program stops
 * its measurement with commands of the first still in the queue, makes a queue and a kernel
 * meanwhile that it uses afterwards, and starts it again. Counts what was asked for while
 * measurement was on. Usage: ocl_stop. Test: tests/cli/opencl/ocl_stop.sh.
 */
#include "hpcrun-lite/api/hpctoolkit.h"
#include "ocl_common.h"

#include <stdbool.h>
#include <stdio.h>

#define N 4096
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

static const char source[] = "kernel void twice(global uint *a) { a[get_global_id(0)] *= 2; }\n"
			     "kernel void thrice(global uint *a) { a[get_global_id(0)] *= 3; }\n";

static cl_uint values[N];

/* A command that is counted where it is measured. */
static void asked(bool counts, cl_int status, enum ocl_kind kind, uint64_t bytes)
{
	ocl_must(counts ? ocl_counted(status, kind, bytes) : status, "a command");
}

static void work(bool counts, cl_command_queue queue, cl_kernel kernel, cl_mem memory)
{
	const size_t global = N;
	cl_event event;
	ocl_must(clSetKernelArg(kernel, 0, sizeof memory, &memory), "clSetKernelArg");
	asked(counts,
	      clEnqueueWriteBuffer(queue, memory, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL),
	      OCL_WRITE, sizeof values);
	for (int i = 0; i < 20; i++)
		asked(counts,
		      clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL,
					     i == 19 ? &event : NULL),
		      OCL_KERNEL, 0);
	ocl_must(clReleaseEvent(event), "clReleaseEvent");
	asked(counts,
	      clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, sizeof values, values, 0, NULL, NULL),
	      OCL_READ, sizeof values);
}

APART static void measured_part(cl_command_queue queue, cl_kernel kernel, cl_mem memory)
{
	work(true, queue, kernel, memory);
	__asm__ volatile("");
}

APART static void other_part(cl_command_queue queue, cl_kernel kernel, cl_mem memory)
{
	work(false, queue, kernel, memory);
	__asm__ volatile("");
}

static cl_uint sum(void)
{
	cl_uint s = 0;
	for (unsigned i = 0; i < N; i++)
		s += values[i];
	return s;
}

int main(void)
{
	struct ocl ocl;
	ocl_open(&ocl);
	cl_command_queue first = ocl_queue(ocl.context, ocl.device, 0);
	cl_program program = ocl_build(ocl.context, ocl.device, source, "");
	cl_kernel twice = ocl_kernel(program, "twice");
	cl_mem memory = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, sizeof values, NULL);
	for (unsigned i = 0; i < N; i++)
		values[i] = i;
	measured_part(first, twice, memory);
	hpctoolkit_sampling_stop();
	cl_command_queue second = ocl_queue(ocl.context, ocl.device, 0);
	cl_kernel thrice = ocl_kernel(program, "thrice");
	ocl_must(clFinish(first), "clFinish");
	other_part(first, thrice, memory);
	ocl_must(clFinish(first), "clFinish");
	hpctoolkit_sampling_start();
	measured_part(second, thrice, memory);
	OCL_DO(OCL_FINISH, 0, clFinish(second));
	printf("sum %u\n", sum());
	ocl_write_truth();
	return 0;
}
