/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake OpenCL implementation; see fake_opencl.h. The fake host is in fake_host.c. */
#include "tests/unit/opencl/fake_opencl.h"

#include <stdlib.h>
#include <string.h>

struct fake fake;

struct _cl_device_id { int dummy; };
struct _cl_platform_id { int dummy; };
struct _cl_context { int n; };
struct _cl_command_queue {
	cl_command_queue_properties properties;
	cl_queue_properties list[8];
	size_t list_bytes;
	_Atomic int n_references;
};
struct _cl_event {
	cl_command_queue queue;
	_Atomic cl_int status;
	_Atomic int n_references;
	uint64_t t[4];
	struct _cl_event *next;
};
struct _cl_kernel { int dummy; };
struct _cl_program { int dummy; };
struct _cl_mem { size_t bytes; _Atomic int n_references; };

static struct _cl_device_id the_device;
static struct _cl_platform_id the_platform;
static struct _cl_context the_context;
static struct _cl_program the_program;
static struct _cl_kernel the_kernel;
/* With fake.reuse, which is for one thread: released and to be given out next. */
static struct _cl_command_queue *last_queue;
static struct _cl_mem *last_mem;
static struct _cl_event *running;
static pthread_mutex_t running_lock = PTHREAD_MUTEX_INITIALIZER;

cl_context fake_context(void) { return &the_context; }
cl_device_id fake_device(void) { return &the_device; }

static cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *bytes_ret)
{
	if (to && room < bytes)
		return CL_INVALID_VALUE;
	if (to && bytes)
		memcpy(to, value, bytes);
	if (bytes_ret)
		*bytes_ret = bytes;
	return CL_SUCCESS;
}
#define ANSWER(value) answer(&(value), sizeof(value), room, to, bytes_ret)
#define ANSWER_TEXT(s) answer(s, strlen(s) + 1, room, to, bytes_ret)

/* ---- platform, device, context ---- */

static cl_int get_platform_info(cl_platform_id p, cl_platform_info what, size_t room, void *to,
				size_t *bytes_ret)
{
	(void)p;
	return what == CL_PLATFORM_NAME ? ANSWER_TEXT(fake.platform) : CL_INVALID_VALUE;
}

static cl_int get_device_ids(cl_platform_id p, cl_device_type type, cl_uint n,
			     cl_device_id *devices, cl_uint *n_ret)
{
	(void)p, (void)type;
	if (n && devices)
		devices[0] = &the_device;
	if (n_ret)
		*n_ret = 1;
	return CL_SUCCESS;
}

static cl_int get_device_info(cl_device_id d, cl_device_info what, size_t room, void *to,
			      size_t *bytes_ret)
{
	static const cl_uint units = 4;
	static const cl_ulong memory = 1 << 30;
	static const cl_device_type type = CL_DEVICE_TYPE_GPU;
	cl_platform_id platform = &the_platform;
	char version[32] = "OpenCL 3.0 fake";
	if (d != &the_device)
		return CL_INVALID_DEVICE;
	version[7] = (char)('0' + fake.version / 10);
	version[9] = (char)('0' + fake.version % 10);
	switch (what) {
	case CL_DEVICE_NAME: return ANSWER_TEXT("made up");
	case CL_DEVICE_VERSION: return ANSWER_TEXT(version);
	case CL_DRIVER_VERSION: return ANSWER_TEXT("1");
	case CL_DEVICE_PLATFORM: return ANSWER(platform);
	case CL_DEVICE_TYPE: return ANSWER(type);
	case CL_DEVICE_MAX_COMPUTE_UNITS: return ANSWER(units);
	case CL_DEVICE_GLOBAL_MEM_SIZE: return ANSWER(memory);
	default: return CL_INVALID_VALUE;
	}
}

static cl_context
create_context(const cl_context_properties *properties, cl_uint n, const cl_device_id *devices,
	       void(CL_CALLBACK *function)(const char *, const void *, size_t, void *), void *data,
	       cl_int *error)
{
	(void)properties, (void)n, (void)devices, (void)function, (void)data;
	if (error)
		*error = CL_SUCCESS;
	return &the_context;
}

static cl_int release_context(cl_context c) { return c ? CL_SUCCESS : CL_INVALID_CONTEXT; }

