/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the driver that does not exist: allocations are malloc's, copies and sets take their
 * time and move nothing. See fake_cuda.c. */
#include "tests/gpu/fake/fake_cuda.h"

#include <stdlib.h>

#define DEVICE_BYTES ((size_t)1 << 30)

API CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n)
{
	ENTER(cuMemAlloc_v2, NULL, p, n);
	if (n > DEVICE_BYTES)
		LEAVE(CUDA_ERROR_OUT_OF_MEMORY);
	*p = (CUdeviceptr)(uintptr_t)malloc(n);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuMemFree_v2(CUdeviceptr p)
{
	ENTER(cuMemFree_v2, NULL, p);
	free((void *)(uintptr_t)p);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
	ENTER(cuMemHostAlloc, NULL, p, n, flags);
	*p = malloc(n);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuMemFreeHost(void *p)
{
	ENTER(cuMemFreeHost, NULL, p);
	free(p);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s)
{
	ENTER(cuMemAllocAsync, NULL, p, n, s);
	*p = (CUdeviceptr)(uintptr_t)malloc(n);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream s)
{
	ENTER(cuMemFreeAsync, NULL, p, s);
	free((void *)(uintptr_t)p);
	LEAVE(CUDA_SUCCESS);
}

API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n)
{
	ENTER(cuMemcpyHtoD_v2, NULL, to, from, n);
	LEAVE(fake_copy(NULL, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, n, call.d.correlationId, true));
}
API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s)
{
	ENTER(cuMemcpyHtoDAsync_v2, NULL, to, from, n, s);
	LEAVE(fake_copy(s, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, n, call.d.correlationId, false));
}
API CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n)
{
	ENTER(cuMemcpyDtoH_v2, NULL, to, from, n);
	LEAVE(fake_copy(NULL, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, n, call.d.correlationId, true));
}
API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s)
{
	ENTER(cuMemcpyDtoHAsync_v2, NULL, to, from, n, s);
	LEAVE(fake_copy(s, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, n, call.d.correlationId, false));
}
API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n)
{
	ENTER(cuMemcpyDtoD_v2, NULL, to, from, n);
	LEAVE(fake_copy(NULL, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, n, call.d.correlationId, false));
}
API CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char c, size_t n)
{
	ENTER(cuMemsetD8_v2, NULL, to, c, n);
	LEAVE(fake_set(NULL, n, call.d.correlationId));
}
API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned v, size_t n, CUstream s)
{
	ENTER(cuMemsetD32Async, NULL, to, v, n, s);
	LEAVE(fake_set(s, 4 * n, call.d.correlationId));
}
API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			  CUcontext from_context, size_t n)
{
	ENTER(cuMemcpyPeer, NULL, to, to_context, from, from_context, n);
	LEAVE(fake_peer_copy(NULL, to_context, from_context, n, call.d.correlationId));
}
API CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			       CUcontext from_context, size_t n, CUstream s)
{
	ENTER(cuMemcpyPeerAsync, NULL, to, to_context, from, from_context, n, s);
	LEAVE(fake_peer_copy(s, to_context, from_context, n, call.d.correlationId));
}
