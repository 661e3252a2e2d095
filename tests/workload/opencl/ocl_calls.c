/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every command of OpenCL 3.0 that asks for work, once with an event and once without, in a queue
 * with or without profiling, in order or out of it. Prints all that a program can see of the queue
 * and of each event, and the data at the end. Usage: ocl_calls [profiling] [out-of-order] [old]
 * ("old": the queue comes from clCreateCommandQueue). What the device cannot do is left out, and
 * that is said.
 */
#include "ocl_common.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 4096
#define SIDE 16

static struct ocl ocl;
static cl_command_queue queue;
static bool profiling;

static const char source[] = "kernel void increment(global uint *a, uint by)\n"
			     "{\n"
			     "	a[get_global_id(0)] += by;\n"
			     "}\n";

/* The command behind the event is waited for, shown, and its time added up. */
static void finish(const char *call, cl_event event, enum ocl_kind kind)
{
	char name[64];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(call, "("), call);
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &event));
	ocl_show_event(name, event);
	if (profiling)
		ocl_took(event, kind, NULL);
	ocl_must(clReleaseEvent(event), "clReleaseEvent");
}

/* A command with an event, and the same again without one. `out` in the call is the place of the
 * event, or NULL. */
#define TWICE(kind, bytes, call) \
	do { \
		cl_event made = NULL, *out = &made; \
		OCL_DO(kind, bytes, call); \
		finish(#call, made, kind); \
		out = NULL; \
		OCL_DO(kind, bytes, call); \
		OCL_DO(OCL_FINISH, 0, clFinish(queue)); \
	} while (0)

static unsigned checksum(const unsigned char *p, size_t n)
{
	unsigned sum = 1;

	for (size_t i = 0; i < n; i++)
		sum = sum * 31 + p[i];
	return sum;
}

/* --- kernels ---------------------------------------------------------------------------------- */

static void kernels(cl_mem buffer)
{
	cl_program program = ocl_build(ocl.context, ocl.device, source, "-cl-std=CL1.2");
	cl_kernel kernel = ocl_kernel(program, "increment");
	const size_t global = BYTES / 4, offset = 0, local = 64;
	const cl_uint by = 3;
	cl_uint references = 0;

	ocl_must(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
	ocl_must(clSetKernelArg(kernel, 1, sizeof by, &by), "clSetKernelArg");
	TWICE(OCL_KERNEL, 0,
	      clEnqueueNDRangeKernel(queue, kernel, 1, &offset, &global, &local, 0, NULL, out));
	TWICE(OCL_KERNEL, 0,
	      clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, out));
	TWICE(OCL_KERNEL, 0, clEnqueueTask(queue, kernel, 0, NULL, out));
	ocl_must(clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof references, &references,
				 NULL),
		 "clGetKernelInfo");
	printf("kernel: references %u\n", references);
	ocl_must(clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof references,
				  &references, NULL),
		 "clGetProgramInfo");
	printf("program: references %u\n", references);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
}

static void CL_CALLBACK native(void *arguments)
{
	unsigned char *p = *(unsigned char **)arguments;

	for (int i = 0; i < 64; i++)
		p[i] ^= 0x55;
}

static void native_kernels(cl_mem buffer)
{
	cl_device_exec_capabilities can = 0;
	void *arguments[1] = {NULL};
	const void *place = arguments;

	clGetDeviceInfo(ocl.device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL);
	if (!(can & CL_EXEC_NATIVE_KERNEL)) {
		printf("no native kernels\n");
		return;
	}
	TWICE(OCL_NATIVE, 0,
	      clEnqueueNativeKernel(queue, native, arguments, sizeof arguments, 1, &buffer, &place,
				    0, NULL, out));
}

/* --- buffers ---------------------------------------------------------------------------------- */