static cl_int timer(cl_device_id d, cl_ulong *device, cl_ulong *host)
{
	(void)d;
	if (!fake.has_timer)
		return CL_INVALID_OPERATION;
	*host = clock_mono_ns();
	*device = *host + (uint64_t)(fake.clock_offset + fake.timer_offset);
	return CL_SUCCESS;
}

/* ---- queues ---- */

static cl_command_queue new_queue(cl_command_queue_properties properties, cl_int *error)
{
	bool refused = fake.refuses_profiling && (properties & CL_QUEUE_PROFILING_ENABLE);
	if (error)
		*error = refused ? CL_INVALID_QUEUE_PROPERTIES : CL_SUCCESS;
	if (refused)
		return NULL;
	struct _cl_command_queue *q = fake.reuse && last_queue ? last_queue : malloc(sizeof *q);
	if (fake.reuse)
		last_queue = NULL;
	memset(q, 0, sizeof *q);
	q->properties = properties;
	q->n_references = 1;
	return q;
}

static cl_command_queue create_queue(cl_context c, cl_device_id d,
				     cl_command_queue_properties properties, cl_int *error)
{
	(void)c, (void)d;
	return new_queue(properties, error);
}

static cl_command_queue create_queue_with_list(cl_context c, cl_device_id d,
					       const cl_queue_properties *list, cl_int *error)
{
	(void)c, (void)d;
	size_t n = 0;
	cl_command_queue_properties properties = 0;
	for (; list && list[n]; n += 2)
		if (list[n] == CL_QUEUE_PROPERTIES)
			properties = list[n + 1];
	cl_command_queue q = new_queue(properties, error);
	if (q && list) {
		q->list_bytes = (n + 1) * sizeof *list;
		memcpy(q->list, list, q->list_bytes);
	}
	return q;
}

static cl_int release_queue(cl_command_queue q)
{
	if (!q)
		return CL_INVALID_COMMAND_QUEUE;
	if (--q->n_references == 0) {
		if (fake.reuse)
			last_queue = q;
		else
			free(q);
	}
	return CL_SUCCESS;
}

static cl_int get_queue_info(cl_command_queue q, cl_command_queue_info what, size_t room, void *to,
			     size_t *bytes_ret)
{
	cl_device_id device = &the_device;
	cl_context context = &the_context;
	if (!q)
		return CL_INVALID_COMMAND_QUEUE;
	cl_uint n = (cl_uint)q->n_references;
	switch (what) {
	case CL_QUEUE_DEVICE: return ANSWER(device);
	case CL_QUEUE_CONTEXT: return ANSWER(context);
	case CL_QUEUE_PROPERTIES: return ANSWER(q->properties);
	case CL_QUEUE_REFERENCE_COUNT: return ANSWER(n);
	case CL_QUEUE_PROPERTIES_ARRAY: return answer(q->list, q->list_bytes, room, to, bytes_ret);
	default: return CL_INVALID_VALUE;
	}
}

static cl_int set_queue_property(cl_command_queue q, cl_command_queue_properties properties,
				 cl_bool enable, cl_command_queue_properties *old)
{
	if (old)
		*old = q->properties;
	q->properties = enable ? q->properties | properties : q->properties & ~properties;
	return CL_SUCCESS;
}

/* ---- events ---- */

static void stamp_end(cl_event e, cl_int status)
{
	uint64_t now = clock_mono_ns() + (uint64_t)fake.clock_offset;
	e->t[1] = e->t[0];
	e->t[2] = e->t[0] + 1;
	e->t[3] = now > e->t[2] ? now : e->t[2];
	if (fake.stale_times)
		e->t[0] = e->t[1] = 0;
	atomic_store(&e->status, status);
}

static cl_int release_event(cl_event e)
{
	if (!e)
		return CL_INVALID_EVENT;
	if (--e->n_references == 0) {
		release_queue(e->queue);
		free(e);
		fake.n_events--;
	}
	return CL_SUCCESS;
}

/* A command in flight holds its event. */
void fake_end_all(cl_int status)
{
	pthread_mutex_lock(&running_lock);
	struct _cl_event *list = running;
	running = NULL;
	pthread_mutex_unlock(&running_lock);
	for (struct _cl_event *e = list, *next; e; e = next) {
		next = e->next;
		stamp_end(e, status);
		release_event(e);
	}
}

static cl_int retain_event(cl_event e)
{
	if (!e)
		return CL_INVALID_EVENT;
	e->n_references++;
	return CL_SUCCESS;
}

