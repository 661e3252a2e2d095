/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues, events, and calls that wait. Profiling is enabled for every queue. The program still sees
 * the properties that it asked for, and reference counts without our references. Test:
 * tests/unit/opencl/test_opencl_hidden.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

#include <string.h>

#define MAX_LIST 64u /* words in our list of properties; longer lists stay unchanged */

/* ---- making ---- */

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
				      cl_command_queue_properties properties, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	bool forced = s && !(properties & CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue queue = NULL;
	if (forced)
		queue = ocl_next.clCreateCommandQueue(
			context, device, properties | CL_QUEUE_PROFILING_ENABLE, error);
	forced = forced && queue;
	if (!queue)
		queue = ocl_next.clCreateCommandQueue(context, device, properties, error);
	if (s && queue)
		ocl_queue_made(s, queue, forced, NULL);
	ocl_leave();
	return queue;
}

/*
 * Copies `list` to `to` and adds profiling. Returns false if there is nothing to add (profiling is
 * on, or the queue is on the device itself) or the list is too long.
 */
static bool add_profiling(const cl_queue_properties *list, cl_queue_properties to[MAX_LIST])
{
	const cl_queue_properties on_device = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;
	size_t n = 0, at = MAX_LIST;
	for (; list && list[n]; n += 2) {
		if (n + 5 > MAX_LIST)
			return false;
		to[n] = list[n];
		to[n + 1] = list[n + 1];
		if (list[n] == CL_QUEUE_PROPERTIES)
			at = n + 1;
	}
	if (at == MAX_LIST) {
		to[n] = CL_QUEUE_PROPERTIES;
		to[n + 1] = 0;
		at = n + 1;
		n += 2;
	}
	to[n] = 0;
	if (to[at] & (on_device | CL_QUEUE_PROFILING_ENABLE))
		return false;
	to[at] |= CL_QUEUE_PROFILING_ENABLE;
	return true;
}

cl_command_queue ocl_create_queue(struct ocl_state *s,
				  OCL_TYPE(clCreateCommandQueueWithProperties) create,
				  cl_context context, cl_device_id device,
				  const cl_queue_properties *list, cl_int *error)
{
	cl_queue_properties ours[MAX_LIST];
	cl_command_queue queue = NULL;
	bool forced = s && add_profiling(list, ours);
	if (forced)
		queue = create(context, device, ours, error);
	forced = forced && queue;
	if (!queue)
		queue = create(context, device, list, error);
	if (s && queue)
		ocl_queue_made(s, queue, forced, list);
	return queue;
}

cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id device,
						    const cl_queue_properties *list, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_command_queue queue = ocl_create_queue(s, ocl_next.clCreateCommandQueueWithProperties,
						  context, device, list, error);
	ocl_leave();
	return queue;
}

/*
 * Collects operations that have ended, because their events keep the queue alive. Otherwise the
 * queue would exist longer than the program wants.
 */
cl_int clReleaseCommandQueue(cl_command_queue queue)
{
	struct ocl_state *s = ocl_enter();
	struct ocl_queue *q = s ? ocl_queue_find(s, queue) : NULL;
	if (q)
		ocl_queue_collect(s, q);
	cl_int status = ocl_next.clReleaseCommandQueue(queue);
	if (s)
		ocl_queue_collect_all(s);
	ocl_leave();
	return status;
}

cl_int clSetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
				 cl_bool enable, cl_command_queue_properties *old)
{
	struct ocl_state *s = ocl_enter();
	struct ocl_queue *q = s ? ocl_queue_find(s, queue) : NULL;
	cl_int status = ocl_next.clSetCommandQueueProperty(queue, properties, enable, old);
	if (q && status == CL_SUCCESS) {
		if (old && q->forced)
			*old &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
		if (properties & CL_QUEUE_PROFILING_ENABLE)
			q->forced = !enable && ocl_next.clSetCommandQueueProperty(
						       queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE,
						       NULL) == CL_SUCCESS;
	}
	ocl_leave();
	return status;
}

