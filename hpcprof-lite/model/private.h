/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a struct model that sinks must not see: the arrays behind its pointers, and the
 * location of the time lines. Only hpcprof-lite/model, attribute, filter and their tests include
 * this file.
 */
#ifndef HPCPROF_MODEL_PRIVATE_H
#define HPCPROF_MODEL_PRIVATE_H

#include "common/base/space.h"
#include "common/base/strtab.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

#include <pthread.h>

/* Trace records of one extent, validated by load. */
struct model_trace_part {
	const uint8_t *content;
	uint64_t n_bytes;
	uint64_t first_ns; /* CLOCK_MONOTONIC */
};

struct model_timeline {
	struct model_trace_part *parts; /* owned */
	size_t n_parts;
	/*
	 * The mapped file that holds the parts, whose pages are given back after use. NULL: they
	 * stay.
	 */
	const uint8_t *mapped;
	uint64_t mapped_bytes;
	uint32_t *context_of;           /* by node id; MODEL_NONE: damaged; owned */
	uint32_t *shown_of;             /* as in struct model_sample; NULL: as context_of; owned */
	uint32_t n_nodes;
	uint32_t metric_of[16];         /* by the tag of the record; MODEL_NONE: no such metric */
	uint64_t latest_ns;             /* CLOCK_MONOTONIC; a later absolute time is damage */
	int64_t to_real_ns;             /* add this to a time of CLOCK_MONOTONIC */
	/* CLOCK_REALTIME: only samples in [from_ns, until_ns) are read; until_ns 0: no end */
	uint64_t from_ns, until_ns;
};

/*
 * What is known about an operation on the time line of its queue, in addition to its record in the
 * file. Times are CLOCK_REALTIME, after clipping.
 */
struct model_gpu_item {
	uint64_t start_ns, end_ns;
	uint64_t enter_ns;               /* 0: unknown */
	const struct msr_gpu_op *record; /* in the mapped file */
	uint32_t cell;                   /* index into the cells of the process */
	uint16_t lane;
	uint16_t has_waits; /* the record is long enough to hold queued and submitted */
};

/* Where the operations of one launching context of a process count: their context and profile. */
struct model_gpu_cell {
	uint32_t context;                /* MODEL_NONE until known */
	uint32_t launcher;               /* profile; MODEL_NONE: unknown */
};

/* The time line of a queue. Its lanes share it. */
struct model_gpu_line {
	struct model_gpu_item *items;    /* by start */
	uint64_t n;
	const struct model_gpu_cell *cells;
	/* by shape id of the file: index into model.gpu_shapes, or MODEL_NONE */
	const uint32_t *shape_of;
	uint32_t n_shapes;
	const uint8_t *mapped;           /* as in struct model_timeline */
	uint64_t mapped_bytes;
};

/* A thread waited for a GPU. Times are CLOCK_REALTIME. */
struct model_gpu_wait {
	uint64_t start_ns, end_ns;
	uint32_t cell;                   /* index into the cells of the process */
	uint32_t launcher;               /* the profile that waited; MODEL_NONE: unknown */
};

/* What is known about the times of a process's GPU operations, besides the time lines. */
struct model_gpu_times {
	const struct model_gpu_wait *waits; /* n_waits; by launcher, then start */
	uint64_t n_waits;
	const struct model_gpu_cell *cells;
	uint64_t n_untimed;              /* kernels, copies and sets that are on no line */
	uint64_t summed_wait_ns;         /* waits that were summed up during the run */
	/* CLOCK_REALTIME: from here on operations were summed up; 0: never */
	uint64_t until_ns;
};

struct model_private {
	struct strtab strings;          /* names of functions and files */
	VEC(void *) owned;              /* freed with the model */
	struct model_module *modules;
	struct model_file *files;
	struct model_function *functions;
	struct model_context *contexts;
	struct model_metric *metrics;
	struct model_share *share;      /* owned above */
	struct model_process *processes;
	struct model_profile *profiles;
	struct model_ledger *ledgers;   /* by profile; those of other parts stay untouched */
	struct model_total *totals;
	struct model_timeline *timelines; /* by profile */
	_Atomic uint64_t lines_read; /* bytes of short lines read since pages were given back */
	struct model_gpu_line *gpu_lines; /* by queue of the model */
	struct model_meter *meters;
	VEC(struct model_instruction) instructions;
	struct model_gpu_times *gpu_times; /* by process; NULL: no GPU data, or a part of a run */
	VEC(struct space) spaces;         /* memory of time lines, freed with the model */
	VEC(struct space) values; /* memory of values: model_values.h */
	size_t values_bytes;              /* of all of them */
	pthread_mutex_t values_lock;      /* held to take more of the memory */
	_Atomic uint64_t values_read;     /* bytes read since pages were last given back */
	/* frees `sources`, the mapped files, together with the model */
	void (*release)(void *sources);
	void *sources;
};

/* Returns an empty model, or NULL if memory is short. */
struct model *model_new(void);
/*
 * Gives allocated memory to the model, which frees it in the end. Returns `memory`. If memory is
 * short, now or when it was allocated, frees it and returns NULL.
 */
void *model_own(struct model *m, void *memory);

#endif
