/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enqueues of kernels, and of commands that only order other commands: markers, barriers, waits,
 * shared objects of OpenGL. Test: tests/unit/opencl/test_opencl_layer.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

#include <errno.h>

/* The shape of a launch; 0 if the call failed. */
static uint32_t shape_of(struct ocl_state *s, cl_int status, cl_command_queue queue,
			 cl_kernel kernel, cl_uint n_dims, const size_t *global,
			 const size_t *local)
{
	if (!s || status != CL_SUCCESS)
		return 0;
	int saved = errno;
	struct ocl_queue *q = ocl_queue_get(s, queue);
	uint32_t shape = q ? ocl_kernel_shape(s, kernel, q->device, n_dims, global, local) : 0;
	errno = saved;
	return shape;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint n_dims,
			      const size_t *offset, const size_t *global, const size_t *local,
			      cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status = ocl_next.clEnqueueNDRangeKernel(queue, kernel, n_dims, offset, global,
							local, n_waits, waits, e.at);
	uint32_t shape = shape_of(s, status, queue, kernel, n_dims, global, local);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_KERNEL, .shape = shape});
	ocl_leave();
	return status;
}

cl_int clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint n_waits,
		     const cl_event *waits, cl_event *event)
{
	static const size_t one = 1;
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status = ocl_next.clEnqueueTask(queue, kernel, n_waits, waits, e.at);
	uint32_t shape = shape_of(s, status, queue, kernel, 1, &one, &one);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_KERNEL, .shape = shape});
	ocl_leave();
	return status;
}

cl_int clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *),
			     void *arguments, size_t bytes, cl_uint n_buffers,
			     const cl_mem *buffers, const void **places, cl_uint n_waits,
			     const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status = ocl_next.clEnqueueNativeKernel(queue, function, arguments, bytes, n_buffers,
						       buffers, places, n_waits, waits, e.at);
	uint32_t shape = s && status == CL_SUCCESS ? ocl_kernel_plain_shape("<native kernel>") : 0;
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_KERNEL, .shape = shape});
	ocl_leave();
	return status;
}

/* ---- order without work ---- */

static const struct ocl_what marker = {.kind = MSR_GPU_MARKER};

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint n_waits, const cl_event *waits,
				   cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueMarkerWithWaitList(queue, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue, &marker);
	ocl_leave();
	return status;
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint n_waits, const cl_event *waits,
				    cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueBarrierWithWaitList(queue, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue, &marker);
	ocl_leave();
	return status;
}

/*
 * The old forms. Only clEnqueueMarker has an event. For the others we call the new form if the
 * device has it, and the old form if the new one is refused.
 */
cl_int clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	/* NULL is an error, which the program must get */
	ocl_enqueue_begin(&e, event ? s : NULL, event);
	cl_int status = ocl_next.clEnqueueMarker(queue, e.at);
	ocl_enqueue_end(&e, status, queue, &marker);
	ocl_leave();
	return status;
}

/* Returns true if the queue was used and its device has OpenCL 1.2 or later. */
static bool knows_lists(struct ocl_state *s, cl_command_queue queue)
{
	struct ocl_queue *q = s ? ocl_queue_find(s, queue) : NULL;
	return q && atomic_load_explicit(&q->defined, memory_order_acquire) &&
	       q->device->version >= 120 && ocl_next.clEnqueueBarrierWithWaitList;
}

/* Counts a barrier without an event, whose end we cannot notice. */
static void count_blind(struct ocl_state *s, cl_int status, uint64_t enter_ns)
{
	struct gpu_ticket ticket;
	if (s && status == CL_SUCCESS &&
	    ocl_host->launch(ocl_host,
			     &(struct gpu_launch){.kind = MSR_GPU_MARKER, .enter_ns = enter_ns},
			     &ticket))
		ocl_host->lost(ocl_host, &ticket, MSR_GPU_LOSS_NO_TIMES);
}

cl_int clEnqueueBarrier(cl_command_queue queue)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, NULL);
	cl_int status = CL_INVALID_OPERATION;
	if (knows_lists(s, queue))
		status = ocl_next.clEnqueueBarrierWithWaitList(queue, 0, NULL, e.at);
	if (status == CL_SUCCESS) {
		ocl_enqueue_end(&e, status, queue, &marker);
	} else {
		status = ocl_next.clEnqueueBarrier(queue);
		count_blind(s, status, e.enter_ns);
	}
	ocl_leave();
	return status;
}

cl_int clEnqueueWaitForEvents(cl_command_queue queue, cl_uint n, const cl_event *events)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, NULL);
	cl_int status = CL_INVALID_OPERATION;
	if (n && events && knows_lists(s, queue))
		status = ocl_next.clEnqueueBarrierWithWaitList(queue, n, events, e.at);
	if (status == CL_SUCCESS) {
		ocl_enqueue_end(&e, status, queue, &marker);
	} else {
		status = ocl_next.clEnqueueWaitForEvents(queue, n, events);
		count_blind(s, status, e.enter_ns);
	}
	ocl_leave();
	return status;
}

cl_int clEnqueueAcquireGLObjects(cl_command_queue queue, cl_uint n, const cl_mem *objects,
				 cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueAcquireGLObjects(queue, n, objects, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue, &marker);
	ocl_leave();
	return status;
}

cl_int clEnqueueReleaseGLObjects(cl_command_queue queue, cl_uint n, const cl_mem *objects,
				 cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueReleaseGLObjects(queue, n, objects, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue, &marker);
	ocl_leave();
	return status;
}