/* What every enqueue does. */
static cl_int enqueue(cl_command_queue q, cl_event *event)
{
	fake.n_calls++;
	if (fake.fail)
		return fake.fail;
	if (!q)
		return CL_INVALID_COMMAND_QUEUE;
	if (event)
		*event = NULL;
	if (!event || fake.no_events)
		return CL_SUCCESS;
	struct _cl_event *e = calloc(1, sizeof *e);
	e->queue = q;
	q->n_references++;
	e->n_references = 1;
	e->t[0] = clock_mono_ns() + (uint64_t)fake.clock_offset;
	e->t[2] = e->t[3] = e->t[0] - 1000000;
	e->status = CL_QUEUED;
	fake.n_events++;
	if (fake.end_with <= CL_COMPLETE) {
		stamp_end(e, fake.end_with);
	} else {
		e->status = fake.end_with;
		e->n_references++;
		pthread_mutex_lock(&running_lock);
		e->next = running;
		running = e;
		pthread_mutex_unlock(&running_lock);
	}
	*event = e;
	return CL_SUCCESS;
}

static cl_int get_event_info(cl_event e, cl_event_info what, size_t room, void *to,
			     size_t *bytes_ret)
{
	if (!e)
		return CL_INVALID_EVENT;
	cl_int status = atomic_load(&e->status);
	cl_uint n = (cl_uint)e->n_references;
	switch (what) {
	case CL_EVENT_COMMAND_EXECUTION_STATUS: return ANSWER(status);
	case CL_EVENT_COMMAND_QUEUE: return ANSWER(e->queue);
	case CL_EVENT_REFERENCE_COUNT: return ANSWER(n);
	default: return CL_INVALID_VALUE;
	}
}

static cl_int get_profiling_info(cl_event e, cl_profiling_info what, size_t room, void *to,
				 size_t *bytes_ret)
{
	if (!e)
		return CL_INVALID_EVENT;
	if (!(e->queue->properties & CL_QUEUE_PROFILING_ENABLE) ||
	    (atomic_load(&e->status) != CL_COMPLETE && !fake.answers_early))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	if (what < CL_PROFILING_COMMAND_QUEUED || what > CL_PROFILING_COMMAND_END)
		return CL_INVALID_VALUE;
	return ANSWER(e->t[what - CL_PROFILING_COMMAND_QUEUED]);
}

static cl_int wait_for_events(cl_uint n, const cl_event *events)
{
	return n && events ? CL_SUCCESS : CL_INVALID_VALUE;
}
static cl_int finish(cl_command_queue q) { return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }

/* ---- programs and kernels ---- */

static cl_program create_program(cl_context c, cl_uint n, const char **strings,
				 const size_t *lengths, cl_int *error)
{
	(void)c, (void)n, (void)strings, (void)lengths, (void)error;
	return &the_program;
}

static cl_int build_program(cl_program p, cl_uint n, const cl_device_id *devices,
			    const char *options, void(CL_CALLBACK *function)(cl_program, void *),
			    void *data)
{
	(void)p, (void)n, (void)devices, (void)options, (void)function, (void)data;
	return CL_SUCCESS;
}

static cl_int get_program_info(cl_program p, cl_program_info what, size_t room, void *to,
			       size_t *bytes_ret)
{
	cl_device_id device = &the_device;
	(void)p;
	switch (what) {
	case CL_PROGRAM_DEVICES: return ANSWER(device);
	case CL_PROGRAM_SOURCE:
		fake.n_source_asked++;
		return ANSWER_TEXT(fake.source);
	case CL_PROGRAM_BINARY_SIZES: return ANSWER(fake.binary_bytes);
	case CL_PROGRAM_BINARIES:
		fake.n_binary_asked++;
		memcpy(*(unsigned char **)to, fake.binary, fake.binary_bytes);
		return CL_SUCCESS;
	default: return CL_INVALID_VALUE;
	}
}

static cl_int get_build_info(cl_program p, cl_device_id d, cl_program_build_info what, size_t room,
			     void *to, size_t *bytes_ret)
{
	(void)p, (void)d;
	return what == CL_PROGRAM_BUILD_OPTIONS ? ANSWER_TEXT("-O2") : CL_INVALID_VALUE;
}

static cl_kernel create_kernel(cl_program p, const char *name, cl_int *error)
{
	(void)p, (void)name;
	if (error)
		*error = CL_SUCCESS;
	return &the_kernel;
}

