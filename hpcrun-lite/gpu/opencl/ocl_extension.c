/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the program asks for by name. We replace those that we know. Other functions whose
 * name starts with clEnqueue get a slot (ocl_slot.c) that counts their calls. We do not know their
 * signatures, so the profile lacks their operations. Test: tests/unit/opencl/test_opencl_hidden.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

#include <string.h>

/* ---- functions of extensions that we know ---- */

typedef cl_int enqueue_command_buffer_fn(cl_uint, cl_command_queue *, void *, cl_uint,
					 const cl_event *, cl_event *);

static _Atomic(OCL_TYPE(clCreateCommandQueueWithProperties)) next_create_queue;
static _Atomic(OCL_TYPE(clCreateProgramWithIL)) next_create_program;
static _Atomic(enqueue_command_buffer_fn *) next_command_buffer;

static cl_command_queue create_queue_khr(cl_context context, cl_device_id device,
					 const cl_queue_properties *list, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_command_queue queue =
		ocl_create_queue(s, next_create_queue, context, device, list, error);
	ocl_leave();
	return queue;
}

static cl_program create_program_khr(cl_context context, const void *il, size_t bytes,
				     cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_program program = next_create_program(context, il, bytes, error);
	ocl_program_made(s, program, OCL_FROM_SOURCE);
	ocl_leave();
	return program;
}

/* cl_khr_command_buffer: the whole buffer has one event, and is recorded as one kernel. */
static cl_int enqueue_command_buffer_khr(cl_uint n_queues, cl_command_queue *queues, void *buffer,
					 cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	cl_command_queue queue = NULL;
	struct ocl_what what = {.kind = MSR_GPU_KERNEL};
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = atomic_load_explicit(&next_command_buffer, memory_order_relaxed)(
		n_queues, queues, buffer, n_waits, waits, e.at);
	if (e.s && status == CL_SUCCESS) {
		ocl_next.clGetEventInfo(*e.at, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL);
		what.shape = ocl_kernel_plain_shape("<command buffer>");
	}
	ocl_enqueue_end(&e, status, queue, &what);
	ocl_leave();
	return status;
}

/* ---- shared virtual memory of extensions: the signatures are those of OpenCL 2.0 ---- */

static _Atomic(OCL_TYPE(clEnqueueSVMMemcpy)) next_memcpy_arm, next_memcpy_intel;
static _Atomic(OCL_TYPE(clEnqueueSVMMemFill)) next_fill_arm, next_fill_intel;

static cl_int copy_with(struct ocl_state *s, OCL_TYPE(clEnqueueSVMMemcpy) next,
			cl_command_queue queue, cl_bool blocking, void *to, const void *from,
			size_t bytes, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, s, event);
	cl_int status = next(queue, blocking, to, from, bytes, n_waits, waits, e.at);
	ocl_enqueue_end(
		&e, status, queue,
		&(struct ocl_what){.kind = MSR_GPU_COPY, .amount = bytes, .blocking = blocking});
	return status;
}

static cl_int fill_with(struct ocl_state *s, OCL_TYPE(clEnqueueSVMMemFill) next,
			cl_command_queue queue, void *at, const void *pattern, size_t pattern_bytes,
			size_t bytes, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, s, event);
	cl_int status = next(queue, at, pattern, pattern_bytes, bytes, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_SET, .amount = bytes});
	return status;
}

static cl_int memcpy_arm(cl_command_queue queue, cl_bool blocking, void *to, const void *from,
			 size_t bytes, cl_uint n, const cl_event *waits, cl_event *event)
{
	struct ocl_state *s = ocl_enter();
	cl_int status =
		copy_with(s, next_memcpy_arm, queue, blocking, to, from, bytes, n, waits, event);
	ocl_leave();
	return status;
}

static cl_int memcpy_intel(cl_command_queue queue, cl_bool blocking, void *to, const void *from,
			   size_t bytes, cl_uint n, const cl_event *waits, cl_event *event)
{
	struct ocl_state *s = ocl_enter();
	cl_int status =
		copy_with(s, next_memcpy_intel, queue, blocking, to, from, bytes, n, waits, event);
	ocl_leave();
	return status;
}

static cl_int fill_arm(cl_command_queue queue, void *at, const void *pattern, size_t pattern_bytes,
		       size_t bytes, cl_uint n, const cl_event *waits, cl_event *event)
{
	struct ocl_state *s = ocl_enter();
	cl_int status = fill_with(s, next_fill_arm, queue, at, pattern, pattern_bytes, bytes, n,
				  waits, event);
	ocl_leave();
	return status;
}

static cl_int fill_intel(cl_command_queue queue, void *at, const void *pattern,
			 size_t pattern_bytes, size_t bytes, cl_uint n, const cl_event *waits,
			 cl_event *event)
{
	struct ocl_state *s = ocl_enter();
	cl_int status = fill_with(s, next_fill_intel, queue, at, pattern, pattern_bytes, bytes, n,
				  waits, event);
	ocl_leave();
	return status;
}

/* ---- answers to the program ---- */

struct known {
	const char *name;
	const void *ours;
	_Atomic(void *) *next; /* stores the next function; NULL: it is in ocl_next */
};

#define CORE(name) {#name, (const void *)(uintptr_t)name, NULL},
#define EXTENSION(name, ours, next)                                               \
	{                                                                         \
		name, (const void *)(uintptr_t)(ours), (_Atomic(void *) *)&(next) \
	}
static const struct known known[] = {
	OCL_FUNCTIONS(CORE)
	EXTENSION("clCreateCommandQueueWithPropertiesKHR", create_queue_khr, next_create_queue),
	EXTENSION("clCreateProgramWithILKHR", create_program_khr, next_create_program),
	EXTENSION("clEnqueueCommandBufferKHR", enqueue_command_buffer_khr, next_command_buffer),
	EXTENSION("clEnqueueSVMMemcpyARM", memcpy_arm, next_memcpy_arm),
	EXTENSION("clEnqueueSVMMemFillARM", fill_arm, next_fill_arm),
	EXTENSION("clEnqueueMemcpyINTEL", memcpy_intel, next_memcpy_intel),
	EXTENSION("clEnqueueMemFillINTEL", fill_intel, next_fill_intel),
};

/*
 * Our function can call only one next function. If another platform has a different one, that gets
 * a slot.
 */
static void *ours_for(const struct known *k, void *theirs)
{
	void *before = NULL;
	if (!k->next ||
	    atomic_compare_exchange_strong_explicit(k->next, &before, theirs, memory_order_acq_rel,
						    memory_order_acquire) ||
	    before == theirs)
		return (void *)(uintptr_t)k->ours;
	return NULL;
}

static void *function_for(struct ocl_state *s, const char *name, void *theirs)
{
	if (!s || !theirs || !name)
		return theirs;
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (!strcmp(known[i].name, name)) {
			void *ours = ours_for(&known[i], theirs);
			return ours ? ours : ocl_slot_for(s, theirs);
		}
	return strncmp(name, "clEnqueue", 9) ? theirs : ocl_slot_for(s, theirs);
}

void *clGetExtensionFunctionAddress(const char *name)
{
	struct ocl_state *s = ocl_enter();
	void *function = function_for(s, name, ocl_next.clGetExtensionFunctionAddress(name));
	ocl_leave();
	return function;
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
	struct ocl_state *s = ocl_enter();
	void *function = function_for(
		s, name, ocl_next.clGetExtensionFunctionAddressForPlatform(platform, name));
	ocl_leave();
	return function;
}
