/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes tracks of time lines, and phases, from single NVTX ranges and marks. Test:
 * tests/cli/nvtx/nvtx_lines.sh.
 */
#ifndef HPCPROF_ATTRIBUTE_NVTX_NVTX_EVENTS_H
#define HPCPROF_ATTRIBUTE_NVTX_NVTX_EVENTS_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"
#include "hpcprof-lite/model/private.h"

/* The most lanes for ranges that overlap without nesting. Ranges that need more are left out. */
enum { NVTX_LANES_MOST = 64 };
/* The most phases that are made from ranges. */
enum { NVTX_PHASES_MOST = 32 };

/*
 * Sets the tracks of m->nvtx, and the phases of *m if it has none. Call it after nvtx_attribute()
 * and phases_attribute(). False: memory is short.
 */
bool nvtx_events_attribute(const struct load_job *job, const struct topic_where *where,
			   struct model *m);

#endif
