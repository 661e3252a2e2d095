/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make memory objects. Test: tests/unit/opencl/test_opencl_layer.c. */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

/* Call this directly after the call that made `m` or failed. */
static void made(struct ocl_state *s, cl_mem m, unsigned detail, uint64_t enter_ns)
{
	if (s && m)
		ocl_buffer_made(s, m, detail, enter_ns);
}

static unsigned buffer_detail(cl_mem_flags flags)
{
	return flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR) ? MSR_GPU_MEMORY_HOST
								     : MSR_GPU_MEMORY_DEVICE;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
		      cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_mem m = ocl_next.clCreateBuffer(context, flags, bytes, host, error);
	made(s, m, buffer_detail(flags), enter);
	ocl_leave();
	return m;
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties,
				    cl_mem_flags flags, size_t bytes, void *host, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_mem m = ocl_next.clCreateBufferWithProperties(context, properties, flags, bytes, host,
							 error);
	made(s, m, buffer_detail(flags), enter);
	ocl_leave();
	return m;
}

cl_mem clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
		     const cl_image_desc *description, void *host, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_mem m = ocl_next.clCreateImage(context, flags, format, description, host, error);
	made(s, m, MSR_GPU_MEMORY_IMAGE, enter);
	ocl_leave();
	return m;
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
				   cl_mem_flags flags, const cl_image_format *format,
				   const cl_image_desc *description, void *host, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_mem m = ocl_next.clCreateImageWithProperties(context, properties, flags, format,
							description, host, error);
	made(s, m, MSR_GPU_MEMORY_IMAGE, enter);
	ocl_leave();
	return m;
}

cl_mem clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
		       size_t width, size_t height, size_t row, void *host, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_mem m =
		ocl_next.clCreateImage2D(context, flags, format, width, height, row, host, error);
	made(s, m, MSR_GPU_MEMORY_IMAGE, enter);
	ocl_leave();
	return m;
}

cl_mem clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format,
		       size_t width, size_t height, size_t depth, size_t row, size_t slice,
		       void *host, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_mem m = ocl_next.clCreateImage3D(context, flags, format, width, height, depth, row,
					    slice, host, error);
	made(s, m, MSR_GPU_MEMORY_IMAGE, enter);
	ocl_leave();
	return m;
}

cl_mem clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes, cl_uint n_packets,
		    const cl_pipe_properties *properties, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	cl_mem m =
		ocl_next.clCreatePipe(context, flags, packet_bytes, n_packets, properties, error);
	made(s, m, MSR_GPU_MEMORY_DEVICE, enter);
	ocl_leave();
	return m;
}

/* ---- shared virtual memory ---- */

void *clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s ? clock_mono_ns() : 0;
	void *at = ocl_next.clSVMAlloc(context, flags, bytes, alignment);
	if (s && at) {
		ocl_svm_add(s, at, bytes);
		ocl_done_here(s, MSR_GPU_ALLOC, MSR_GPU_MEMORY_MANAGED, bytes, enter);
	}
	ocl_leave();
	return at;
}

/* Forget the range before the call, because another thread may get the same address afterwards. */
void clSVMFree(cl_context context, void *at)
{
	struct ocl_state *s = ocl_enter();
	uint64_t enter = s && at ? clock_mono_ns() : 0, bytes = s && at ? ocl_svm_remove(s, at) : 0;
	ocl_next.clSVMFree(context, at);
	if (bytes)
		ocl_done_here(s, MSR_GPU_FREE, MSR_GPU_MEMORY_MANAGED, bytes, enter);
	ocl_leave();
}
