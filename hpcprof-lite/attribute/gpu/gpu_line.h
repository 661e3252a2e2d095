/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the operations of one queue in the order of time and into lanes, so that those of a lane do not overlap. Operations that overlap more others than there are lanes
 * are shortened and counted. Test: tests/unit/test_gpu_time.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_LINE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_LINE_H

#include "hpcprof-lite/attribute/gpu/gpu_join.h"

enum { GPU_LINE_LANES = 32 };

/* line->items and n are set; sorts them and fills the rest. False when memory is short. */
bool gpu_line_finish(struct gpu_line *line);

#endif
