/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a handle of the program (a queue, a kernel, a memory object, a pointer) to what we know of it. Open addressing in stripes with a lock each, so that threads
 * seldom meet. Thread-safe; not signal-safe; a lock is held for a few instructions only, never across a call of anything else.
 * Test: tests/unit/test_opencl_map.c.
 */
#ifndef HPCRUN_LITE_GPU_OPENCL_OCL_MAP_H
#define HPCRUN_LITE_GPU_OPENCL_OCL_MAP_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OCL_MAP_STRIPES 16u

struct ocl_map_entry {
	uint64_t key; /* 0: free */
	void *value;
};
struct ocl_map_stripe {
	_Alignas(64) pthread_mutex_t lock;
	struct ocl_map_entry *entries;
	size_t n, room; /* room: a power of two or 0 */
};
struct ocl_map {
	struct ocl_map_stripe stripe[OCL_MAP_STRIPES];
};

void ocl_map_init(struct ocl_map *m);
/* The value, NULL when there is none. Key 0 has none. */
void *ocl_map_get(struct ocl_map *m, uint64_t key);
/* Sets it and returns what stood there before in `*old` (may be NULL). False: no memory, or key or value is 0. */
bool ocl_map_put(struct ocl_map *m, uint64_t key, void *value, void **old);
/* Takes it out; NULL when there is none. */
void *ocl_map_take(struct ocl_map *m, uint64_t key);

static inline uint64_t ocl_key(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

#endif