static cl_int get_kernel_info(cl_kernel k, cl_kernel_info what, size_t room, void *to,
			      size_t *bytes_ret)
{
	cl_program program = &the_program;
	(void)k;
	return what == CL_KERNEL_FUNCTION_NAME ? ANSWER_TEXT("jacobi")
	       : what == CL_KERNEL_PROGRAM     ? ANSWER(program)
					       : CL_INVALID_VALUE;
}

static cl_int get_group_info(cl_kernel k, cl_device_id d, cl_kernel_work_group_info what,
			     size_t room, void *to, size_t *bytes_ret)
{
	static const cl_ulong bytes = 64;
	(void)k, (void)d;
	return what == CL_KERNEL_LOCAL_MEM_SIZE ? ANSWER(bytes) : CL_INVALID_VALUE;
}

/* ---- memory ---- */

static cl_mem create_buffer(cl_context c, cl_mem_flags flags, size_t bytes, void *host,
			    cl_int *error)
{
	(void)c, (void)flags, (void)host;
	if (error)
		*error = bytes ? CL_SUCCESS : CL_INVALID_BUFFER_SIZE;
	if (!bytes)
		return NULL;
	struct _cl_mem *m = fake.reuse && last_mem ? last_mem : malloc(sizeof *m);
	if (fake.reuse)
		last_mem = NULL;
	m->bytes = bytes;
	m->n_references = 1;
	return m;
}

static cl_int retain_mem(cl_mem m)
{
	m->n_references++;
	return CL_SUCCESS;
}

static cl_int release_mem(cl_mem m)
{
	if (--m->n_references == 0) {
		if (fake.reuse)
			last_mem = m;
		else
			free(m);
	}
	return CL_SUCCESS;
}

static cl_int get_mem_info(cl_mem m, cl_mem_info what, size_t room, void *to, size_t *bytes_ret)
{
	return what == CL_MEM_SIZE ? ANSWER(m->bytes) : CL_INVALID_VALUE;
}

static cl_int get_image_info(cl_mem m, cl_image_info what, size_t room, void *to, size_t *bytes_ret)
{
	static const size_t element = 4;
	(void)m;
	return what == CL_IMAGE_ELEMENT_SIZE ? ANSWER(element) : CL_INVALID_VALUE;
}

static void *svm_alloc(cl_context c, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
	(void)c, (void)flags, (void)alignment;
	return malloc(bytes);
}

static void svm_free(cl_context c, void *at)
{
	(void)c;
	free(at);
}

/* ---- enqueues ---- */

static cl_int nd_range(cl_command_queue q, cl_kernel k, cl_uint n, const size_t *offset,
		       const size_t *global, const size_t *local, cl_uint n_waits,
		       const cl_event *waits, cl_event *event)
{
	(void)k, (void)n, (void)offset, (void)global, (void)local, (void)n_waits, (void)waits;
	return enqueue(q, event);
}

static cl_int read_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset,
			  size_t bytes, void *to, cl_uint n_waits, const cl_event *waits,
			  cl_event *event)
{
	(void)m, (void)blocking, (void)offset, (void)bytes, (void)to, (void)n_waits, (void)waits;
	return enqueue(q, event);
}

static cl_int migrate(cl_command_queue q, cl_uint n, const cl_mem *objects,
		      cl_mem_migration_flags flags, cl_uint n_waits, const cl_event *waits,
		      cl_event *event)
{
	(void)n, (void)objects, (void)flags, (void)n_waits, (void)waits;
	return enqueue(q, event);
}

static void *map_buffer(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags,
			size_t offset, size_t bytes, cl_uint n_waits, const cl_event *waits,
			cl_event *event, cl_int *error)
{
	(void)blocking, (void)flags, (void)offset, (void)bytes, (void)n_waits, (void)waits;
	cl_int status = enqueue(q, event);
	if (error)
		*error = status;
	return status == CL_SUCCESS ? m : NULL;
}

static cl_int unmap(cl_command_queue q, cl_mem m, void *at, cl_uint n_waits, const cl_event *waits,
		    cl_event *event)
{
	(void)m, (void)at, (void)n_waits, (void)waits;
	return enqueue(q, event);
}

static cl_int write_image(cl_command_queue q, cl_mem m, cl_bool blocking, const size_t *origin,
			  const size_t *region, size_t row, size_t slice, const void *from,
			  cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	(void)m, (void)blocking, (void)origin, (void)region, (void)row, (void)slice, (void)from,
		(void)n_waits, (void)waits;
	return enqueue(q, event);
}

