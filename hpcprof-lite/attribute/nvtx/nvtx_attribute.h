/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums up the ranges of NVTX by name: the counts from the measured process, and the samples and GPU
 * work at nodes inside of the ranges. Test: tests/cli/nvtx/nvtx_ranges.sh.
 */
#ifndef HPCPROF_ATTRIBUTE_NVTX_NVTX_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_NVTX_NVTX_ATTRIBUTE_H

#include "hpcprof-lite/attribute/gpu/gpu_attribute.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

/*
 * Sets m->nvtx; NULL if no process used NVTX. Call it after gpu_join_all(), and before time lines
 * take over the nodes of threads. False: memory is short.
 */
bool nvtx_attribute(const struct load_job *job, const struct gpu_part *gpu, struct model *m);

/* In nvtx_topic.c. */
extern const struct topic_ops topic_nvtx;

#endif