static void buffers(cl_mem a, cl_mem b)
{
	static unsigned char host[BYTES];
	const size_t zero[3] = {0, 0, 0}, corner[3] = {8, 2, 0}, box[3] = {32, 4, 1};
	const cl_uchar4 pattern = {{1, 2, 3, 4}};

	for (int i = 0; i < BYTES; i++)
		host[i] = (unsigned char)(i * 7);
	TWICE(OCL_WRITE, BYTES,
	      clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, BYTES, host, 0, NULL, out));
	TWICE(OCL_WRITE, BYTES / 2,
	      clEnqueueWriteBuffer(queue, a, CL_FALSE, BYTES / 2, BYTES / 2, host, 0, NULL, out));
	TWICE(OCL_WRITE, 128,
	      clEnqueueWriteBufferRect(queue, a, CL_TRUE, corner, zero, box, 64, 0, 32, 0, host, 0,
				       NULL, out));
	TWICE(OCL_COPY, BYTES, clEnqueueCopyBuffer(queue, a, b, 0, 0, BYTES, 0, NULL, out));
	TWICE(OCL_COPY, 128,
	      clEnqueueCopyBufferRect(queue, a, b, zero, corner, box, 64, 0, 64, 0, 0, NULL, out));
	TWICE(OCL_FILL, 256,
	      clEnqueueFillBuffer(queue, b, &pattern, sizeof pattern, 1024, 256, 0, NULL, out));
	memset(host, 0, sizeof host);
	TWICE(OCL_READ, BYTES,
	      clEnqueueReadBuffer(queue, b, CL_TRUE, 0, BYTES, host, 0, NULL, out));
	printf("buffer b: %08x\n", checksum(host, sizeof host));
	TWICE(OCL_READ, 128,
	      clEnqueueReadBufferRect(queue, b, CL_FALSE, corner, zero, box, 64, 0, 32, 0, host, 0,
				      NULL, out));
	printf("part of buffer b: %08x\n", checksum(host, 128));
}

static void sub_buffers(cl_mem parent)
{
	const cl_buffer_region region = {1024, 512};
	unsigned char host[512];
	cl_uint references = 0;
	cl_int status;
	cl_mem part = clCreateSubBuffer(parent, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
					&region, &status);

	ocl_must(status, "clCreateSubBuffer");
	memset(host, 0x5a, sizeof host);
	TWICE(OCL_WRITE, sizeof host,
	      clEnqueueWriteBuffer(queue, part, CL_TRUE, 0, sizeof host, host, 0, NULL, out));
	TWICE(OCL_READ, sizeof host,
	      clEnqueueReadBuffer(queue, parent, CL_TRUE, 1024, sizeof host, host, 0, NULL, out));
	printf("part of its parent: %08x\n", checksum(host, sizeof host));
	clReleaseMemObject(part);
	ocl_must(clGetMemObjectInfo(parent, CL_MEM_REFERENCE_COUNT, sizeof references, &references,
				    NULL),
		 "clGetMemObjectInfo");
	printf("parent: references %u\n", references);
}

static void *map_buffer(cl_mem buffer, cl_bool blocking, size_t bytes, cl_event *event)
{
	cl_int status;
	void *p = clEnqueueMapBuffer(queue, buffer, blocking, CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
				     0, NULL, event, &status);

	ocl_must(ocl_counted(status, OCL_MAP, bytes), "clEnqueueMapBuffer");
	return p;
}

static void maps(cl_mem buffer)
{
	cl_event event;
	unsigned char *p = map_buffer(buffer, CL_TRUE, BYTES, &event);

	finish("map", event, OCL_MAP);
	p[0] ^= 1;
	OCL_DO(OCL_UNMAP, BYTES, clEnqueueUnmapMemObject(queue, buffer, p, 0, NULL, &event));
	finish("unmap", event, OCL_UNMAP);
	p = map_buffer(buffer, CL_FALSE, 512, &event);
	finish("map without waiting", event, OCL_MAP);
	printf("first byte %02x\n", p[0]);
	OCL_DO(OCL_UNMAP, 512, clEnqueueUnmapMemObject(queue, buffer, p, 0, NULL, NULL));
	TWICE(OCL_MIGRATE, BYTES,
	      clEnqueueMigrateMemObjects(queue, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL,
					 out));
	TWICE(OCL_MIGRATE, BYTES, clEnqueueMigrateMemObjects(queue, 1, &buffer, 0, 0, NULL, out));
}

/* --- images ----------------------------------------------------------------------------------- */

static cl_mem image(void)
{
	const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
	const cl_image_desc description = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE};
	cl_int status;
	cl_mem made =
		clCreateImage(ocl.context, CL_MEM_READ_WRITE, &format, &description, NULL, &status);

	ocl_must(ocl_counted(status, OCL_CREATE, SIDE * SIDE * 4), "clCreateImage");
	return made;
}

