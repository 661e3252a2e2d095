/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of GPUs: names (HPCToolkit's where it has one), what an operation adds to which, and which of them occur. A metric is a number here: an
 * enum gpu_metric, or one of a stall reason or counter that the measurement names. Test: tests/unit/test_gpu_join.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_METRICS_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_METRICS_H

#include "hpcprof-lite/attribute/gpu/gpu_join.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_occupancy.h"
#include "hpcprof-lite/attribute/sum.h"
#include "hpcprof-lite/load/load_job.h"

/* Parents come before their parts. */
enum gpu_metric {
	GPU_TIME, GPU_KERNEL_TIME, GPU_COPY_TIME, GPU_SET_TIME,
	GPU_MEMORY_TIME, GPU_SYNC_TIME,
	GPU_SYNC_TIME_OF, /* by enum msr_gpu_sync */
	GPU_KERNELS = GPU_SYNC_TIME_OF + MSR_N_GPU_SYNCS,
	GPU_BLOCKS, GPU_BLOCK_THREADS, GPU_ITEMS, GPU_REGISTERS, GPU_STATIC_SHARED, GPU_DYNAMIC_SHARED, GPU_BLOCK_SHARED, GPU_LOCAL, GPU_WARPS, GPU_WARPS_MOST,
	GPU_OCCUPANCY,
	GPU_COPIES,
	GPU_COPY_BYTES,   /* by enum msr_gpu_direction */
	GPU_SETS = GPU_COPY_BYTES + MSR_N_GPU_DIRECTIONS,
	GPU_SET_BYTES,    /* by enum msr_gpu_memory */
	GPU_ALLOCS = GPU_SET_BYTES + MSR_N_GPU_MEMORIES,
	GPU_ALLOC_BYTES,  /* by enum msr_gpu_memory */
	GPU_SYNCS = GPU_ALLOC_BYTES + MSR_N_GPU_MEMORIES,
	GPU_MARKERS,
	GPU_SAMPLES, GPU_STALLED, GPU_APPORTIONED,
	GPU_SAMPLED, GPU_SAMPLES_DROPPED, GPU_SAMPLES_OUTSIDE, GPU_SAMPLES_EXPECTED, GPU_UTILISATION,
	GPU_N_FIXED       /* then stall reasons, then counters */
};

struct gpu_stall_metric {
	char *name;              /* "GINS:STL_GMEM"; owned */
	const char *vendor, *description;
	uint32_t flags;          /* MSR_GPU_STALL_* */
	bool counts_issues;      /* as in struct gpu_stall */
};
struct gpu_counter_metric {
	const char *name, *description;
	uint32_t unit;
};

struct gpu_metrics {
	VEC(struct gpu_stall_metric) stalls;     /* by name */
	VEC(struct gpu_counter_metric) counters; /* by name, unit */
	VEC(uint64_t) n_samples, sums;           /* by metric: what was added in all */
	uint64_t n_exact, n_apportioned, n_unattributed; /* PC samples */
	size_t merge_at;                         /* so many values of a file are too many to be kept one by one */
};

/* What a cell (or its like) adds; `context` is of struct expand until it is renamed. */
typedef VEC(struct sum_extra) gpu_extras;

/* The stall reasons and counters of all files. False when memory is short, as below; gpu_metrics_free() in any case. */
bool gpu_metrics_init(struct gpu_metrics *m, const struct load_job *job);
/* The metric of a file's stall reason or counter; MODEL_NONE when the file does not define it. */
uint32_t gpu_metrics_stall(const struct gpu_metrics *m, const struct load_gpu *g, uint32_t stall);
uint32_t gpu_metrics_counter(const struct gpu_metrics *m, const struct load_gpu *g, uint32_t counter);
bool gpu_metrics_counts_issues(const struct gpu_metrics *m, uint32_t metric);
uint32_t gpu_metrics_stall_flags(const struct gpu_metrics *m, uint32_t metric);

bool gpu_metrics_add(struct gpu_metrics *m, gpu_extras *to, const struct sum_extra *x);
/* All that the operations of a cell add at `context`. */
bool gpu_metrics_add_cell(struct gpu_metrics *m, gpu_extras *to, const struct load_gpu *g, const struct gpu_cell *c, uint32_t context);

/* How many warps of a kernel with this shape fit on an SM of its device; false where that is not known. */
bool gpu_metrics_occupancy(const struct load_gpu *g, const struct msr_gpu_shape *s, struct gpu_occupancy *out);

/* Appends those that occur to the model's metrics. *index_of, owned by the caller: place in the model by metric, MODEL_NONE where it does not occur. */
bool gpu_metrics_describe(const struct gpu_metrics *m, struct model *model, uint32_t **index_of);
void gpu_metrics_free(struct gpu_metrics *m);

#endif
