/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that OpenCL refuses, or that it accepts and cannot do: every error code is printed, with
 * what the call left in its results. Usage: ocl_errors.
 */
#include "ocl_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES 1024

static struct ocl ocl;
static cl_command_queue queue, plain;
static cl_mem buffer;
static cl_kernel kernel;

static const char source[] = "kernel void set(global uint *a, uint value)\n"
			     "{\n"
			     "	a[get_global_id(0)] = value;\n"
			     "}\n";
static const char wrong[] = "kernel void broken(global uint *a)\n"
			    "{\n"
			    "	a[0] = undeclared;\n"
			    "}\n";

/* Prints the code of a call; what succeeds counts as a command of the kind. */
static void code(enum ocl_kind kind, cl_int status, const char *call)
{
	printf("%d: %.*s\n", (int)ocl_counted(status, kind, 0), (int)strcspn(call, "\n"), call);
}
#define CODE(kind, call) code(kind, call, #call)

/* A call whose result is an object: prints the code and whether there is one. */
static void made(const void *object, cl_int status, const char *call)
{
	printf("%d, %s: %s\n", (int)status, object ? "something" : "nothing", call);
}
#define MADE(call) \
	do { \
		cl_int got = 12345; \
		const void *object = (const void *)(call); \
		made(object, got, #call); \
	} while (0)

static void kernels(cl_context other)
{
	const size_t one = 64, odd = 7, huge = (size_t)1 << 40;
	cl_kernel without = ocl_kernel(ocl_build(ocl.context, ocl.device, source, NULL), "set");
	cl_int status;
	cl_event foreign = clCreateUserEvent(other, &status), none = NULL;

	ocl_must(status, "clCreateUserEvent");
	CODE(OCL_KERNEL, clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
	CODE(OCL_KERNEL,
	     clEnqueueNDRangeKernel(queue, without, 1, NULL, &one, NULL, 0, NULL, NULL));
	CODE(OCL_KERNEL, clEnqueueNDRangeKernel(queue, kernel, 0, NULL, &one, NULL, 0, NULL, NULL));
	CODE(OCL_KERNEL, clEnqueueNDRangeKernel(queue, kernel, 4, NULL, &one, NULL, 0, NULL, NULL));
	CODE(OCL_KERNEL, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &odd, 0, NULL, NULL));
	CODE(OCL_KERNEL,
	     clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &huge, &huge, 0, NULL, NULL));
	if (ocl_is_pocl(&ocl))
		CODE(OCL_KERNEL,
		     clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 1, &none, NULL));
	CODE(OCL_KERNEL,
	     clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, &foreign, NULL));
	CODE(OCL_KERNEL,
	     clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 1, &foreign, NULL));
	CODE(OCL_KERNEL, clEnqueueTask(queue, without, 0, NULL, NULL));
	CODE(OCL_NATIVE, clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
	MADE(clCreateKernel(NULL, "set", &got));
	clSetUserEventStatus(foreign, CL_COMPLETE);
	clReleaseEvent(foreign);
	clReleaseKernel(without);
}

