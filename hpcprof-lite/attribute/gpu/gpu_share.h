/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges GPU results between parts that share the files of a job. Each part joins the operations
 * of its own files. All parts get what they need to make profiles and metrics, and the first part
 * gets the ledgers. Test: tests/unit/prof_parts/test_parts_gpu.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_SHARE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_SHARE_H

#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"

/*
 * Both functions end a step with `ok`: they return true in all parts, or false in all. This one
 * marks a module as needed if some part needs it. n: modules.
 */
bool gpu_share_needed(const struct gpu_part *g, bool ok, bool *needed, size_t n);
/* Completes the results of gpu_expand() with those of other parts. */
bool gpu_share_joins(struct gpu_part *g, bool ok);

#endif
