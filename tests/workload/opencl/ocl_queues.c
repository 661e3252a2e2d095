/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two contexts, parts of a device where it can be divided, and in each of them queues in order and
 * out of it, with and without profiling; commands of one queue wait for those of others, all wait
 * for a user event, and callbacks count what they see. Objects are released while commands that use
 * them are still to run. Prints the results and what the queues look like. Usage: ocl_queues
 * [ROUNDS].
 */
#include "ocl_common.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N 1024
#define LANES 4
#define MAX_DEVICES 3

static const char source[] = "kernel void add(global const uint *from, global uint *to, uint by)\n"
			     "{\n"
			     "	to[get_global_id(0)] += from[get_global_id(0)] + by;\n"
			     "}\n"
			     "\n"
			     "kernel void twice(global uint *a)\n"
			     "{\n"
			     "	a[get_global_id(0)] *= 2;\n"
			     "}\n";

static atomic_uint callbacks, callbacks_with_error;

static void CL_CALLBACK seen(cl_event event, cl_int status, void *data)
{
	(void)event;
	if (status != *(const cl_int *)data)
		atomic_fetch_add(&callbacks_with_error, 1);
	atomic_fetch_add(&callbacks, 1);
}

/* What a round made, until it is known to be done. */
struct made {
	cl_event event[LANES * 3 + 1];
	enum ocl_kind kind[LANES * 3 + 1];
	unsigned n;
};

static cl_event *place(struct made *made, enum ocl_kind kind)
{
	made->kind[made->n] = kind;
	return &made->event[made->n++];
}

/* One round in one out-of-order queue: each lane fills, adds and doubles, lane i waits for lane i -
 * 1, and all wait for the gate. */
static void round_of_lanes(cl_command_queue queue, cl_program program, cl_mem *lane, cl_event gate,
			   struct made *made)
{
	static const cl_int complete = CL_COMPLETE;
	const size_t global = N;
	const cl_uint one = 1;

	for (int i = 0; i < LANES; i++) {
		/* Released at once: the commands keep them. */
		cl_kernel add = ocl_kernel(program, "add"), twice = ocl_kernel(program, "twice");
		const cl_uint by = (cl_uint)i;
		cl_event filled, before[2];

		OCL_DO(OCL_FILL, N * 4,
		       clEnqueueFillBuffer(queue, lane[i], &one, sizeof one, 0, N * 4, 1, &gate,
					   place(made, OCL_FILL)));
		filled = made->event[made->n - 1];
		ocl_must(clSetKernelArg(add, 0, sizeof lane[0], &lane[i > 0 ? i - 1 : 0]),
			 "clSetKernelArg");
		ocl_must(clSetKernelArg(add, 1, sizeof lane[0], &lane[i]), "clSetKernelArg");
		ocl_must(clSetKernelArg(add, 2, sizeof by, &by), "clSetKernelArg");
		before[0] = filled;
		if (i > 0)
			before[1] = made->event[made->n - 2];
		OCL_DO(OCL_KERNEL, 0,
		       clEnqueueNDRangeKernel(queue, add, 1, NULL, &global, NULL, i > 0 ? 2 : 1,
					      before, place(made, OCL_KERNEL)));
		before[0] = made->event[made->n - 1];
		ocl_must(clSetKernelArg(twice, 0, sizeof lane[0], &lane[i]), "clSetKernelArg");
		OCL_DO(OCL_KERNEL, 0,
		       clEnqueueNDRangeKernel(queue, twice, 1, NULL, &global, NULL, 1, before,
					      place(made, OCL_KERNEL)));
		ocl_must(clSetEventCallback(made->event[made->n - 1], CL_COMPLETE, seen,
					    (void *)&complete),
			 "clSetEventCallback");
		clReleaseKernel(add);
		clReleaseKernel(twice);
	}
}

static unsigned sum(cl_command_queue queue, cl_mem buffer)
{
	static cl_uint host[N];
	unsigned total = 0;

	OCL_DO(OCL_READ, sizeof host,
	       clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof host, host, 0, NULL, NULL));
	for (int i = 0; i < N; i++)
		total += host[i];
	return total;
}

