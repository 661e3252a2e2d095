/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blame of a file: its stalled samples by waiting place and cause. Until gpu_blame_settle(),
 * contexts are those of struct expand, metrics are those of struct gpu_metrics, and profiles are
 * threads of the file. Test: tests/unit/prof_gpu/test_gpu_blame.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_BLAME_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_BLAME_H

#include "common/base/map.h"
#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"

/* Zero-initialise. */
struct gpu_blames {
	VEC(struct model_gpu_blame) list;
	struct map index;
};

/* Adds the numbers of `b` to an equal entry, or makes one. Returns its index, or MAP_NONE if memory
 * is short. */
uint64_t gpu_blame_add(struct gpu_blames *all, const struct model_gpu_blame *b);
/* Frees the index. Call it when nothing more will be added. */
void gpu_blame_close(struct gpu_blames *all);
/* Gives each entry its final contexts and metric. */
void gpu_blame_settle(struct gpu_blames *all, const uint32_t *final_of, const uint32_t *metric_of);
/* Sorts by profile, waiting context, cause, metric, kind of wait, and operation. */
void gpu_blame_sort(struct model_gpu_blame *list, size_t n);
void gpu_blame_free(struct gpu_blames *all);

#endif
