/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What parts of a job that share its files tell each other of the GPU operations in them. Each part
 * joins those of its files. All parts get what makes profiles and metrics, and the first one gets
 * the ledgers. Test: tests/unit/prof_parts/test_parts_gpu.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_SHARE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_SHARE_H

#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"

/*
 * Both end a step, with `ok`: true in all parts, or false in all. A module is needed if some part
 * needs it. n: modules.
 */
bool gpu_share_needed(const struct gpu_part *g, bool ok, bool *needed, size_t n);
/* Completes what gpu_expand() has made. */
bool gpu_share_joins(struct gpu_part *g, bool ok);

#endif
