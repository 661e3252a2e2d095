/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenCL workloads' device, counts and eyes. See ocl_common.h.
 */
#include "ocl_common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_PARTS 64
#define SETTLED 5 /* times in a row, a millisecond apart */

static const char *const kind_names[OCL_KINDS] = {
	"kernel", "native", "write",    "read",     "copy",   "map",   "unmap", "migrate",
	"fill",   "marker", "svm-copy", "svm-free", "finish", "flush", "wait",  "create",
};

static struct {
	_Atomic uint64_t count, bytes, ns, events;
} truth[OCL_KINDS];

static struct {
	enum ocl_kind kind;
	const char *name;
	uint64_t ns;
} parts[MAX_PARTS];
static unsigned n_parts;
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;

void ocl_must(cl_int status, const char *what)
{
	if (status != CL_SUCCESS) {
		fprintf(stderr, "%s: OpenCL error %d\n", what, (int)status);
		exit(1);
	}
}

cl_int ocl_counted(cl_int status, enum ocl_kind kind, uint64_t bytes)
{
	if (status == CL_SUCCESS) {
		atomic_fetch_add_explicit(&truth[kind].count, 1, memory_order_relaxed);
		atomic_fetch_add_explicit(&truth[kind].bytes, bytes, memory_order_relaxed);
	}
	return status;
}

static void add_to_part(enum ocl_kind kind, const char *name, uint64_t ns)
{
	unsigned i = 0;

	pthread_mutex_lock(&parts_lock);
	while (i < n_parts && (parts[i].kind != kind || strcmp(parts[i].name, name) != 0))
		i++;
	if (i == n_parts) {
		if (n_parts == MAX_PARTS) {
			fprintf(stderr, "too many parts\n");
			exit(1);
		}
		parts[i].kind = kind;
		parts[i].name = name;
		n_parts++;
	}
	parts[i].ns += ns;
	pthread_mutex_unlock(&parts_lock);
}

void ocl_took(cl_event event, enum ocl_kind kind, const char *part)
{
	cl_ulong start, end;

	ocl_must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start,
					 NULL),
		 "clGetEventProfilingInfo, start");
	ocl_must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL),
		 "clGetEventProfilingInfo, end");
	atomic_fetch_add_explicit(&truth[kind].ns, end - start, memory_order_relaxed);
	atomic_fetch_add_explicit(&truth[kind].events, 1, memory_order_relaxed);
	if (part)
		add_to_part(kind, part, end - start);
}

void ocl_done(cl_event event, enum ocl_kind kind, const char *part)
{
	ocl_took(event, kind, part);
	ocl_must(clReleaseEvent(event), "clReleaseEvent");
}

void ocl_write_truth(void)
{
	const char *path = getenv("OCL_TRUTH");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (!file)
		return;
	for (int i = 0; i < OCL_KINDS; i++) {
		if (truth[i].count > 0)
			fprintf(file, "count %s %llu\nbytes %s %llu\n", kind_names[i],
				(unsigned long long)truth[i].count, kind_names[i],
				(unsigned long long)truth[i].bytes);
		if (truth[i].events > 0)
			fprintf(file, "ns %s %llu\nevents %s %llu\n", kind_names[i],
				(unsigned long long)truth[i].ns, kind_names[i],
				(unsigned long long)truth[i].events);
	}
	for (unsigned i = 0; i < n_parts; i++)
		fprintf(file, "ns %s:%s %llu\n", kind_names[parts[i].kind], parts[i].name,
			(unsigned long long)parts[i].ns);
	fclose(file);
}

/* --- objects ---------------------------------------------------------------------------------- */

void ocl_open(struct ocl *ocl)
{
	cl_uint n = 0;

	if (clGetPlatformIDs(1, &ocl->platform, &n) != CL_SUCCESS || n == 0 ||
	    clGetDeviceIDs(ocl->platform, CL_DEVICE_TYPE_ALL, 1, &ocl->device, &n) != CL_SUCCESS ||
	    n == 0) {
		fprintf(stderr, "no OpenCL device here\n");
		exit(77);
	}
	ocl->context = ocl_context(ocl);
}

cl_context ocl_context(const struct ocl *ocl)
{
	const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
						    (cl_context_properties)ocl->platform, 0};
	cl_int status;
	cl_context context = clCreateContext(properties, 1, &ocl->device, NULL, NULL, &status);

	ocl_must(status, "clCreateContext");
	return context;
}

