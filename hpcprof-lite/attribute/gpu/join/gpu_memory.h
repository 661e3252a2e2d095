/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the operations of a file allocated, and what was live at any time. Only of back ends
 * whose FREE names its ALLOC. Times are CLOCK_MONOTONIC of the calls: memory that is freed in order
 * with a stream counts until the call, although the device may use it longer. False: memory is
 * short. Test: tests/unit/prof_gpu/test_gpu_memory.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_MEMORY_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_MEMORY_H

#include "common/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct gpu_allocation {
	uint64_t alloc_ns, free_ns; /* UINT64_MAX: never freed */
	uint64_t bytes;
	uint32_t id_low;  /* low bits of the id of the ALLOC */
	uint32_t cell;    /* of struct gpu_join */
	uint32_t context; /* id in the file; 0: unknown */
	uint8_t memory;   /* enum msr_gpu_memory */
};

struct gpu_release {
	uint64_t free_ns;
	uint32_t id_low;
};

struct gpu_memory_refusal {
	uint64_t bytes;
	uint32_t context;
};

/* Starts as zeros. */
struct gpu_memory {
	VEC(struct gpu_allocation) allocations;
	VEC(struct gpu_release) releases; /* until gpu_memory_match() */
	VEC(struct gpu_memory_refusal) refusals;
};

bool gpu_memory_allocate(struct gpu_memory *m, const struct gpu_allocation *a);
bool gpu_memory_free(struct gpu_memory *m, uint32_t id_low, uint64_t free_ns);
bool gpu_memory_refused(struct gpu_memory *m, uint32_t context, uint64_t bytes);
/* Call it behind all of these: finds the end of each allocation. */
bool gpu_memory_match(struct gpu_memory *m);
void gpu_memory_close(struct gpu_memory *m);

static inline bool gpu_allocation_is_live(const struct gpu_allocation *a, uint64_t at_ns)
{
	return a->alloc_ns <= at_ns && a->free_ns > at_ns;
}

/* The sums of some allocations. */
struct gpu_memory_account {
	uint64_t n, n_freed;
	uint64_t bytes;         /* of all */
	uint64_t peak, peak_ns; /* the most bytes that were live, and when first */
	uint64_t end;           /* bytes that were never freed */
};
/* `all`: n allocations, in any order. */
bool gpu_memory_account(const struct gpu_allocation *all, size_t n, struct gpu_memory_account *to);

#endif
