/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enqueues that copy, fill and map images. The number of bytes is that of the elements in the
 * region. Test: tests/unit/opencl/test_opencl_layer.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

/* Records a copy between an image and something else. */
static void copied(struct ocl_enqueue *e, cl_int status, cl_command_queue queue, cl_mem image,
		   const size_t *region, unsigned direction, cl_bool blocking)
{
	uint64_t bytes = e->s && status == CL_SUCCESS ? ocl_image_bytes(image, region) : 0;
	ocl_enqueue_end(e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = direction,
					   .amount = bytes,
					   .blocking = blocking});
}

cl_int clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
			  const size_t *origin, const size_t *region, size_t row, size_t slice,
			  void *to, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueReadImage(queue, image, blocking, origin, region, row,
						    slice, to, n_waits, waits, e.at);
	copied(&e, status, queue, image, region, MSR_GPU_COPY_D2H, blocking);
	ocl_leave();
	return status;
}

cl_int clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
			   const size_t *origin, const size_t *region, size_t row, size_t slice,
			   const void *from, cl_uint n_waits, const cl_event *waits,
			   cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueWriteImage(queue, image, blocking, origin, region, row,
						     slice, from, n_waits, waits, e.at);
	copied(&e, status, queue, image, region, MSR_GPU_COPY_H2D, blocking);
	ocl_leave();
	return status;
}

cl_int clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
			  const size_t *to_origin, const size_t *region, cl_uint n_waits,
			  const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueCopyImage(queue, from, to, from_origin, to_origin, region,
						    n_waits, waits, e.at);
	copied(&e, status, queue, from, region, MSR_GPU_COPY_D2D, CL_FALSE);
	ocl_leave();
	return status;
}

cl_int clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
				  const size_t *from_origin, const size_t *region, size_t to_offset,
				  cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueCopyImageToBuffer(queue, from, to, from_origin, region,
							    to_offset, n_waits, waits, e.at);
	copied(&e, status, queue, from, region, MSR_GPU_COPY_D2D, CL_FALSE);
	ocl_leave();
	return status;
}

cl_int clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to,
				  size_t from_offset, const size_t *to_origin, const size_t *region,
				  cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueCopyBufferToImage(queue, from, to, from_offset, to_origin,
							    region, n_waits, waits, e.at);
	copied(&e, status, queue, to, region, MSR_GPU_COPY_D2D, CL_FALSE);
	ocl_leave();
	return status;
}

cl_int clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *color,
			  const size_t *origin, const size_t *region, cl_uint n_waits,
			  const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status = ocl_next.clEnqueueFillImage(queue, image, color, origin, region, n_waits,
						    waits, e.at);
	uint64_t bytes = s && status == CL_SUCCESS ? ocl_image_bytes(image, region) : 0;
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_SET, .amount = bytes});
	ocl_leave();
	return status;
}

void *clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
			const size_t *origin, const size_t *region, size_t *row, size_t *slice,
			cl_uint n_waits, const cl_event *waits, cl_event *event, cl_int *error)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	cl_int status = CL_SUCCESS;
	ocl_enqueue_begin(&e, s, event);
	void *at = ocl_next.clEnqueueMapImage(queue, image, blocking, flags, origin, region, row,
					      slice, n_waits, waits, e.at, &status);
	if (error)
		*error = status;
	if (s && status == CL_SUCCESS)
		ocl_map_remember(s, image, at, ocl_image_bytes(image, region));
	copied(&e, status, queue, image, region, MSR_GPU_COPY_MAP, blocking);
	ocl_leave();
	return at;
}
