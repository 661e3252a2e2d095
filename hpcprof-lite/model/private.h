/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands behind a struct model and no sink may see: the arrays its pointers lead to, and where the time lines lie. Included by hpcprof-lite/model,
 * attribute and their tests alone.
 */
#ifndef HPCPROF_MODEL_PRIVATE_H
#define HPCPROF_MODEL_PRIVATE_H

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
	void (*release)(void *sources); /* frees `sources`, the mapped files, when the model goes */
	void *sources;
};

/* A model with nothing in it, or NULL when memory is short. */
struct model *model_new(void);

#endif
