/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enqueues that copy, fill, migrate and map buffers. Test: tests/unit/opencl/test_opencl_layer.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

static uint64_t volume(const size_t *region)
{
	return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

/* ---- between host and device ---- */

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
			   size_t bytes, void *to, cl_uint n_waits, const cl_event *waits,
			   cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, to,
						     n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_D2H,
					   .amount = bytes,
					   .blocking = blocking});
	ocl_leave();
	return status;
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
			    size_t bytes, const void *from, cl_uint n_waits, const cl_event *waits,
			    cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, from,
						      n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_H2D,
					   .amount = bytes,
					   .blocking = blocking});
	ocl_leave();
	return status;
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
			       const size_t *buffer_origin, const size_t *host_origin,
			       const size_t *region, size_t buffer_row, size_t buffer_slice,
			       size_t host_row, size_t host_slice, void *to, cl_uint n_waits,
			       const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueReadBufferRect(
		queue, buffer, blocking, buffer_origin, host_origin, region, buffer_row,
		buffer_slice, host_row, host_slice, to, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_D2H,
					   .amount = volume(region),
					   .blocking = blocking});
	ocl_leave();
	return status;
}

cl_int clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				const size_t *buffer_origin, const size_t *host_origin,
				const size_t *region, size_t buffer_row, size_t buffer_slice,
				size_t host_row, size_t host_slice, const void *from,
				cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueWriteBufferRect(
		queue, buffer, blocking, buffer_origin, host_origin, region, buffer_row,
		buffer_slice, host_row, host_slice, from, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_H2D,
					   .amount = volume(region),
					   .blocking = blocking});
	ocl_leave();
	return status;
}

/* ---- on the device ---- */

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
			   size_t to_offset, size_t bytes, cl_uint n_waits, const cl_event *waits,
			   cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, bytes,
						     n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){
				.kind = MSR_GPU_COPY, .detail = MSR_GPU_COPY_D2D, .amount = bytes});
	ocl_leave();
	return status;
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
			       const size_t *from_origin, const size_t *to_origin,
			       const size_t *region, size_t from_row, size_t from_slice,
			       size_t to_row, size_t to_slice, cl_uint n_waits,
			       const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin,
							 region, from_row, from_slice, to_row,
							 to_slice, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_D2D,
					   .amount = volume(region)});
	ocl_leave();
	return status;
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
			   size_t pattern_bytes, size_t offset, size_t bytes, cl_uint n_waits,
			   const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, offset,
						     bytes, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_SET, .amount = bytes});
	ocl_leave();
	return status;
}

/* ---- migration ---- */

cl_int clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint n, const cl_mem *objects,
				  cl_mem_migration_flags flags, cl_uint n_waits,
				  const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	uint64_t bytes = 0;
	ocl_enqueue_begin(&e, s, event);
	cl_int status =
		ocl_next.clEnqueueMigrateMemObjects(queue, n, objects, flags, n_waits, waits, e.at);
	for (cl_uint i = 0; s && status == CL_SUCCESS && i < n; i++)
		bytes += ocl_buffer_bytes(s, objects[i]);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_MIGRATE,
					   .amount = bytes});
	ocl_leave();
	return status;
}

/* ---- mapping into the host's memory ---- */

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
			 cl_map_flags flags, size_t offset, size_t bytes, cl_uint n_waits,
			 const cl_event *waits, cl_event *event, cl_int *error)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	cl_int status = CL_SUCCESS;
	ocl_enqueue_begin(&e, s, event);
	void *at = ocl_next.clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes,
					       n_waits, waits, e.at, &status);
	if (error)
		*error = status;
	if (s && status == CL_SUCCESS)
		ocl_map_remember(s, buffer, at, bytes);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_MAP,
					   .amount = bytes,
					   .blocking = blocking});
	ocl_leave();
	return at;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void *at, cl_uint n_waits,
			       const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status = ocl_next.clEnqueueUnmapMemObject(queue, object, at, n_waits, waits, e.at);
	uint64_t bytes = s && status == CL_SUCCESS ? ocl_map_forget(s, object, at) : 0;
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_UNMAP,
					   .amount = bytes});
	ocl_leave();
	return status;
}
