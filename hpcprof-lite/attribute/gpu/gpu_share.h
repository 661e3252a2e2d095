/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What parts of a job that share its files tell each other of the GPU operations in them. Each part
 * joins those of its files. All parts get what makes profiles and metrics, and the first one gets
 * the ledgers. Test: tests/unit/prof_parts/test_parts_gpu.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_SHARE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_SHARE_H

#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"
#include "hpcprof-lite/attribute/gpu/idle/gpu_idle.h"

/*
 * Both end a step, with `ok`: true in all parts, or false in all. A module is needed if some part
 * needs it. n: modules.
 */
bool gpu_share_needed(const struct gpu_part *g, bool ok, bool *needed, size_t n);
/* Completes what gpu_expand() has made. */
bool gpu_share_joins(struct gpu_part *g, bool ok);
/* After gpu_settle(): the first part gets what others found of PC samples. Ends a step. */
bool gpu_share_found(struct gpu_part *g, bool ok);
/*
 * All parts get the idle time of all devices, and know the metrics that occur. Ends a step if they
 * share devices. `idle`: of the processes of this part; each keeps its blames.
 */
bool gpu_share_idle(const struct gpu_part *g, const struct model *m, bool ok,
	struct gpu_idle *idle);

#endif
