/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of a filter: choose what is in the part, recount its values, build its model. Each
 * step has its own file; filter.c runs them in this order. They return false if memory is short.
 * Test: tests/unit/prof/test_filter.c.
 */
#ifndef HPCPROF_FILTER_FILTER_PART_H
#define HPCPROF_FILTER_FILTER_PART_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/attribute/gpu/energy/gpu_energy.h"
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle.h"
#include "hpcprof-lite/attribute/sum/sum.h"
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/model/private.h"

#include <stdatomic.h>

/* What was counted before the range of time, in it, and on the whole time line. */
struct filter_share {
	uint64_t before, in, all;
};

/* The GPU operations of one (profile, context). An operation counts where it starts. */
struct filter_ops {
	struct filter_share n, ns, bytes;
};

struct filter_profile {
	VEC(struct sum_extra) values; /* ids of `from` */
	uint64_t n_records; /* of the time line, in the part: samples, or operations of a queue */
};

struct filter_part {
	const struct model *from;
	struct model *to;
	const struct filter *f;
	unsigned n_workers;
	bool has_time;
	uint64_t from_ns, until_ns; /* [from, until), CLOCK_REALTIME; has_time: defined */
	bool *below;                /* by context: in the part; NULL: all */
	/* By the id in `from`: the id in `to`, or MODEL_NONE. */
	uint32_t *process_to, *profile_to, *context_to, *metric_to, *gpu_context_to, *device_to,
		*queue_to;
	/* By the id in `from`; NULL: neither by time nor by function. See filter_threads.c. */
	uint8_t *counts;            /* by profile: enum model_counts */
	uint32_t *threads_of;       /* by process: part_threads */
	uint32_t *first_lane;       /* by queue: the profile of its lane 0 */
	uint32_t *first_thread;     /* by process: its first profile that is a thread */
	atomic_bool *is_used;       /* by context: it has values, samples or operations */
	struct map op_index;        /* (profile, context): index into ops; has_time */
	VEC(struct filter_ops) ops;
	struct filter_profile *profiles;
	/*
	 * By worker, then context: the index of the context's first value in the profile that the
	 * worker is at. Undefined if the context has no value there.
	 */
	uint32_t **first_value;
	/* By metric: the sum before the cut by time, and the part of it that has no time line. */
	_Atomic uint64_t *sums, *untimed;
	double *divisors;
	struct gpu_idle idle;       /* of the range of time, computed anew from the whole run */
	struct gpu_energy energy;   /* the same */
	bool has_idle, has_energy;
	atomic_bool failed;
};

static inline bool filter_has_context(const struct filter_part *p, uint32_t context)
{
	return !p->below || p->below[context];
}

/*
 * Sets the range of time, `below`, and process_to and profile_to of threads: 0 if they are in the
 * part, else MODEL_NONE. STATUS_USAGE: nothing matches; logs what could match.
 */
enum status filter_choose(struct filter_part *p);
/*
 * Sets counts and threads_of, and the numbers of threads of `to`. `wanted`, by process: those that
 * the filters by rank and process leave.
 */
bool filter_keep_threads(struct filter_part *p, const bool *wanted);
/* Sets to->part and to->part_has_gaps. */
bool filter_describe(struct filter_part *p);

/* True if the operation is in the part. `process` is that of the queue. */
bool filter_has_op(const struct filter_part *p, const struct model_gpu_line *line,
		   const struct model_gpu_item *item, uint32_t process);
/* The process of a queue of `from`. */
uint32_t filter_queue_process(const struct filter_part *p, uint32_t queue);
/* Sets profiles, sums, untimed and is_used. */
bool filter_recount(struct filter_part *p);

/* Makes the metrics and notes of `to`. Sets metric_to. */
bool filter_make_metrics(struct filter_part *p);
/* Makes the contexts. Sets context_to. */
bool filter_make_contexts(struct filter_part *p);
/* Sets process_to and profile_to to the final numbers. Makes the processes. */
bool filter_make_processes(struct filter_part *p);
/* Makes GPU devices, contexts and queues, and the time lines of queues. Sets queue_to. */
bool filter_make_queues(struct filter_part *p);
/* Makes the profiles and the time lines of threads. */
bool filter_make_profiles(struct filter_part *p);

#endif