static void buffers(void)
{
	static unsigned char host[BYTES];
	const size_t zero[3] = {0, 0, 0}, box[3] = {0, 1, 1};
	cl_event none = NULL;

	CODE(OCL_WRITE, clEnqueueWriteBuffer(queue, NULL, CL_TRUE, 0, 16, host, 0, NULL, NULL));
	CODE(OCL_WRITE, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 16, NULL, 0, NULL, NULL));
	CODE(OCL_WRITE,
	     clEnqueueWriteBuffer(queue, buffer, CL_TRUE, BYTES, 16, host, 0, NULL, NULL));
	CODE(OCL_READ,
	     clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES + 1, host, 0, NULL, NULL));
	CODE(OCL_READ, clEnqueueReadBuffer(NULL, buffer, CL_TRUE, 0, 16, host, 0, NULL, NULL));
	CODE(OCL_READ, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 16, host, 1, NULL, NULL));
	CODE(OCL_READ, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 16, host, 1, &none, NULL));
	CODE(OCL_READ, clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero, zero, box, 0, 0, 0, 0,
					       host, 0, NULL, NULL));
	CODE(OCL_COPY, clEnqueueCopyBuffer(queue, buffer, buffer, 0, 8, 16, 0, NULL, NULL));
	CODE(OCL_COPY, clEnqueueCopyBuffer(queue, buffer, NULL, 0, 0, 16, 0, NULL, NULL));
	CODE(OCL_FILL, clEnqueueFillBuffer(queue, buffer, host, 3, 0, 24, 0, NULL, NULL));
	/* NVIDIA's library crashes there. */
	if (ocl_is_pocl(&ocl))
		CODE(OCL_FILL, clEnqueueFillBuffer(queue, buffer, NULL, 4, 0, 24, 0, NULL, NULL));
	CODE(OCL_FILL, clEnqueueFillBuffer(queue, buffer, host, 4, 2, 24, 0, NULL, NULL));
	CODE(OCL_UNMAP, clEnqueueUnmapMemObject(queue, buffer, host, 0, NULL, NULL));
	CODE(OCL_MIGRATE, clEnqueueMigrateMemObjects(queue, 0, NULL, 0, 0, NULL, NULL));
	MADE(clEnqueueMapBuffer(queue, NULL, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &got));
	MADE(clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, BYTES, 16, 0, NULL, NULL,
				&got));
	MADE(clCreateBuffer(ocl.context, CL_MEM_READ_WRITE, 0, NULL, &got));
	MADE(clCreateBuffer(ocl.context, CL_MEM_USE_HOST_PTR, 16, NULL, &got));
	MADE(clCreateBuffer(NULL, CL_MEM_READ_WRITE, 16, NULL, &got));
	MADE(clSVMAlloc((got = 0, ocl.context), CL_MEM_READ_WRITE, 0, 0));
}

