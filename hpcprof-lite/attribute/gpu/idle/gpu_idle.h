/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blames the idle time of GPUs on what CPU threads did meanwhile, and the time that threads waited
 * for GPUs on the operations that ran meanwhile. Also finds why each device was idle.
 *
 * After M. Chabbi, K. Murthy, M. Fagan, J. Mellor-Crummey, "Effective Sampling-Driven Performance
 * Tools for GPU-Accelerated Supercomputers", SC 2013. There each CPU sample asks whether the CPU
 * and the GPU are idle, and the period of the sample is the blame. Here the intervals of operations
 * and waits are exact, and only what a thread did in an idle interval comes from samples. So both
 * kinds of blame add up to the nanosecond, and the measured process pays nothing for them.
 * doc/gpu-idle.md has all definitions. Tests: tests/unit/prof_gpu/test_gpu_idle.c,
 * tests/cli/opencl/ocl_idle.sh, tests/gpu/idle.sh.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_IDLE_GPU_IDLE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_IDLE_GPU_IDLE_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/model/private.h"

enum gpu_idle_metric { GPU_IDLE_CAUSE, CPU_IDLE_CAUSE, GPU_IDLE_METRICS };

/* An amount of blame. */
struct gpu_blame {
	uint32_t profile, context;
	uint32_t metric;           /* enum gpu_idle_metric */
	uint64_t n;                /* intervals */
	uint64_t ns;
};

/*
 * The part of the run to look at: a time, and consecutive processes that share no GPU with others.
 */
struct gpu_idle_of {
	uint64_t from_ns, until_ns;          /* [from_ns, until_ns) */
	uint32_t first_process, end_process; /* first_process .. end_process - 1 */
};

/* The result. */
struct gpu_idle {
	VEC(struct gpu_blame) blames; /* by profile, metric, context */
	bool occurs[GPU_IDLE_METRICS];  /* by metric: some blame exists */
	struct model_gpu_idle *devices; /* by device of the model */
	struct model_gpu_waits waits;
};

/*
 * `m` must be a whole run with its time lines and private_->gpu_times; without them nothing is
 * known. Reads each time line once, so memory does not grow with samples or operations. Works in
 * parallel on devices that no process connects. False if memory is short. In all cases call
 * gpu_idle_free().
 */
bool gpu_idle_find(const struct model *m, const struct gpu_idle_of *of, unsigned n_workers,
		   struct gpu_idle *out);
void gpu_idle_free(struct gpu_idle *i);

/* Appends the metrics that occur. index_of[]: their index in the model, or MODEL_NONE. */
bool gpu_idle_add_metrics(struct model *m, const struct gpu_idle *i,
			  uint32_t index_of[GPU_IDLE_METRICS]);

/* In gpu_idle_topic.c. */
extern const struct topic_ops topic_gpu_idle;

#endif
