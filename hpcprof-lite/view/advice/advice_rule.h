/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the rules of advice_kernels.c, advice_shapes.c and advice_devices.c. */
#ifndef HPCPROF_VIEW_ADVICE_ADVICE_RULE_H
#define HPCPROF_VIEW_ADVICE_ADVICE_RULE_H

#include "hpcprof-lite/view/advice/view_advice.h"

/* A share below this is within the errors of the models; doc/advice.md, "Thresholds". */
#define ADVICE_LEAST_SHARE 0.1
#define ADVICE_LEAST_FACTOR 1.05
/* schedulers of an SM, on all GPUs since Volta */
#define ADVICE_SCHEDULERS 4

/* Adds a fact. There is room for VIEW_FACTS. */
void advice_fact(struct view_advice *a, const char *what, enum model_unit unit, double value);
/* Appends `a` with this factor, unless it is too small to be certain. False if memory is short. */
bool advice_propose(struct view_advices *to, struct view_advice *a, struct advice_interval factor);

/* How a kernel waits for memory. */
struct advice_memory {
	double idle;         /* share of cycles that are lost to it */
	double queue;        /* the part of it for room in the queue */
	double cycles;       /* cycles that a warp waits each time */
	double instructions; /* share of instructions that access memory; 0: unknown */
	/*
	 * Bytes that the warps of an SM ask for in a cycle. least, most: if neighbouring threads
	 * use neighbouring data; they are equal if the width of accesses is known. apart: if each
	 * thread needs 32 bytes of its own.
	 */
	double least, most, apart;
};
struct advice_memory advice_memory_of(const struct advice_kernel *k);
/*
 * Bounds a factor by what memory delivers, and its high end by what caches deliver, if that is
 * known.
 */
struct advice_interval advice_memory_bound(const struct advice_kernel *k,
					   const struct advice_memory *m, struct advice_interval i);
/*
 * True if accesses take so long that they may wait for each other, and there may be enough of them.
 */
bool advice_memory_is_loaded(const struct advice_kernel *k, const struct advice_memory *m);

/*
 * Begins advice for a kernel. Its seconds are fewer than the kernel's if kernels ran at the same
 * time.
 */
struct view_advice advice_begin(const struct advice_kernel *k, enum view_advice_kind kind);

/* True if warps wait for a busy unit: neither more warps nor another order would make it faster. */
bool advice_unit_is_busy(const struct advice_kernel *k);

/*
 * Share of cycles that are lost to latencies that are known when code is compiled, with those of
 * constants that hit the cache.
 */
double advice_latency(const struct advice_kernel *k);

/* Rules about the launch characteristics of a kernel. */
bool advice_shapes(const struct advice_kernel *k, struct view_advices *to);

#endif