int ocl_is_pocl(const struct ocl *ocl)
{
	char name[256] = "";

	clGetPlatformInfo(ocl->platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
	return strstr(name, "Portable Computing Language") != NULL;
}

int ocl_version(const struct ocl *ocl)
{
	char version[256] = "";
	int major = 0, minor = 0;

	clGetPlatformInfo(ocl->platform, CL_PLATFORM_VERSION, sizeof version - 1, version, NULL);
	return sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 ? 100 * major + minor : 100;
}

cl_command_queue ocl_queue(cl_context context, cl_device_id device,
			   cl_command_queue_properties properties)
{
	const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
	cl_int status;
	cl_command_queue queue = clCreateCommandQueueWithProperties(
		context, device, properties ? list : NULL, &status);

	ocl_must(status, "clCreateCommandQueueWithProperties");
	return queue;
}

cl_program ocl_build(cl_context context, cl_device_id device, const char *source,
		     const char *options)
{
	cl_int status;
	cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &status);

	ocl_must(status, "clCreateProgramWithSource");
	ocl_must(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
	return program;
}

cl_kernel ocl_kernel(cl_program program, const char *name)
{
	cl_int status;
	cl_kernel kernel = clCreateKernel(program, name, &status);

	ocl_must(status, name);
	return kernel;
}

cl_mem ocl_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host)
{
	cl_int status;
	cl_mem buffer = clCreateBuffer(context, flags, bytes, host, &status);

	ocl_must(ocl_counted(status, OCL_CREATE, bytes), "clCreateBuffer");
	return buffer;
}

/* --- what a program sees ---------------------------------------------------------------------- */

void ocl_show_queue(const char *name, cl_command_queue queue)
{
	cl_command_queue_properties properties = 0;
	cl_queue_properties list[16];
	cl_uint references = 0, size = 0;
	size_t n = 0;
	cl_int status;

	status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
				       &n);
	printf("%s: properties %d: %llx in %zu bytes\n", name, (int)status,
	       (unsigned long long)properties, n);
	status = clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof references,
				       &references, NULL);
	printf("%s: references %d: %u\n", name, (int)status, references);
	n = 0;
	memset(list, 0, sizeof list);
	status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, list, &n);
	printf("%s: list of properties %d:", name, (int)status);
	for (size_t i = 0; i < n / sizeof *list; i++)
		printf(" %llx", (unsigned long long)list[i]);
	printf("\n");
	status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, 1, &properties, NULL);
	printf("%s: properties into one byte: %d\n", name, (int)status);
	n = 0;
	status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, 0, NULL, &n);
	printf("%s: size of properties %d: %zu\n", name, (int)status, n);
	status = clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof size, &size, NULL);
	printf("%s: size on the device: %d\n", name, (int)status);
}

/* Whether the times of an event can be had, and whether they are in order; the times themselves
 * differ from run to run. */
static void show_times(const char *name, cl_event event)
{
	static const cl_profiling_info what[] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
		CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
	cl_ulong time[4] = {0};
	size_t n = 0;
	int rising = 1;

	printf("%s: times", name);
	for (int i = 0; i < 4; i++) {
		printf(" %d",
		       (int)clGetEventProfilingInfo(event, what[i], sizeof time[i], &time[i], &n));
		rising = rising && (i == 0 || time[i] >= time[i - 1]);
	}
	printf(" in %zu bytes, %s\n", n, rising ? "in order" : "out of order");
	printf("%s: times asked for badly: %d", name,
	       (int)clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 4, time, NULL));
	printf(" %d\n", (int)clGetEventProfilingInfo(event, 0x7777, sizeof time[0], time, NULL));
}

/* The run time lets go of an event some time after it is complete: asks until the number has been
 * the same for a while. */
static cl_uint settled_references(cl_event event)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	cl_uint references = 0, before = 0;

	for (int same = 0; same < SETTLED; same = references == before ? same + 1 : 0) {
		before = references;
		nanosleep(&pause, NULL);
		ocl_must(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references,
					&references, NULL),
			 "clGetEventInfo");
	}
	return references;
}

void ocl_show_references(const char *name, cl_event event)
{
	printf("%s: references %u\n", name, settled_references(event));
}

void ocl_show_event(const char *name, cl_event event)
{
	cl_command_type type = 0;
	cl_int execution = 99, status;

	status = clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
	printf("%s: type %d: %x\n", name, (int)status, type);
	status = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof execution,
				&execution, NULL);
	printf("%s: execution %d: %d\n", name, (int)status, (int)execution);
	ocl_show_references(name, event);
	show_times(name, event);
}
