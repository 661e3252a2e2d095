/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of the model: memory that a process had on a GPU, or pinned for GPUs. Include model.h. Every
 * allocation that was seen counts, at the times of its calls.
 */
#ifndef HPCPROF_MODEL_MODEL_GPU_MEMORY_H
#define HPCPROF_MODEL_MODEL_GPU_MEMORY_H

#include <stdint.h>

struct model_gpu_memory {
	uint32_t process;
	uint32_t device;        /* MODEL_NONE: memory of the host, or unknown */
	uint8_t memory;         /* enum msr_gpu_memory: DEVICE (arrays, too), MANAGED, HOST */
	uint64_t peak, peak_ns; /* the most bytes that were live; when first, CLOCK_REALTIME */
	uint64_t end;           /* bytes that were never freed */
	uint64_t bytes;         /* of all allocations */
	uint64_t n_allocations, n_freed;
	uint64_t n_refused,
		refused_most; /* allocations that failed, and the bytes of the largest */
};

#endif
