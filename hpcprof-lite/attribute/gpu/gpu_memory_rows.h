/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of GPUs by device: its account, and the metrics of what was live at the peak and at the
 * end. Test: tests/gpu/ways.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_MEMORY_ROWS_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_MEMORY_ROWS_H

#include "hpcprof-lite/attribute/gpu/join/gpu_join.h"
#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h"

/* The memory of one kind that a file's process had on one device. Parts exchange it. */
struct gpu_memory_row {
	uint32_t file;
	uint32_t device; /* id in the file; 0: the host's, or unknown */
	uint32_t memory; /* enum msr_gpu_memory */
	struct gpu_memory_account account;
	uint64_t n_refused, refused_most;
};
typedef VEC(struct gpu_memory_row) gpu_memory_rows;

/*
 * Adds the rows of a file, and the values of its contexts (context_of: by cell) for memory on
 * devices. Reorders the allocations. False if memory is short.
 */
bool gpu_memory_add(gpu_memory_rows *rows, uint32_t file, struct gpu_join *j,
		    const uint32_t *context_of, struct gpu_metrics *metrics, gpu_extras *extras);

#endif