static void programs(void)
{
	const char *text = wrong;
	char log[4096] = "";
	cl_int status;
	cl_program program;

	MADE(clCreateProgramWithSource(ocl.context, 0, NULL, NULL, &got));
	MADE(clCreateProgramWithSource(NULL, 1, &text, NULL, &got));
	program = clCreateProgramWithSource(ocl.context, 1, &text, NULL, &status);
	ocl_must(status, "clCreateProgramWithSource");
	printf("%d: clBuildProgram\n",
	       (int)clBuildProgram(program, 1, &ocl.device, NULL, NULL, NULL));
	clGetProgramBuildInfo(program, ocl.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
	printf("the log %s the error\n", strstr(log, "undeclared") ? "names" : "does not name");
	MADE(clCreateKernel(program, "broken", &got));
	printf("%d: clReleaseProgram\n", (int)clReleaseProgram(program));
	program = ocl_build(ocl.context, ocl.device, source, "");
	MADE(clCreateKernel(program, "absent", &got));
	printf("%d: clBuildProgram with an unknown option\n",
	       (int)clBuildProgram(program, 1, &ocl.device, "-no-such-option", NULL, NULL));
	clReleaseProgram(program);
}

static void queues(void)
{
	const cl_queue_properties bad[] = {CL_QUEUE_PROPERTIES, (cl_queue_properties)1 << 40, 0},
				  unknown[] = {0x7777, 1, 0};

	MADE(clCreateCommandQueue(NULL, ocl.device, 0, &got));
	MADE(clCreateCommandQueue(ocl.context, NULL, 0, &got));
	MADE(clCreateCommandQueue(ocl.context, ocl.device, (cl_command_queue_properties)1 << 40,
				  &got));
	MADE(clCreateCommandQueueWithProperties(ocl.context, ocl.device, bad, &got));
	MADE(clCreateCommandQueueWithProperties(ocl.context, ocl.device, unknown, &got));
	MADE(clCreateCommandQueueWithProperties(NULL, ocl.device, NULL, &got));
	CODE(OCL_FINISH, clFinish(NULL));
	CODE(OCL_FLUSH, clFlush(NULL));
	printf("%d: clRetainCommandQueue\n", (int)clRetainCommandQueue(NULL));
	printf("%d: clReleaseCommandQueue\n", (int)clReleaseCommandQueue(NULL));
}

static void CL_CALLBACK note(cl_event event, cl_int status, void *data)
{
	(void)event;
	*(volatile cl_int *)data = status;
}

/* A command that waits for an event that fails is never done; it has no times. */
static void events(void)
{
	const size_t one = 64;
	volatile cl_int seen = 99;
	cl_event gate, behind, after, none = NULL;
	cl_int status;

	CODE(OCL_WAIT, clWaitForEvents(0, NULL));
	CODE(OCL_WAIT, clWaitForEvents(1, &none));
	CODE(OCL_MARKER, clEnqueueMarker(queue, NULL));
	MADE(clCreateUserEvent(NULL, &got));
	gate = clCreateUserEvent(ocl.context, &status);
	ocl_must(status, "clCreateUserEvent");
	OCL_DO(OCL_KERNEL, 0,
	       clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 1, &gate, &behind));
	ocl_must(clSetEventCallback(behind, CL_COMPLETE, note, (void *)&seen),
		 "clSetEventCallback");
	OCL_DO(OCL_FLUSH, 0, clFlush(queue));
	ocl_show_references("command that waits", behind);
	ocl_show_references("user event that is waited for", gate);
	printf("%d: clSetUserEventStatus to a positive number\n",
	       (int)clSetUserEventStatus(gate, 5));
	printf("%d: clSetUserEventStatus to an error\n", (int)clSetUserEventStatus(gate, -42));
	printf("%d: clSetUserEventStatus again\n", (int)clSetUserEventStatus(gate, CL_COMPLETE));
	CODE(OCL_WAIT, clWaitForEvents(1, &behind));
	CODE(OCL_WAIT, clWaitForEvents(1, &gate));
	ocl_show_event("behind a failed event", behind);
	ocl_show_event("failed user event", gate);
	for (int i = 0; i < 200 && seen == 99; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	printf("callback saw %s\n", seen < 0 ? "an error" : "no error");
	printf("%d: clSetEventCallback for nothing\n",
	       (int)clSetEventCallback(behind, CL_COMPLETE, NULL, NULL));
	OCL_DO(OCL_KERNEL, 0,
	       clEnqueueNDRangeKernel(plain, kernel, 1, NULL, &one, NULL, 0, NULL, &after));
	CODE(OCL_WAIT, clWaitForEvents(1, &after));
	ocl_show_event("queue without times", after);
	printf("%d: clReleaseEvent\n", (int)clReleaseEvent(NULL));
	clReleaseEvent(after);
	clReleaseEvent(behind);
	clReleaseEvent(gate);
}

int main(void)
{
	const cl_uint value = 7;
	cl_context other;

	/* What was refused before a crash shall be seen. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	ocl_open(&ocl);
	other = ocl_context(&ocl);
	queue = ocl_queue(ocl.context, ocl.device, CL_QUEUE_PROFILING_ENABLE);
	plain = ocl_queue(ocl.context, ocl.device, 0);
	buffer = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, BYTES, NULL);
	kernel = ocl_kernel(ocl_build(ocl.context, ocl.device, source, NULL), "set");
	ocl_must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
	ocl_must(clSetKernelArg(kernel, 1, sizeof value, &value), "clSetKernelArg");
	kernels(other);
	buffers();
	programs();
	queues();
	events();
	ocl_show_queue("queue", queue);
	clReleaseMemObject(buffer);
	clReleaseCommandQueue(plain);
	clReleaseCommandQueue(queue);
	clReleaseContext(other);
	clReleaseContext(ocl.context);
	ocl_write_truth();
	return 3;
}
