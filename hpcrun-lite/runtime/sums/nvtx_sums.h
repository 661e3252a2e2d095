/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NVTX ranges of one thread: the stack of pushed ranges, sums in the measurement file, and
 * records of single ranges. Only the index is private memory. One writer: the thread itself,
 * outside of our handler; the handler reads `current`. Test: tests/cli/nvtx/nvtx_limits.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_SUMS_NVTX_SUMS_H
#define HPCRUN_LITE_RUNTIME_SUMS_NVTX_SUMS_H

#include "common/format/measurement_nvtx.h"

#include <stdatomic.h>
#include <stdbool.h>

struct cct;
struct nvtx_sums;

/* A part of struct thread. All zero at the start of the thread. */
struct nvtx_thread {
	struct nvtx_sums *sums;   /* NULL until the first range or mark */
	/* 1 + number of the innermost pushed range that is measured; 0: none */
	_Atomic uint32_t current;
	uintptr_t call_sp;        /* see sample_begin_call() */
	uint32_t n_lost_pushes;   /* lost in handlers of the program that interrupted a call */
};

static inline uint32_t nvtx_sums_current(const struct nvtx_thread *t)
{
	return atomic_load_explicit(&t->current, memory_order_relaxed);
}

/* Returns in *node the node of the current range below it. Signal-safe. */
bool nvtx_sums_enter(const struct nvtx_thread *t, struct cct *tree, uint32_t *node,
		     enum msr_loss *cause);

/*
 * Limits for each thread. Beyond NVTX_SUMS_MOST sums, ranges with new names or paths get a sum by
 * name, without a path. Beyond twice that number, they share a sum without a name. Ranges nested
 * deeper than NVTX_DEPTH_MOST are not measured.
 */
#define NVTX_SUMS_MOST 8192u
#define NVTX_DEPTH_MOST 128u
/*
 * The most ranges of a thread that get records of their own: enough to divide a run into phases, or
 * for a trace.
 */
#define NVTX_EVENTS_MOST 16384u
#define NVTX_TRACED_EVENTS_MOST (1u << 20)

struct nvtx_key {
	uint32_t node;   /* 0: no path */
	uint32_t name;   /* 0: unknown */
	enum msr_nvtx_range_kind kind;
};

/* A range that has ended. */
struct nvtx_event {
	uint64_t enter_ns, leave_ns;
	const double *value; /* NULL: none */
};

/* Returns 1 + the number of the sum with this key; 0 and *cause: no space or memory. */
uint32_t nvtx_sums_find(struct nvtx_thread *t, uint32_t thread, struct nvtx_key key,
			enum msr_loss *cause);
/* A range with the sum `id`, from nvtx_sums_find, begins. 0 is ignored. */
void nvtx_sums_begin(struct nvtx_thread *t, uint32_t id);
/*
 * Adds a range that has ended and was popped, or a mark. At most `n_events_most` of a thread get
 * records; a quarter of these is reserved for ranges that are inside no other range. Returns false
 * and sets *cause if a record could not be written; the sum is right in any case.
 */
bool nvtx_sums_add(struct nvtx_thread *t, uint32_t id, const struct nvtx_event *e,
		   uint32_t n_events_most, enum msr_loss *cause);

/* A range on the stack of the thread. */
struct nvtx_pushed {
	uint64_t enter_ns;
	uint32_t id;       /* of its sum; 0: not measured */
	uint32_t domain;
	bool has_value;
	double value;
};
/* True if the stack has no room for another range. */
bool nvtx_sums_is_full(const struct nvtx_thread *t);
/* Pushes a range. If the stack is full, only counts it; without memory, not even that. */
void nvtx_sums_push(struct nvtx_thread *t, uint32_t thread, const struct nvtx_pushed *p);
/* Removes the innermost range of the domain. False: there is none, or it was only counted. */
bool nvtx_sums_pop(struct nvtx_thread *t, uint32_t domain, struct nvtx_pushed *p);

/* The thread ends, or ends the process: writes records of the pushed ranges that are still open. */
void nvtx_sums_close(struct nvtx_thread *t, uint64_t now_ns, uint32_t n_events_most);
/* Returns unused space to the store. */
void nvtx_sums_trim(struct nvtx_thread *t);
/*
 * Frees the index. `keeps_file`: false in a forked child, whose parent owns the file; its open
 * ranges are not measured there.
 */
void nvtx_sums_free(struct nvtx_thread *t, bool keeps_file);

#endif
