/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands behind a struct model and no sink may see: the arrays its pointers lead to, and where the time lines lie. Included by hpcprof-lite/model,
 * attribute and their tests alone.
 */
#ifndef HPCPROF_MODEL_PRIVATE_H
#define HPCPROF_MODEL_PRIVATE_H

#include "common/base/space.h"
#include "common/base/strtab.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

/* Trace records of one extent: as load validated them. */
struct model_trace_part {
	const uint8_t *content;
	uint64_t n_bytes;
	uint64_t first_ns; /* CLOCK_MONOTONIC */
};

struct model_timeline {
	struct model_trace_part *parts; /* owned */
	size_t n_parts;
	const uint8_t *mapped;          /* the file that the parts lie in, when it is mapped: its pages may be given back after use; else NULL */
	uint64_t mapped_bytes;
	uint32_t *context_of;           /* by node id, MODEL_NONE: damaged; owned */
	uint32_t n_nodes;
	uint32_t metric_of[16];         /* by the record's tag, MODEL_NONE: no such metric */
	uint64_t latest_ns;             /* of CLOCK_MONOTONIC: an absolute time beyond it is damage */
	int64_t to_real_ns;             /* added to a time of CLOCK_MONOTONIC */
};

/* An operation on the time line of its queue: what the file does not say. Times are CLOCK_REALTIME, after clipping. */
struct model_gpu_item {
	uint64_t start_ns, end_ns;
	uint64_t enter_ns;               /* 0: unknown */
	const struct msr_gpu_op *record; /* in the mapped file */
	uint32_t cell;                   /* into the process's cells */
	uint16_t lane;
	uint16_t has_waits;              /* the record is long enough for queued and submitted */
};

/* Where the operations of one launching context of a process count. */
struct model_gpu_cell {
	uint32_t context;                /* MODEL_NONE while not known */
	uint32_t launcher;               /* profile, MODEL_NONE: not known */
};

/* The time line of a queue; its lanes share it. */
struct model_gpu_line {
	struct model_gpu_item *items;    /* by start */
	uint64_t n;
	const struct model_gpu_cell *cells;
	const uint32_t *shape_of;        /* by the file's shape id: into model.gpu_shapes, MODEL_NONE */
	uint32_t n_shapes;
	const uint8_t *mapped;           /* as in struct model_timeline */
	uint64_t mapped_bytes;
};

struct model_private {
	struct strtab strings;          /* names of functions and files */
	VEC(void *) owned;              /* freed with the model */
	struct model_module *modules;
	struct model_file *files;
	struct model_function *functions;
	struct model_context *contexts;
	struct model_metric *metrics;
	struct model_process *processes;
	struct model_profile *profiles;
	struct model_total *totals;
	struct model_timeline *timelines; /* by profile */
	struct model_gpu_line *gpu_lines; /* by queue of the model */
	VEC(struct space) spaces;         /* memory of time lines, given back with the model */
	void (*release)(void *sources); /* frees `sources`, the mapped files, when the model goes */
	void *sources;
};

/* A model with nothing in it, or NULL when memory is short. */
struct model *model_new(void);
/* Gives what was allocated to the model, which frees it in the end. NULL, and it is freed: memory is short now, or was. */
void *model_own(struct model *m, void *memory);

#endif
