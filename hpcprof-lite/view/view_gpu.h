/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What GPUs did: kernels, copies by direction, use of devices. Counts and times of kernels are
 * those of the model's metrics, so they hold operations that were summed up in the run; least and
 * most, and copies by direction, are of the operations with a record. Test:
 * tests/unit/test_view_gpu.c.
 */
#ifndef HPCPROF_VIEW_VIEW_GPU_H
#define HPCPROF_VIEW_VIEW_GPU_H

#include "common/base/vec.h"
#include "hpcprof-lite/view/view_values.h"

struct view_gpu_kernel {
	uint32_t function;              /* the placeholder where the kernel is not known */
	double seconds, n;              /* by the metrics GKER (sec) and GKER:COUNT */
	uint64_t n_ops, min_ns, max_ns; /* of those with a record */
	uint32_t shape;                 /* of the first; MODEL_NONE */
	bool more_shapes;
};

struct view_gpu_sum {
	uint64_t n, bytes, ns;
};

struct view_gpu {
	VEC(struct view_gpu_kernel) kernels; /* falling time, then count, then function */
	struct view_gpu_sum copies[MSR_N_GPU_DIRECTIONS], sets;
	struct view_gpu_sum *queues; /* by queue: operations of all lanes; ns: from the first start
					to the last end */
	uint64_t *device_busy_ns;    /* by device: time with at least one operation of any queue */
};

/* False when memory is short; nothing is left to close then. */
bool view_gpu_open(const struct model *m, struct view_gpu *g);
void view_gpu_close(struct view_gpu *g);

/* The context is a kernel: what it did as a whole counts there. */
bool view_is_kernel(const struct model *m, uint32_t context);
/* The function is a placeholder, as "<gpu kernel>". */
bool view_is_placeholder(const struct model *m, uint32_t function);
/* Shares the time of each kernel out over what is inside of it, by samples; a kernel without
 * samples keeps its time. */
void view_gpu_spread(const struct model *m, struct view_values *time,
		     const struct view_values *samples);

/* A stall reason, or the samples that issued. */
struct view_gpu_stall {
	uint32_t metric;
	double value, whole; /* its samples, and all of the context */
};
/* The largest of a context first, those below 5 % left out. Returns how many there are. */
unsigned view_gpu_stalls(const struct model *m, uint32_t context, enum model_scope scope,
			 struct view_gpu_stall top[2]);

#endif
