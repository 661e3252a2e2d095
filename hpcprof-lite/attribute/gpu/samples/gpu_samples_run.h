/* SPDX-License-Identifier: BSD-3-Clause */
/* What gpu_samples.c and gpu_samples_measure.c share: the samples of one file on their way into the tree. Private to the two. */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_RUN_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_RUN_H

#include "hpcprof-lite/attribute/gpu/gpu_calls.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_shares.h"

#define GPU_SAMPLE_NO_CELL UINT32_MAX

/* Equal samples: one owner, function, offset, stall. The owner is a launch's cell; or where the launches were made, which may be of several kernels; or none: to be shared out. */
struct gpu_sample {
	uint32_t cell;         /* GPU_SAMPLE_NO_CELL */
	uint32_t thread, node; /* without a cell: as in struct gpu_launcher; thread GPU_SAMPLE_NO_CELL: not known */
	uint32_t function;
	uint64_t offset, count;
	uint16_t stall;
};

static inline bool gpu_sample_has_owner(const struct gpu_sample *p)
{
	return p->cell != GPU_SAMPLE_NO_CELL || p->thread != GPU_SAMPLE_NO_CELL;
}

/* A context in which a kernel ran, with its share. */
struct gpu_launcher {
	uint32_t function, code;
	uint32_t thread, context;
	uint32_t node;         /* of the thread's tree in the file, where it launched: their order does not hang on that of the records */
	bool is_placed;        /* its launches are known: thread and node are theirs */
	uint64_t weight;       /* time in which samples did not know their launch */
	uint64_t busy_ns, window_ns; /* all its time, and that in serialized ranges */
	uint64_t n_ops;
};

/* Samples by the kernel below which they stand. */
struct gpu_kernel_samples {
	uint32_t thread, context;
	uint64_t n;
};

/* How a device function was reached from a kernel. */
struct gpu_route {
	gpu_call_paths paths;
	struct gpu_shares shares; /* over the paths; nothing when there is none */
};

/* Where a function of the file lies; scope STRUCTURE_NONE: nothing is known of its code. */
struct gpu_code_place {
	uint32_t module, scope;
	uint64_t entry;
};

struct gpu_module_calls {
	uint32_t module;
	struct gpu_calls calls;
};

struct gpu_samples_run {
	const struct gpu_sampled *s;
	const struct load_gpu *g;
	VEC(struct gpu_sample) samples;
	VEC(struct gpu_launcher) launchers; /* by function */
	uint64_t *n_apportioned;        /* by function id of the kernel: over its launchers */
	struct map kernel_index;        /* (thread, context) -> kernels */
	VEC(struct gpu_kernel_samples) kernels;
	uint32_t *metric_of_stall;      /* by id */
	struct gpu_code_place *codes;   /* by function id */
	struct map count_index;         /* (module, address) -> counts */
	VEC(struct gpu_call_counts) counts; /* samples at each address */
	VEC(struct gpu_module_calls) modules;
	struct map route_index;         /* (kernel's scope, function's scope; module) -> routes */
	VEC(struct gpu_route) routes;
};

/* The metric of its stall reason, MODEL_NONE. */
static inline uint32_t gpu_samples_metric_of(const struct gpu_samples_run *r, const struct gpu_sample *p)
{
	return p->stall < r->g->stalls.n ? r->metric_of_stall[p->stall] : MODEL_NONE;
}

/* It counts a second time what another reason counts already. */
static inline bool gpu_samples_is_second(const struct gpu_samples_run *r, const struct gpu_sample *p)
{
	return gpu_metrics_stall_flags(r->s->metrics, gpu_samples_metric_of(r, p)) & MSR_GPU_STALL_ONLY_NOT_ISSUED;
}

/* Samples that were apportioned of the kernel `function`; those of a function that the file does not define are together. */
static inline uint64_t *gpu_samples_apportioned_of(const struct gpu_samples_run *r, uint32_t function)
{
	return &r->n_apportioned[function < r->g->functions.n ? function : 0];
}

int gpu_samples_compare_launchers(const void *a, const void *b);
/* The launchers of a function: *n of them in r->launchers, from the index that is returned. */
size_t gpu_samples_launchers_of(const struct gpu_samples_run *r, uint32_t function, size_t *n);
/* Holds samples that know their launch against the apportioning, after all are counted. False when memory is short, as below. */
bool gpu_samples_measure(struct gpu_samples_run *r);
/* GSAMP: what was sampled and what was to be expected, by kernel. */
bool gpu_samples_add_sampled(struct gpu_samples_run *r);

#endif
