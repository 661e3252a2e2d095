/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of adding one file's samples to the tree. Private to the files gpu_samples*.c: gather
 * reads the samples, code finds the code that they are in, share chooses the launchers, count adds
 * to the tree, blame counts stalls at their causes, and measure finds how wrong the shares are.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_RUN_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLES_RUN_H

#include "hpcprof-lite/attribute/gpu/samples/gpu_calls.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_causes.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_samples.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_shares.h"

#define GPU_SAMPLE_NO_CELL UINT32_MAX

/*
 * Equal samples: the same owner, function, offset and stall. The owner is the cell of a launch, or
 * the place that made launches, possibly of several kernels. Samples without an owner are
 * apportioned.
 */
struct gpu_sample {
	uint32_t cell;         /* GPU_SAMPLE_NO_CELL: none */
	/* without a cell: as in struct gpu_launcher; thread GPU_SAMPLE_NO_CELL: unknown */
	uint32_t thread, node;
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
	/*
	 * The launching node in the thread's tree in the file, ignoring NVTX ranges: launches on
	 * one path but in two ranges have one context. It makes the order of launchers independent
	 * of the order of records.
	 */
	uint32_t node;
	bool is_placed;        /* its launches are known; thread and node belong to them */
	uint64_t weight;       /* time in which samples carried no launch id */
	uint64_t busy_ns, window_ns; /* all its time; its time in serialized ranges */
	uint64_t n_ops;
};

/* The number of samples below a kernel. */
struct gpu_kernel_samples {
	uint32_t thread, context;
	uint64_t n;
};

/* The call paths from a kernel to a device function. */
struct gpu_route {
	gpu_call_paths paths;
	struct gpu_shares shares; /* over the paths; unused if there are no paths */
};

/* The location of a function of the file. Scope STRUCTURE_NONE: its code is unknown. */
struct gpu_code_place {
	uint32_t module, scope;
	uint64_t entry;
};

/* The causes of an instruction's wait, for one kind of stall reason. */
struct gpu_choice {
	gpu_causes causes;
	struct gpu_shares shares; /* over the causes; unused if there are none */
};

/*
 * How often a cause was issued. The instructions that wait for it share this number by their
 * samples.
 */
struct gpu_issue {
	uint64_t n_issued, n_waiting;
	uint32_t bytes;
	/* the parts of n_waiting and n_issued that are already shared out */
	uint64_t passed, dealt;
};
struct gpu_issue_part {
	uint64_t issue, blame, n_waiting;
};

struct gpu_module_calls {
	uint32_t module;
	struct gpu_calls calls;
};

struct gpu_samples_run {
	const struct gpu_sampled *s;
	const struct load_gpu *g;
	VEC(struct gpu_sample) samples;
	VEC(struct gpu_launcher) launchers; /* by function, thread, node, what the context is */
	/* by function id of the kernel: samples apportioned over its launchers */
	uint64_t *n_apportioned;
	struct map kernel_index;        /* (thread, context) -> kernels */
	VEC(struct gpu_kernel_samples) kernels;
	uint32_t *metric_of_stall;      /* by stall id */
	struct gpu_code_place *codes;   /* by function id */
	struct map count_index;         /* (module, address) -> counts */
	VEC(struct gpu_call_counts) counts; /* samples at each address */
	VEC(struct gpu_module_calls) modules;
	struct map route_index; /* (scope of the kernel, scope of the function; module) -> routes */
	VEC(struct gpu_route) routes;
	struct map choice_index; /* (address; module, dependency) -> choices */
	VEC(struct gpu_choice) choices;
	struct map issue_index; /* (module, address) of a cause -> issues */
	VEC(struct gpu_issue) issues;
	struct map issue_part_index; /* (issue, entry of the blames) -> issue_parts */
	VEC(struct gpu_issue_part) issue_parts;
};

/* The metric of the sample's stall reason, or MODEL_NONE. */
static inline uint32_t gpu_samples_metric_of(const struct gpu_samples_run *r,
	const struct gpu_sample *p)
{
	return p->stall < r->g->stalls.n ? r->metric_of_stall[p->stall] : MODEL_NONE;
}

