/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves the sums of parallel regions from the measurement into the model. Their addresses become
 * functions and lines, like those of frames. The sums of several threads of a process become one.
 * Test: tests/unit/prof/test_omp_regions.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_OMP_REGIONS_H
#define HPCPROF_ATTRIBUTE_EXPAND_OMP_REGIONS_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

struct expand;
struct expand_run;

/* A region while its addresses become functions and lines. */
struct omp_region {
	/* Functions and files are those of struct expand, from omp_regions_enter() on. */
	struct model_omp_region sums;
	uint32_t call_module, function_module; /* MODEL_NONE: not known */
	uint64_t call_addr, function_addr;     /* link addresses */
};

/* Finds functions and lines. If memory is short, sets r->failed. */
void omp_regions_enter(struct expand_run *r);
/*
 * Puts the regions into the model. The ranks are the final ids of functions and files. Returns
 * false if memory is short.
 */
bool omp_regions_put(struct model *m, const struct expand *e, const uint32_t *function_rank,
		     const uint32_t *file_rank);

/* Keeps its regions in struct expand. */
extern const struct topic_ops topic_omp;

#endif
