/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the OpenCL back end: small zeroed pieces of anonymous mappings, by size class. The
 * mappings are never returned to the system, so that a stale handle of the program leads to old
 * data and not to a fault. We do not use malloc, because we must not disturb the program's
 * allocator. Thread-safe; not signal-safe; keeps errno. Test: tests/unit/opencl/test_opencl_map.c.
 */
#ifndef HPCRUN_LITE_GPU_OPENCL_OCL_MEMORY_H
#define HPCRUN_LITE_GPU_OPENCL_OCL_MEMORY_H

#include <pthread.h>
#include <stddef.h>

#define OCL_MEMORY_CLASSES 8u /* 64 bytes to 8 KiB; larger pieces have a mapping of their own */

struct ocl_memory {
	pthread_mutex_t lock;
	char *at, *end;              /* the rest of the last mapping */
	void *free[OCL_MEMORY_CLASSES];
};

void ocl_memory_init(struct ocl_memory *m);
/* Returns zeroed memory; NULL if there is none. `bytes` > 0. */
void *ocl_memory_get(struct ocl_memory *m, size_t bytes);
/* `bytes` must be as in ocl_memory_get. NULL: does nothing. */
void ocl_memory_put(struct ocl_memory *m, void *piece, size_t bytes);

/* Makes a separate mapping; NULL if there is no memory. */
void *ocl_memory_map(size_t bytes);
void ocl_memory_unmap(void *piece, size_t bytes);

#endif
