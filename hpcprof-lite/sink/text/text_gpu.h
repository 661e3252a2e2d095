/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What GPUs did, gathered for the text: kernels, copies by direction, use of devices. Counts and times of kernels are those of the model's metrics, so they
 * hold operations that were summed up in the run; least and most, and copies by direction, are of the operations with a record. Test: tests/unit/test_text_gpu.c.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_GPU_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_GPU_H

#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

struct text_gpu_kernel {
	uint32_t function;           /* the placeholder where the kernel is not known */
	double seconds, n;           /* by the metrics GKER (sec) and GKER:COUNT */
	uint64_t n_ops, min_ns, max_ns; /* of those with a record */
	uint32_t shape;              /* of the first; MODEL_NONE */
	bool more_shapes;
};

struct text_gpu_sum {
	uint64_t n, bytes, ns;
};

struct text_gpu {
	VEC(struct text_gpu_kernel) kernels; /* falling time, then count, then function */
	struct text_gpu_sum copies[MSR_N_GPU_DIRECTIONS], sets;
	struct text_gpu_sum *queues; /* by queue: operations of all lanes; ns: from the first start to the last end */
	uint64_t *device_busy_ns;    /* by device: time with at least one operation of any queue */
};

/* False when memory is short; nothing is left to close then. */
bool text_gpu_open(const struct model *m, struct text_gpu *g);
void text_gpu_close(struct text_gpu *g);

/* The first metric of this role, MODEL_NONE. */
uint32_t text_find_metric(const struct model *m, enum model_metric_role role);
/* Its total over everything; 0 where there is no such metric. */
double text_metric_total(const struct model *m, uint32_t metric);
/* The context is a kernel: what it did as a whole counts there. */
bool text_is_kernel(const struct model *m, uint32_t context);
struct text_metric;
/* Shares the time of each kernel out over what is inside of it, by samples; a kernel without samples keeps its time. */
void text_gpu_spread(const struct model *m, struct text_metric *time, const struct text_metric *samples);
/* "GMEM 71%, IDEP 12%": the stall reasons of a context, inclusive or of the very context; "" where there are none. */
void text_gpu_stalls(const struct model *m, uint32_t context, bool inclusive, char *to, size_t n_bytes);
/* The function is a placeholder, as "<gpu kernel>". */
bool text_is_placeholder(const struct model *m, uint32_t function);
/* "64 x 256", "16,16 x 8,8" (groups x work-items of a group), "4096 items" where the groups were left to the run time, with "*" where other launches have others; "" when nothing is known. */
void text_gpu_shape(char *to, size_t n_bytes, const struct model *m, uint32_t shape, bool more);
/* "host to device" ... */
const char *text_gpu_direction(enum msr_gpu_direction d);

#endif