static void out_of_order(cl_context context, cl_device_id device, bool profiling, int rounds)
{
	cl_command_queue queue = ocl_queue(context, device,
					   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
						   (profiling ? CL_QUEUE_PROFILING_ENABLE : 0));
	cl_program program = ocl_build(context, device, source, "");
	cl_mem lane[LANES];
	cl_int status;

	ocl_show_queue("out of order", queue);
	for (int i = 0; i < LANES; i++) {
		lane[i] = ocl_buffer(context, CL_MEM_READ_WRITE, N * 4, NULL);
		OCL_DO(OCL_FILL, N * 4,
		       clEnqueueFillBuffer(queue, lane[i], &i, sizeof i, 0, N * 4, 0, NULL, NULL));
	}
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
	for (int r = 0; r < rounds; r++) {
		cl_event gate = clCreateUserEvent(context, &status);
		struct made made = {.n = 0};
		cl_event marker;

		ocl_must(status, "clCreateUserEvent");
		round_of_lanes(queue, program, lane, gate, &made);
		OCL_DO(OCL_MARKER, 0,
		       clEnqueueMarkerWithWaitList(queue, made.n, made.event, &marker));
		*place(&made, OCL_MARKER) = marker;
		OCL_DO(OCL_FLUSH, 0, clFlush(queue));
		ocl_must(clSetUserEventStatus(gate, CL_COMPLETE), "clSetUserEventStatus");
		clReleaseEvent(gate);
		OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &made.event[made.n - 1]));
		for (unsigned i = 0; i < made.n; i++) {
			OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &made.event[i]));
			if (profiling)
				ocl_took(made.event[i], made.kind[i], NULL);
			clReleaseEvent(made.event[i]);
		}
	}
	for (int i = 0; i < LANES; i++) {
		printf("lane %d: %u\n", i, sum(queue, lane[i]));
		clReleaseMemObject(lane[i]);
	}
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
}

/* A chain that goes back and forth between two queues in order, which share events. */
static void two_in_order(cl_context context, cl_device_id device, int rounds)
{
	cl_command_queue queue[2] = {ocl_queue(context, device, 0),
				     ocl_queue(context, device, CL_QUEUE_PROFILING_ENABLE)};
	cl_program program = ocl_build(context, device, source, "-DUNUSED=1");
	cl_kernel twice = ocl_kernel(program, "twice");
	cl_mem buffer = ocl_buffer(context, CL_MEM_READ_WRITE, N * 4, NULL);
	const cl_uint one = 1;
	const size_t global = N;
	cl_event last = NULL;

	ocl_show_queue("in order", queue[0]);
	ocl_show_queue("in order, with times", queue[1]);
	ocl_must(clSetKernelArg(twice, 0, sizeof buffer, &buffer), "clSetKernelArg");
	OCL_DO(OCL_FILL, N * 4,
	       clEnqueueFillBuffer(queue[0], buffer, &one, sizeof one, 0, N * 4, 0, NULL, &last));
	for (int i = 0; i < 2 * (rounds < 8 ? rounds : 8); i++) {
		cl_event next;

		OCL_DO(OCL_KERNEL, 0,
		       clEnqueueNDRangeKernel(queue[(i + 1) % 2], twice, 1, NULL, &global, NULL, 1,
					      &last, &next));
		OCL_DO(OCL_FLUSH, 0, clFlush(queue[(i + 1) % 2]));
		if (i % 2 == 1) {
			OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &last));
			ocl_took(last, OCL_KERNEL, NULL);
		}
		clReleaseEvent(last);
		last = next;
	}
	clReleaseKernel(twice);
	clReleaseProgram(program);
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &last));
	clReleaseEvent(last);
	printf("chain: %u\n", sum(queue[1], buffer));
	clReleaseMemObject(buffer);
	clReleaseCommandQueue(queue[0]);
	clReleaseCommandQueue(queue[1]);
}

/* The device and, where it can be divided, its parts of one compute unit each. */
static unsigned find_devices(const struct ocl *ocl, cl_device_id *devices)
{
	const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
	cl_device_id made[64];
	cl_uint n = 0;

	devices[0] = ocl->device;
	if (clCreateSubDevices(ocl->device, parts, 64, made, &n) != CL_SUCCESS ||
	    n < MAX_DEVICES - 1 || n > 64)
		return 1;
	for (unsigned i = 0; i < MAX_DEVICES - 1; i++)
		devices[1 + i] = made[i];
	for (unsigned i = MAX_DEVICES - 1; i < n; i++)
		clReleaseDevice(made[i]);
	return MAX_DEVICES;
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 20;
	cl_device_id devices[MAX_DEVICES];
	unsigned n_devices;
	struct ocl ocl;

	ocl_open(&ocl);
	n_devices = find_devices(&ocl, devices);
	printf("%u devices\n", n_devices);
	for (unsigned i = 0; i < n_devices; i++) {
		cl_int status;
		cl_context context = clCreateContext(NULL, 1, &devices[i], NULL, NULL, &status);

		ocl_must(status, "clCreateContext");
		out_of_order(context, devices[i], true, rounds);
		out_of_order(context, devices[i], false, rounds);
		two_in_order(context, devices[i], rounds);
		clReleaseContext(context);
	}
	out_of_order(ocl.context, ocl.device, true, rounds);
	for (unsigned i = 1; i < n_devices; i++)
		clReleaseDevice(devices[i]);
	clReleaseContext(ocl.context);
	/* A callback may come a little after the wait for its event. */
	for (int i = 0;
	     i < 2000 && atomic_load(&callbacks) < (2 * n_devices + 1) * LANES * (unsigned)rounds;
	     i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	printf("%u callbacks, %u of them with another status\n", atomic_load(&callbacks),
	       atomic_load(&callbacks_with_error));
	ocl_write_truth();
	return 0;
}