/* True if another reason already counts the same samples. */
static inline bool gpu_samples_is_second(const struct gpu_samples_run *r,
	const struct gpu_sample *p)
{
	return gpu_metrics_stall_flags(r->s->metrics, gpu_samples_metric_of(r, p)) &
		MSR_GPU_STALL_ONLY_NOT_ISSUED;
}

/*
 * The number of apportioned samples of the kernel `function`. Functions that the file does not
 * define share one number.
 */
static inline uint64_t *gpu_samples_apportioned_of(const struct gpu_samples_run *r,
	uint32_t function)
{
	return &r->n_apportioned[function < r->g->functions.n ? function : 0];
}

/* ---- gpu_samples_gather.c ---- */

/* The node of a place: the first node upwards that is not an NVTX range. */
uint32_t gpu_samples_place(const struct gpu_samples_run *r, uint32_t thread, uint32_t node);
/* Reads the samples of the file, sorted by function, cell, thread and node. False if memory is
 * short, as in all functions below that return bool. */
bool gpu_samples_gather(struct gpu_samples_run *r);
/* Lists the contexts in which kernels ran. */
bool gpu_samples_gather_launchers(struct gpu_samples_run *r);
/* Compares launchers by everything except the context. Several contexts may compare equal. */
int gpu_samples_compare_places(const void *a, const void *b);
/* Finds the launchers of a function: *n entries of r->launchers. Returns the index of the first. */
size_t gpu_samples_launchers_of(const struct gpu_samples_run *r, uint32_t function, size_t *n);

/* ---- gpu_samples_code.c ---- */

/* The code object of a function. Both are ids of the file; 0: unknown. */
uint32_t gpu_samples_code_of(const struct load_gpu *g, uint32_t function);
bool gpu_samples_find_codes(struct gpu_samples_run *r);
/* The location of a function's code. NULL: unknown. */
const struct gpu_code_place *gpu_samples_code(const struct gpu_samples_run *r, uint32_t function);
/* Counts the samples at each address. Call sites get their weights from these counts. */
bool gpu_samples_count_addresses(struct gpu_samples_run *r);
/*
 * Returns the route from one function scope to another, and finds it on first use. NULL: memory is
 * short.
 */
struct gpu_route *gpu_samples_route(struct gpu_samples_run *r, uint32_t module, uint32_t kernel,
	uint32_t function);

/* ---- gpu_samples_count.c ---- */

/* How sure we are that a sample belongs to the context where it counts. */
enum gpu_certainty { GPU_EXACT, GPU_SHARED, GPU_UNATTRIBUTED };

struct gpu_counted {
	uint32_t thread;
	uint32_t kernel;   /* context of the kernel */
	uint32_t launched; /* id of the kernel's function */
	uint64_t n;        /* samples */
	enum gpu_certainty certainty; /* of `kernel` */
};

/*
 * Counts c->n samples like `p` below a kernel: in the kernel itself, or in the sampled function, at
 * the end of the calls that lead to it.
 */
bool gpu_samples_count(struct gpu_samples_run *r, const struct gpu_sample *p,
	const struct gpu_counted *c);

/* ---- gpu_samples_blame.c ---- */

/* Samples of stalled warps at a context. */
struct gpu_stalled {
	const struct gpu_sample *sample;
	const struct gpu_code_place *code; /* NULL: unknown */
	uint64_t n;
	uint32_t thread;
	uint32_t context;
	/* is_called: the context above the sampled function; otherwise the context of the kernel */
	uint32_t above;
	bool is_called;
};
/* Counts stalls at their causes, if the structures list causes. */
bool gpu_samples_blame(struct gpu_samples_run *r, const struct gpu_stalled *w);
/* Shares out how often causes were issued. Call it after all samples are counted. */
void gpu_samples_share_issues(struct gpu_samples_run *r);

/* ---- gpu_samples_share.c ---- */

bool gpu_samples_share_all(struct gpu_samples_run *r);

/* ---- gpu_samples_measure.c ---- */

/*
 * Compares the samples whose launch is known with the result of apportioning. Call it after all
 * samples are counted.
 */
bool gpu_samples_measure(struct gpu_samples_run *r);
/* Adds GSAMP: sampled and expected samples, by kernel. */
bool gpu_samples_add_sampled(struct gpu_samples_run *r);

#endif
