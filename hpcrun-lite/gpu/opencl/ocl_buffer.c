/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory objects and their mapped regions. An object counts as freed when the program drops its
 * last reference, even if the implementation keeps it longer. Test:
 * tests/unit/opencl/test_opencl_layer.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

#include <string.h>

struct ocl_buffer {
	uint64_t bytes;
	_Atomic uint32_t n_references;
	uint8_t detail; /* enum msr_gpu_memory */
};

static uint64_t ask_bytes(cl_mem handle)
{
	size_t bytes = 0;
	return ocl_next.clGetMemObjectInfo(handle, CL_MEM_SIZE, sizeof bytes, &bytes, NULL) ==
			       CL_SUCCESS
		       ? bytes
		       : 0;
}

void ocl_buffer_made(struct ocl_state *s, cl_mem handle, unsigned detail, uint64_t enter_ns)
{
	struct ocl_buffer *b = ocl_memory_get(&s->memory, sizeof *b);
	void *old = NULL;
	uint64_t bytes = ask_bytes(handle);
	ocl_done_here(s, MSR_GPU_ALLOC, detail, bytes, enter_ns);
	if (!b)
		return;
	b->bytes = bytes;
	b->n_references = 1;
	b->detail = (uint8_t)detail;
	if (!ocl_map_put(&s->buffers, ocl_key(handle), b, &old))
		ocl_memory_put(&s->memory, b, sizeof *b);
	ocl_memory_put(&s->memory, old, sizeof *b);
}

uint64_t ocl_buffer_bytes(struct ocl_state *s, cl_mem handle)
{
	const struct ocl_buffer *b = ocl_map_get(&s->buffers, ocl_key(handle));
	return b ? b->bytes : ask_bytes(handle);
}

uint64_t ocl_image_bytes(cl_mem image, const size_t *region)
{
	size_t element = 0;
	if (!region || ocl_next.clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element,
					       &element, NULL) != CL_SUCCESS)
		return 0;
	return (uint64_t)region[0] * region[1] * region[2] * element;
}

cl_int clRetainMemObject(cl_mem handle)
{
	struct ocl_state *s = ocl_enter();
	cl_int status = ocl_next.clRetainMemObject(handle);
	struct ocl_buffer *b =
		s && status == CL_SUCCESS ? ocl_map_get(&s->buffers, ocl_key(handle)) : NULL;
	if (b)
		atomic_fetch_add_explicit(&b->n_references, 1, memory_order_relaxed);
	ocl_leave();
	return status;
}

/* Forget the object before the call, because another thread may get the same handle afterwards. */
cl_int clReleaseMemObject(cl_mem handle)
{
	struct ocl_state *s = ocl_enter();
	struct ocl_buffer *b = s ? ocl_map_get(&s->buffers, ocl_key(handle)) : NULL;
	uint64_t enter = b ? clock_mono_ns() : 0;
	bool last = b && atomic_fetch_sub_explicit(&b->n_references, 1, memory_order_acq_rel) == 1;
	if (last)
		ocl_map_take(&s->buffers, ocl_key(handle));
	cl_int status = ocl_next.clReleaseMemObject(handle);
	if (last) {
		if (status == CL_SUCCESS)
			ocl_done_here(s, MSR_GPU_FREE, b->detail, b->bytes, enter);
		ocl_memory_put(&s->memory, b, sizeof *b);
	}
	ocl_leave();
	return status;
}

/* ---- mappings: how many bytes an unmap gives back ---- */

static uint64_t map_key(cl_mem handle, const void *at)
{
	uint64_t h = ocl_key(handle);
	return ocl_key(at) ^ (h << 20 | h >> 44);
}

/* The pointer in the map is the number of bytes plus 1, because NULL means no entry. */
void ocl_map_remember(struct ocl_state *s, cl_mem handle, const void *at, uint64_t bytes)
{
	ocl_map_put(&s->mapped, map_key(handle, at), (void *)(uintptr_t)(bytes + 1), NULL);
}

uint64_t ocl_map_forget(struct ocl_state *s, cl_mem handle, const void *at)
{
	uint64_t bytes = (uint64_t)(uintptr_t)ocl_map_take(&s->mapped, map_key(handle, at));
	return bytes ? bytes - 1 : 0;
}
