/* SPDX-License-Identifier: BSD-3-Clause */
/* Enqueues on shared virtual memory. Test: tests/unit/opencl/test_opencl_layer.c. */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

/* Returns the direction of a copy, from which of the pointers are in shared memory. */
static unsigned direction(struct ocl_state *s, const void *to, const void *from)
{
	if (!s)
		return MSR_GPU_COPY_UNKNOWN;
	if (ocl_svm_has(s, from))
		return ocl_svm_has(s, to) ? MSR_GPU_COPY_D2D : MSR_GPU_COPY_D2H;
	return ocl_svm_has(s, to) ? MSR_GPU_COPY_H2D : MSR_GPU_COPY_H2H;
}

cl_int clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *to, const void *from,
			  size_t bytes, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status =
		ocl_next.clEnqueueSVMMemcpy(queue, blocking, to, from, bytes, n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = direction(s, to, from),
					   .amount = bytes,
					   .blocking = blocking});
	ocl_leave();
	return status;
}

cl_int clEnqueueSVMMemFill(cl_command_queue queue, void *at, const void *pattern,
			   size_t pattern_bytes, size_t bytes, cl_uint n_waits,
			   const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status = ocl_next.clEnqueueSVMMemFill(queue, at, pattern, pattern_bytes, bytes,
						     n_waits, waits, e.at);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_SET, .amount = bytes});
	ocl_leave();
	return status;
}

cl_int clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *at,
		       size_t bytes, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status =
		ocl_next.clEnqueueSVMMap(queue, blocking, flags, at, bytes, n_waits, waits, e.at);
	if (s && status == CL_SUCCESS)
		ocl_map_remember(s, NULL, at, bytes);
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_MAP,
					   .amount = bytes,
					   .blocking = blocking});
	ocl_leave();
	return status;
}

cl_int clEnqueueSVMUnmap(cl_command_queue queue, void *at, cl_uint n_waits, const cl_event *waits,
			 cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	ocl_enqueue_begin(&e, s, event);
	cl_int status = ocl_next.clEnqueueSVMUnmap(queue, at, n_waits, waits, e.at);
	uint64_t bytes = s && status == CL_SUCCESS ? ocl_map_forget(s, NULL, at) : 0;
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_UNMAP,
					   .amount = bytes});
	ocl_leave();
	return status;
}

cl_int clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint n, const void **at,
			      const size_t *bytes, cl_mem_migration_flags flags, cl_uint n_waits,
			      const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	uint64_t sum = 0;
	ocl_enqueue_begin(&e, ocl_enter(), event);
	cl_int status =
		ocl_next.clEnqueueSVMMigrateMem(queue, n, at, bytes, flags, n_waits, waits, e.at);
	for (cl_uint i = 0; bytes && status == CL_SUCCESS && i < n; i++)
		sum += bytes[i];
	ocl_enqueue_end(&e, status, queue,
			&(struct ocl_what){.kind = MSR_GPU_COPY,
					   .detail = MSR_GPU_COPY_MIGRATE,
					   .amount = sum});
	ocl_leave();
	return status;
}

/*
 * The operation in the queue is a marker. The memory counts as freed when the program makes this
 * call. If the program gave a function that frees, that calls clSVMFree, which we see.
 */
cl_int clEnqueueSVMFree(cl_command_queue queue, cl_uint n, void *at[],
			void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void *[], void *),
			void *data, cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	struct ocl_enqueue e;
	struct ocl_state *s = ocl_enter();
	uint64_t bytes = 0;
	ocl_enqueue_begin(&e, s, event);
	cl_int status =
		ocl_next.clEnqueueSVMFree(queue, n, at, function, data, n_waits, waits, e.at);
	for (cl_uint i = 0; s && status == CL_SUCCESS && at && !function && i < n; i++)
		bytes += ocl_svm_remove(s, at[i]);
	ocl_enqueue_end(&e, status, queue, &(struct ocl_what){.kind = MSR_GPU_MARKER});
	if (s && status == CL_SUCCESS && bytes)
		ocl_done_here(s, MSR_GPU_FREE, MSR_GPU_MEMORY_MANAGED, bytes, e.enter_ns);
	ocl_leave();
	return status;
}