static void images(cl_mem buffer)
{
	static unsigned char host[SIDE * SIDE * 4];
	const size_t zero[3] = {0, 0, 0}, all[3] = {SIDE, SIDE, 1};
	const size_t bytes = sizeof host;
	const cl_uint colour[4] = {9, 8, 7, 6};
	cl_bool can = CL_FALSE;
	cl_mem a, b;
	size_t pitch = 0;
	cl_event event;
	cl_int status;
	void *p;

	clGetDeviceInfo(ocl.device, CL_DEVICE_IMAGE_SUPPORT, sizeof can, &can, NULL);
	if (!can) {
		printf("no images\n");
		return;
	}
	a = image();
	b = image();
	memset(host, 0x21, bytes);
	TWICE(OCL_WRITE, bytes,
	      clEnqueueWriteImage(queue, a, CL_TRUE, zero, all, 0, 0, host, 0, NULL, out));
	TWICE(OCL_COPY, bytes, clEnqueueCopyImage(queue, a, b, zero, zero, all, 0, NULL, out));
	TWICE(OCL_FILL, bytes, clEnqueueFillImage(queue, a, colour, zero, all, 0, NULL, out));
	TWICE(OCL_COPY, bytes,
	      clEnqueueCopyImageToBuffer(queue, a, buffer, zero, all, 0, 0, NULL, out));
	TWICE(OCL_COPY, bytes,
	      clEnqueueCopyBufferToImage(queue, buffer, b, 0, zero, all, 0, NULL, out));
	TWICE(OCL_READ, bytes,
	      clEnqueueReadImage(queue, b, CL_TRUE, zero, all, 0, 0, host, 0, NULL, out));
	printf("image b: %08x\n", checksum(host, bytes));
	p = clEnqueueMapImage(queue, b, CL_TRUE, CL_MAP_READ, zero, all, &pitch, NULL, 0, NULL,
			      &event, &status);
	ocl_must(ocl_counted(status, OCL_MAP, bytes), "clEnqueueMapImage");
	finish("map of an image", event, OCL_MAP);
	printf("rows of %zu bytes\n", pitch);
	OCL_DO(OCL_UNMAP, bytes, clEnqueueUnmapMemObject(queue, b, p, 0, NULL, NULL));
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
	clReleaseMemObject(a);
	clReleaseMemObject(b);
}

/* --- shared virtual memory -------------------------------------------------------------------- */

static void CL_CALLBACK freed(cl_command_queue q, cl_uint n, void *pointers[], void *data)
{
	(void)q;
	for (cl_uint i = 0; i < n; i++)
		clSVMFree(data, pointers[i]);
}

static void shared_memory(void)
{
	cl_device_svm_capabilities can = 0;
	unsigned char *a, *b;
	const cl_uint pattern = 0x01020304;

	clGetDeviceInfo(ocl.device, CL_DEVICE_SVM_CAPABILITIES, sizeof can, &can, NULL);
	if (!(can & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)) {
		printf("no shared virtual memory\n");
		return;
	}
	a = clSVMAlloc(ocl.context, CL_MEM_READ_WRITE, BYTES, 0);
	b = clSVMAlloc(ocl.context, CL_MEM_READ_WRITE, BYTES, 0);
	ocl_must(ocl_counted(a ? CL_SUCCESS : CL_OUT_OF_RESOURCES, OCL_CREATE, BYTES),
		 "clSVMAlloc");
	ocl_must(ocl_counted(b ? CL_SUCCESS : CL_OUT_OF_RESOURCES, OCL_CREATE, BYTES),
		 "clSVMAlloc");
	TWICE(OCL_FILL, BYTES,
	      clEnqueueSVMMemFill(queue, a, &pattern, sizeof pattern, BYTES, 0, NULL, out));
	TWICE(OCL_SVM_COPY, BYTES, clEnqueueSVMMemcpy(queue, CL_TRUE, b, a, BYTES, 0, NULL, out));
	for (int i = 0; i < 2; i++) {
		cl_event mapped = NULL, unmapped = NULL;

		OCL_DO(OCL_MAP, BYTES,
		       clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, b, BYTES, 0, NULL,
				       i == 0 ? &mapped : NULL));
		printf("shared: %08x\n", checksum(b, BYTES));
		OCL_DO(OCL_UNMAP, 0,
		       clEnqueueSVMUnmap(queue, b, 0, NULL, i == 0 ? &unmapped : NULL));
		OCL_DO(OCL_FINISH, 0, clFinish(queue));
		if (i == 0) {
			finish("map of shared memory", mapped, OCL_MAP);
			finish("unmap of shared memory", unmapped, OCL_UNMAP);
		}
	}
	if (ocl_version(&ocl) >= 201) {
		const void *pointers[1] = {a};
		const size_t sizes[1] = {BYTES};

		TWICE(OCL_MIGRATE, BYTES,
		      clEnqueueSVMMigrateMem(queue, 1, pointers, sizes, 0, 0, NULL, out));
	}
	{
		void *first[1] = {a}, *second[1] = {b};

		TWICE(OCL_SVM_FREE, 0,
		      clEnqueueSVMFree(queue, 1, out ? first : second, freed, ocl.context, 0, NULL,
				       out));
	}
}