/* ---- asking ---- */

/* Returns the program's list instead of ours. */
static cl_int answer_list(const struct ocl_queue *q, size_t room, void *to, size_t *bytes_ret)
{
	if (to && room < q->list_bytes)
		return CL_INVALID_VALUE;
	if (to && q->list_bytes)
		memcpy(to, q->list, q->list_bytes);
	if (bytes_ret)
		*bytes_ret = q->list_bytes;
	return CL_SUCCESS;
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t room,
			     void *to, size_t *bytes_ret)
{
	struct ocl_state *s = ocl_enter();
	struct ocl_queue *q = s ? ocl_queue_find(s, queue) : NULL;
	if (q && what == CL_QUEUE_REFERENCE_COUNT)
		ocl_queue_collect(s, q);
	cl_int status = ocl_next.clGetCommandQueueInfo(queue, what, room, to, bytes_ret);
	bool changed = q && q->forced;
	if (changed && what == CL_QUEUE_PROPERTIES && status == CL_SUCCESS && to)
		*(cl_command_queue_properties *)to &=
			~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	/* our list may not fit into the program's */
	if (changed && what == CL_QUEUE_PROPERTIES_ARRAY &&
	    (status == CL_SUCCESS || status == CL_INVALID_VALUE) &&
	    ocl_next.clGetCommandQueueInfo(queue, what, 0, NULL, NULL) == CL_SUCCESS)
		status = answer_list(q, room, to, bytes_ret);
	ocl_leave();
	return status;
}

static struct ocl_queue *queue_of(struct ocl_state *s, cl_event event)
{
	cl_command_queue queue = NULL;
	if (!s || !event ||
	    ocl_next.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL) !=
		    CL_SUCCESS ||
	    !queue)
		return NULL;
	return ocl_queue_find(s, queue);
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *to, size_t *bytes_ret)
{
	struct ocl_state *s = ocl_enter();
	struct ocl_queue *q = what == CL_EVENT_REFERENCE_COUNT ? queue_of(s, event) : NULL;
	if (q)
		ocl_queue_collect(s, q);
	cl_int status = ocl_next.clGetEventInfo(event, what, room, to, bytes_ret);
	if (q && status == CL_SUCCESS && to)
		*(cl_uint *)to -= ocl_queue_holds(q, event);
	ocl_leave();
	return status;
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *to,
			       size_t *bytes_ret)
{
	struct ocl_state *s = ocl_enter();
	const struct ocl_queue *q = queue_of(s, event);
	cl_int status = CL_PROFILING_INFO_NOT_AVAILABLE;
	if (!q || !q->forced)
		status = ocl_next.clGetEventProfilingInfo(event, what, room, to, bytes_ret);
	ocl_leave();
	return status;
}

/* ---- waiting ---- */

cl_int clFinish(cl_command_queue queue)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_int status = ocl_next.clFinish(queue);
	if (s && status == CL_SUCCESS) {
		ocl_waited(s, enter, MSR_GPU_SYNC_QUEUE);
		ocl_queue_collect_all(s);
	}
	ocl_leave();
	return status;
}

cl_int clFlush(cl_command_queue queue)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_int status = ocl_next.clFlush(queue);
	if (s && status == CL_SUCCESS)
		ocl_waited(s, enter, MSR_GPU_SYNC_FLUSH);
	ocl_leave();
	return status;
}

/* If a command failed, the wait ends with an error, but the thread has waited. */
cl_int clWaitForEvents(cl_uint n, const cl_event *events)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_int status = ocl_next.clWaitForEvents(n, events);
	if (s && (status == CL_SUCCESS || status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)) {
		ocl_waited(s, enter, MSR_GPU_SYNC_EVENT);
		struct ocl_queue *q = queue_of(s, events[n - 1]);
		if (q)
			ocl_queue_collect(s, q);
	}
	ocl_leave();
	return status;
}
