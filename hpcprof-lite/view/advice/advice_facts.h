/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The facts that advice rests on: PC samples by stall reason, launch characteristics of kernels,
 * and how the time of devices was divided. The rules read these facts and not the model, so that
 * tests can make them up. Test: tests/unit/prof_gpu/test_advice.c.
 */
#ifndef HPCPROF_VIEW_ADVICE_ADVICE_FACTS_H
#define HPCPROF_VIEW_ADVICE_ADVICE_FACTS_H

#include "hpcprof-lite/view/view_blame.h"
#include "hpcprof-lite/view/view_evidence.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_hot.h"

/* Stall reasons that a rule looks at. */
enum advice_reason {
	ADVICE_MEMORY,       /* a result from global, local or texture memory */
	ADVICE_MEMORY_QUEUE, /* room in the queue of these accesses */
	ADVICE_SHORT,        /* a result from shared memory, a special function or the like */
	ADVICE_SHORT_QUEUE,
	ADVICE_PIPE, /* an arithmetic unit */
	ADVICE_BARRIER,
	ADVICE_FETCH,
	ADVICE_CONSTANT,
	ADVICE_FIXED, /* the fixed latency of the instruction before it */
	ADVICE_BRANCH,
	ADVICE_DRAIN, /* the end of stores, before a warp ends */
	ADVICE_OTHER,
	ADVICE_N_REASONS
};

struct advice_samples {
	double all, issued; /* issued: the sampled warp issued an instruction */
	double stalled[ADVICE_N_REASONS];
	/* the part of stalled[] in which the scheduler issued nothing: cycles that were lost */
	double idle[ADVICE_N_REASONS];
};

struct advice_line {
	uint32_t context;
	struct advice_samples samples;
};

/* What the cause of a wait does. */
enum advice_operation {
	ADVICE_OTHER_OPERATION,
	ADVICE_GLOBAL, /* or memory whose kind only the run shows */
	ADVICE_STRONG,  /* a volatile load */
	ADVICE_ATOMIC,  /* on global memory, or on memory whose kind only the run shows */
	ADVICE_LOCAL,
	ADVICE_SHARED,
	ADVICE_SPECIAL, /* MUFU */
	ADVICE_CONVERSION,
	ADVICE_DIVISION, /* the conversion that an integer division begins with */
	ADVICE_PATHS,   /* different paths of a warp: `issued` would end without them */
	ADVICE_TABLE,   /* constant memory with an index */
	ADVICE_N_OPERATIONS
};

/* A line that warps waited for, on another line or on the same one. */
struct advice_cause {
	uint32_t context;
	enum advice_reason reason;
	enum advice_operation operation;
	double samples;
	/*
	 * issued: samples of warps that issued the operation; bytes: these times the bytes for a
	 * thread
	 */
	double issued, bytes;
	double cycles;  /* `samples` times the cycles that a warp waits each time */
	/* samples that wait in a loop, but not those of chained loads (is_chained) */
	double in_loop;
};

/*
 * The launch characteristics that all launches of a kernel share. units == 0: unknown, or they
 * differ.
 */
struct advice_shape {
	uint32_t units; /* SMs of the device */
	double blocks;
	uint32_t block_warps, block_threads;
	uint32_t registers, shared_bytes, local_bytes; /* of a thread, a block, a thread */
	/*
	 * Warps that fit on an SM; how many fit if the limit is eased to `eased`; the most it can
	 * hold.
	 */
	uint32_t warps, eased_warps, warps_most;
	enum model_gpu_limit limit;
	uint32_t eased;    /* registers, bytes of shared memory or threads; 0: unknown */
};

struct advice_kernel {
	uint32_t function;
	double seconds, launches;
	double beside; /* mean number of kernels that ran at a time, over the run: 1 or more */
	struct advice_samples samples;   /* of all lines; all == 0: there are none */
	const struct advice_line *lines; /* n_lines, by falling samples */
	size_t n_lines;
	const struct advice_cause *causes; /* n_causes; 0: unknown */
	size_t n_causes;
	/* Share of the SMs that had a warp, by the rate of samples; 0: unknown. */
	double busy_units;
	/* Rate of memory: bytes for each SM and cycle; 0: unknown. */
	double memory_rate;
	struct advice_shape shape;
};

/* One device, from its first operation to its last. In seconds. */
struct advice_device {
	uint32_t device;
	double whole, kernels, copies, overlap;
	double pieces; /* copies that kernels could overlap, as in struct view_gpu */
	double idle[MODEL_N_GPU_IDLE_CAUSES];
	double setup;  /* the part of idle[MODEL_GPU_IDLE_NOTHING] before the first kernel */
	double n_kernels, n_waits; /* shared out by time if there are several devices */
	double n_launches;         /* kernels that were launched one by one, not in graphs */
	/* Calls that allocate or free memory where this is done again and again. */
	double n_allocations, allocation;
	struct view_place calls[VIEW_PLACES]; /* n_calls of their lines, with shares of the time */
	unsigned n_calls;
	bool is_sampled;           /* PC sampling in kernels made launches slower */
	double link_rate;          /* bytes a second, of pinned memory; 0: unknown */
	struct view_gpu_sum to_device, from_device; /* copies */
};

struct advice_facts {
	VEC(struct advice_kernel) kernels;
	VEC(struct advice_device) devices; /* none if sampling serialized the kernels */
	struct advice_line *lines;
	struct advice_cause *causes;
};

/*
 * The share of all samples in which a scheduler issued, and in which it issued nothing for a
 * reason.
 */
double advice_active(const struct advice_samples *s);
double advice_idle(const struct advice_samples *s, enum advice_reason r);

/* False if memory is short. In all cases call advice_facts_free(). */
bool advice_facts_make(const struct model *m, const struct view_gpu *g, struct advice_facts *f);
void advice_facts_free(struct advice_facts *f);

#endif
