/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the OpenCL workloads share: a device, and a count of their own of all they ask of it, which
 * the tests hold against what the tool says.
 *
 * Standard output holds nothing but what is the same in every run, so that runs with and without
 * the tool can be compared byte for byte. What differs from run to run goes to the file that the
 * environment variable OCL_TRUTH names, appended at the end of the process, a line each:
 *
 *	count KIND N      commands of this kind that OpenCL accepted
 *	bytes KIND N      what they moved
 *	ns KIND N         the sum of end less start as the program's own profiling queues say
 *	ns KIND:NAME N    the same, for a part that the workload names
 *
 * A workload that finds no device says so and ends with status 77. What should work and fails ends
 * the program with status 1 and a message.
 */
#ifndef OCL_COMMON_H
#define OCL_COMMON_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdint.h>

enum ocl_kind {
	OCL_KERNEL,
	OCL_NATIVE,    /* native kernels */
	OCL_WRITE,     /* host to device */
	OCL_READ,      /* device to host */
	OCL_COPY,      /* device to device */
	OCL_MAP,
	OCL_UNMAP,
	OCL_MIGRATE,
	OCL_FILL,
	OCL_MARKER,    /* markers, barriers, waits on the device */
	OCL_SVM_COPY,
	OCL_SVM_FREE,
	OCL_FINISH,
	OCL_FLUSH,
	OCL_WAIT,
	OCL_CREATE,    /* memory objects */
	OCL_KINDS
};

struct ocl {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
};

/* The first device there is and a context for it. */
void ocl_open(struct ocl *ocl);
cl_context ocl_context(const struct ocl *ocl);

/* PoCL: what crashes it is left out, and what it alone accepts is asked of it alone. */
int ocl_is_pocl(const struct ocl *ocl);
/* Version of OpenCL that the platform has: 201 is 2.1. Calls of later versions may be missing
 * altogether. */
int ocl_version(const struct ocl *ocl);

/* A queue in order; properties as in clCreateCommandQueue. */
cl_command_queue ocl_queue(cl_context context, cl_device_id device,
			   cl_command_queue_properties properties);
cl_program ocl_build(cl_context context, cl_device_id device, const char *source,
		     const char *options);
cl_kernel ocl_kernel(cl_program program, const char *name);
/* Counted as OCL_CREATE. */
cl_mem ocl_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host);

/* Ends the program unless the status is CL_SUCCESS. */
void ocl_must(cl_int status, const char *what);

/* Counts a call when it succeeded; its value is the status. Any thread. */
cl_int ocl_counted(cl_int status, enum ocl_kind kind, uint64_t bytes);
#define OCL_DO(kind, bytes, call) ocl_must(ocl_counted((call), (kind), (bytes)), #call)

/* Adds what a finished event of a profiling queue took to the kind and, unless part is NULL, to the
 * part of that name (a constant string). Does not release. Any thread. */
void ocl_took(cl_event event, enum ocl_kind kind, const char *part);
/* The same, and releases the event. */
void ocl_done(cl_event event, enum ocl_kind kind, const char *part);

/* Writes the truth; called at the end of main, and by whoever ends the process otherwise. */
void ocl_write_truth(void);

/* Prints what a program can see of an object: reference counts, properties, and for events the
 * answers of clGetEventProfilingInfo. name is what is printed in front. */
void ocl_show_queue(const char *name, cl_command_queue queue);
void ocl_show_event(const char *name, cl_event event);
void ocl_show_references(const char *name, cl_event event);

#endif
