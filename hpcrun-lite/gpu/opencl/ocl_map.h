/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps a handle of the program (a queue, a kernel, a memory object, a pointer) to what we know
 * about it. Open addressing, in stripes with a lock each, so that threads rarely wait for each
 * other. Thread-safe; not signal-safe. A lock is held for a few instructions and never across
 * another call. Test: tests/unit/opencl/test_opencl_map.c.
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
/* Returns the value; NULL if there is none. Key 0 never has one. */
void *ocl_map_get(struct ocl_map *m, uint64_t key);
/*
 * Sets the value and returns the previous one in `*old` (may be NULL). Returns false if there is no
 * memory, or key or value is 0.
 */
bool ocl_map_put(struct ocl_map *m, uint64_t key, void *value, void **old);
/* Removes and returns the value; NULL if there is none. */
void *ocl_map_take(struct ocl_map *m, uint64_t key);

static inline uint64_t ocl_key(const void *handle)
{
	return (uint64_t)(uintptr_t)handle;
}

#endif