/* --- order ------------------------------------------------------------------------------------ */

static void markers(cl_mem buffer)
{
	static unsigned char host[64];
	cl_event before[2];

	for (int i = 0; i < 2; i++)
		OCL_DO(OCL_WRITE, 64,
		       clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 64 * (size_t)i, 64, host, 0,
					    NULL, &before[i]));
	TWICE(OCL_MARKER, 0, clEnqueueMarkerWithWaitList(queue, 2, before, out));
	TWICE(OCL_MARKER, 0, clEnqueueMarkerWithWaitList(queue, 0, NULL, out));
	TWICE(OCL_MARKER, 0, clEnqueueBarrierWithWaitList(queue, 1, before, out));
	TWICE(OCL_MARKER, 0, clEnqueueBarrierWithWaitList(queue, 0, NULL, out));
	OCL_DO(OCL_MARKER, 0, clEnqueueBarrier(queue));
	/* PoCL 3.1 ends the program there. */
	if (!ocl_is_pocl(&ocl))
		OCL_DO(OCL_MARKER, 0, clEnqueueWaitForEvents(queue, 2, before));
	{
		cl_event marker;

		OCL_DO(OCL_MARKER, 0, clEnqueueMarker(queue, &marker));
		finish("old marker", marker, OCL_MARKER);
	}
	OCL_DO(OCL_FLUSH, 0, clFlush(queue));
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(2, before));
	for (int i = 0; i < 2; i++) {
		if (profiling)
			ocl_took(before[i], OCL_WRITE, NULL);
		clReleaseEvent(before[i]);
	}
}

int main(int argc, char **argv)
{
	cl_command_queue_properties properties = 0;
	bool old = false;
	cl_uint references = 0;
	cl_int status;
	cl_mem a, b;

	for (int i = 1; i < argc; i++) {
		profiling = profiling || strcmp(argv[i], "profiling") == 0;
		old = old || strcmp(argv[i], "old") == 0;
		if (strcmp(argv[i], "out-of-order") == 0)
			properties |= CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	}
	properties |= profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
	ocl_open(&ocl);
	if (old) {
		queue = clCreateCommandQueue(ocl.context, ocl.device, properties, &status);
		ocl_must(status, "clCreateCommandQueue");
	} else {
		queue = ocl_queue(ocl.context, ocl.device, properties);
	}
	ocl_show_queue("queue at the beginning", queue);
	a = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, BYTES, NULL);
	b = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, BYTES, NULL);
	buffers(a, b);
	sub_buffers(a);
	maps(a);
	kernels(a);
	native_kernels(a);
	images(b);
	shared_memory();
	markers(a);
	OCL_DO(OCL_FINISH, 0, clFinish(queue));
	ocl_show_queue("queue at the end", queue);
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseCommandQueue(queue);
	ocl_must(clGetContextInfo(ocl.context, CL_CONTEXT_REFERENCE_COUNT, sizeof references,
				  &references, NULL),
		 "clGetContextInfo");
	printf("context: references %u\n", references);
	clReleaseContext(ocl.context);
	ocl_write_truth();
	return 0;
}
