/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of GPUs: their names (HPCToolkit's names where it has them), what each operation adds
 * to which metric, and which metrics occur. In this file, a metric is a number: an enum gpu_metric,
 * or the number of a stall reason or counter from the measurement. Test:
 * tests/unit/prof_gpu/test_gpu_join.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_METRICS_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_METRICS_H

#include "hpcprof-lite/attribute/gpu/join/gpu_join.h"
#include "hpcprof-lite/attribute/gpu/metrics/gpu_occupancy.h"
#include "hpcprof-lite/attribute/gpu/metrics/gpu_stalls.h"
#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/load/job/load_job.h"

/* Parents come before their parts. */
enum gpu_metric {
	GPU_TIME, GPU_KERNEL_TIME, GPU_COPY_TIME, GPU_SET_TIME,
	GPU_MEMORY_TIME, GPU_SYNC_TIME,
	GPU_SYNC_TIME_OF, /* by enum msr_gpu_sync */
	GPU_KERNELS = GPU_SYNC_TIME_OF + MSR_N_GPU_SYNCS,
	GPU_BLOCKS, GPU_BLOCK_THREADS, GPU_ITEMS, GPU_REGISTERS, GPU_STATIC_SHARED,
		GPU_DYNAMIC_SHARED, GPU_BLOCK_SHARED, GPU_LOCAL, GPU_WARPS, GPU_WARPS_MOST,
	GPU_OCCUPANCY,
	GPU_COPIES,
	GPU_COPY_BYTES,   /* by enum msr_gpu_direction */
	GPU_SETS = GPU_COPY_BYTES + MSR_N_GPU_DIRECTIONS,
	GPU_SET_BYTES,    /* by enum msr_gpu_memory */
	GPU_ALLOCS = GPU_SET_BYTES + MSR_N_GPU_MEMORIES,
	GPU_ALLOC_BYTES,  /* by enum msr_gpu_memory */
	GPU_LIVE_PEAK = GPU_ALLOC_BYTES + MSR_N_GPU_MEMORIES, GPU_LIVE_END,
	GPU_SYNCS,
	GPU_MARKERS,
	GPU_REFUSED,
	GPU_COUNTED_TIME, GPU_COUNTED,
	GPU_SAMPLES, GPU_STALLED, GPU_APPORTIONED,
	GPU_BLAMED,
	GPU_BLAMED_FOR,   /* by enum gpu_dependency, from GPU_DEPENDS_ON_MEMORY on */
	GPU_UNBLAMED = GPU_BLAMED_FOR + GPU_N_DEPENDENCIES - 1,
	GPU_SAMPLED, GPU_SAMPLES_DROPPED, GPU_SAMPLES_OUTSIDE, GPU_SAMPLES_EXPECTED,
		GPU_UTILISATION,
	GPU_N_FIXED       /* stall reasons follow, then counters */
};

struct gpu_stall_metric {
	char *name;              /* "GINS:STL_GMEM"; owned */
	const char *vendor, *description;
	uint32_t flags;          /* MSR_GPU_STALL_* */
	bool counts_issues;      /* as in struct gpu_stall */
	enum gpu_dependency dependency; /* set only if no other reason counts the same samples */
};
struct gpu_counter_metric {
	const char *name, *description;
	uint32_t unit;
};

/* Samples of a stall reason, or of GPU_SAMPLES, at an instruction. `module`: of struct expand. */
struct gpu_instruction {
	uint32_t module, metric;
	uint64_t link_addr, n;
};

struct gpu_metrics {
	VEC(struct gpu_stall_metric) stalls;     /* by name */
	VEC(struct gpu_counter_metric) counters; /* by name, then unit */
	VEC(uint64_t) n_samples, sums;           /* by metric: sums of everything that was added */
	uint64_t n_exact, n_apportioned, n_unattributed; /* PC samples */
	/* above this number, the values of a file are merged instead of kept one by one */
	size_t merge_at;
	struct map instruction_index; /* (module and metric, address) -> instructions */
	VEC(struct gpu_instruction) instructions;
};

/*
 * What a cell or another source adds. `context` is a context of struct expand until it gets its
 * final id.
 */
typedef VEC(struct sum_extra) gpu_extras;

/*
 * Collects the stall reasons and counters of all files. False if memory is short, as below. In all
 * cases call gpu_metrics_free().
 */
bool gpu_metrics_init(struct gpu_metrics *m, const struct load_job *job);
/*
 * The metric of a stall reason or counter of the file; MODEL_NONE if the file does not define it.
 */
uint32_t gpu_metrics_stall(const struct gpu_metrics *m, const struct load_gpu *g, uint32_t stall);
uint32_t gpu_metrics_counter(const struct gpu_metrics *m, const struct load_gpu *g,
	uint32_t counter);
bool gpu_metrics_counts_issues(const struct gpu_metrics *m, uint32_t metric);
uint32_t gpu_metrics_stall_flags(const struct gpu_metrics *m, uint32_t metric);
enum gpu_dependency gpu_metrics_dependency(const struct gpu_metrics *m, uint32_t metric);

bool gpu_metrics_add(struct gpu_metrics *m, gpu_extras *to, const struct sum_extra *x);
/* Counts samples at an instruction. False if memory is short. */
bool gpu_metrics_add_instruction(struct gpu_metrics *m, const struct gpu_instruction *i);
/* Adds everything that the operations of a cell contribute at `context`. */
bool gpu_metrics_add_cell(struct gpu_metrics *m, gpu_extras *to, const struct load_gpu *g,
	const struct gpu_cell *c, uint32_t context);

/* How many warps of a kernel with this shape fit on an SM of its device. False if unknown. */
bool gpu_metrics_occupancy(const struct load_gpu *g, const struct msr_gpu_shape *s,
	struct gpu_occupancy *out);
/* Like gpu_occupancy_ease(), for the shape's device. */
bool gpu_metrics_ease(const struct load_gpu *g, const struct msr_gpu_shape *s,
	const struct gpu_occupancy *now, uint32_t *eased, struct gpu_occupancy *out);

/*
 * Appends the metrics that occur to those of the model. *index_of, by metric: its index in the
 * model, or MODEL_NONE if it does not occur. The caller owns *index_of.
 */
bool gpu_metrics_describe(const struct gpu_metrics *m, struct model *model, uint32_t **index_of);
void gpu_metrics_free(struct gpu_metrics *m);

#endif