static cl_int svm_memcpy(cl_command_queue q, cl_bool blocking, void *to, const void *from,
			 size_t bytes, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	(void)blocking, (void)to, (void)from, (void)bytes, (void)n_waits, (void)waits;
	return enqueue(q, event);
}

static cl_int barrier_with_list(cl_command_queue q, cl_uint n_waits, const cl_event *waits,
				cl_event *event)
{
	(void)n_waits, (void)waits;
	fake.n_barriers_with_list++;
	return enqueue(q, event);
}

static cl_int old_barrier(cl_command_queue q)
{
	fake.n_old_barriers++;
	return enqueue(q, NULL);
}

static cl_int unknown_enqueue(cl_command_queue q, int a, int b, int c, int d, int e, int f, int g)
{
	(void)q;
	return a + b + c + d + e + f + g;
}

static cl_int command_buffer(cl_uint n, cl_command_queue *queues, void *buffer, cl_uint n_waits,
			     const cl_event *waits, cl_event *event)
{
	(void)n, (void)n_waits, (void)waits;
	return enqueue(queues ? queues[0] : buffer, event);
}

static void *extension(const char *name)
{
	if (!strcmp(name, "clEnqueueCommandBufferKHR"))
		return (void *)(uintptr_t)command_buffer;
	if (!strcmp(name, "clEnqueueMemcpyINTEL"))
		return (void *)(uintptr_t)svm_memcpy;
	if (!strcmp(name, "clEnqueueStrangeXYZ"))
		return (void *)(uintptr_t)unknown_enqueue;
	if (!strcmp(name, "clCreateCommandQueueWithPropertiesKHR"))
		return (void *)(uintptr_t)create_queue_with_list;
	return !strcmp(name, "clOtherXYZ") ? (void *)(uintptr_t)old_barrier : NULL;
}

const cl_icd_dispatch fake_dispatch = {
	.clGetPlatformInfo = get_platform_info,
	.clGetDeviceIDs = get_device_ids,
	.clGetDeviceInfo = get_device_info,
	.clCreateContext = create_context,
	.clReleaseContext = release_context,
	.clGetDeviceAndHostTimer = timer,
	.clCreateCommandQueue = create_queue,
	.clCreateCommandQueueWithProperties = create_queue_with_list,
	.clReleaseCommandQueue = release_queue,
	.clGetCommandQueueInfo = get_queue_info,
	.clSetCommandQueueProperty = set_queue_property,
	.clGetEventInfo = get_event_info,
	.clGetEventProfilingInfo = get_profiling_info,
	.clRetainEvent = retain_event,
	.clReleaseEvent = release_event,
	.clWaitForEvents = wait_for_events,
	.clFinish = finish,
	.clFlush = finish,
	.clCreateProgramWithSource = create_program,
	.clBuildProgram = build_program,
	.clGetProgramInfo = get_program_info,
	.clGetProgramBuildInfo = get_build_info,
	.clCreateKernel = create_kernel,
	.clGetKernelInfo = get_kernel_info,
	.clGetKernelWorkGroupInfo = get_group_info,
	.clCreateBuffer = create_buffer,
	.clRetainMemObject = retain_mem,
	.clReleaseMemObject = release_mem,
	.clGetMemObjectInfo = get_mem_info,
	.clGetImageInfo = get_image_info,
	.clSVMAlloc = svm_alloc,
	.clSVMFree = svm_free,
	.clEnqueueNDRangeKernel = nd_range,
	.clEnqueueReadBuffer = read_buffer,
	.clEnqueueMigrateMemObjects = migrate,
	.clEnqueueMapBuffer = map_buffer,
	.clEnqueueUnmapMemObject = unmap,
	.clEnqueueWriteImage = write_image,
	.clEnqueueSVMMemcpy = svm_memcpy,
	.clEnqueueBarrierWithWaitList = barrier_with_list,
	.clEnqueueBarrier = old_barrier,
	.clGetExtensionFunctionAddress = extension,
};

void fake_reset_implementation(void);
void fake_reset_implementation(void)
{
	memset(&fake, 0, sizeof fake);
	fake.version = 30;
	fake.platform = "made up";
	fake.source = "kernel void jacobi() {}";
	fake.binary = (const unsigned char *)"\177ELF....";
	fake.binary_bytes = 8;
	running = NULL;
	last_queue = NULL;
	last_mem = NULL;
}
