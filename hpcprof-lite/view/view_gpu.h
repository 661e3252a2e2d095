/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU work: kernels, copies by direction, use of devices. Counts and times of kernels come from the
 * model's metrics, so they include operations that were aggregated during the run. Minimum,
 * maximum, and copies by direction cover only operations with a record. Test:
 * tests/unit/prof/test_view_gpu.c.
 */
#ifndef HPCPROF_VIEW_VIEW_GPU_H
#define HPCPROF_VIEW_VIEW_GPU_H

#include "common/base/vec.h"
#include "hpcprof-lite/view/view_values.h"

struct view_gpu_kernel {
	uint32_t function;              /* the placeholder if the kernel is unknown */
	double seconds, n;              /* from the metrics GKER (sec) and GKER:COUNT */
	uint64_t n_ops, min_ns, max_ns; /* of the operations with a record */
	uint32_t shape;                 /* of the first operation; MODEL_NONE if unknown */
	bool more_shapes;
};

struct view_gpu_sum {
	uint64_t n, bytes, ns;
	uint64_t once_bytes; /* of copies: bytes of the first copy of each call path */
};

struct view_gpu {
	VEC(struct view_gpu_kernel) kernels; /* by falling time, then count, then function */
	struct view_gpu_sum copies[MSR_N_GPU_DIRECTIONS], sets;
	/* By queue: operations of all lanes. ns: from the first start to the last end. */
	struct view_gpu_sum *queues;
	uint64_t *device_busy_ns;    /* by device: time with at least one operation in any queue */
	/*
	 * By device: copies that could be done in pieces that overlap the kernels before and after
	 * them.
	 */
	uint64_t *device_pieces_ns;
};

/* False if memory is short; then there is nothing to close. */
bool view_gpu_open(const struct model *m, struct view_gpu *g);
void view_gpu_close(struct view_gpu *g);

/* True if the context is a kernel. Values of the whole kernel count there. */
bool view_is_kernel(const struct model *m, uint32_t context);
/* True if the function is a placeholder, such as "<gpu kernel>". */
bool view_is_placeholder(const struct model *m, uint32_t function);
/*
 * Divides the time of each kernel over its contents by samples. A kernel without samples keeps its
 * time.
 */
void view_gpu_spread(const struct model *m, struct view_values *time,
		     const struct view_values *samples);

/* A stall reason, or the samples of warps that issued. */
struct view_gpu_stall {
	uint32_t metric;
	double value, whole; /* its samples, and all samples of the context */
};
/* The largest of a context, largest first; skips values below 5 %. Returns their number. */
unsigned view_gpu_stalls(const struct model *m, uint32_t context, enum model_scope scope,
			 struct view_gpu_stall top[2]);

#endif
