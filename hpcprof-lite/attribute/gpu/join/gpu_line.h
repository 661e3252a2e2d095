/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts the operations of one queue by time and assigns them to lanes, so that operations in one
 * lane do not overlap. If an operation overlaps more others than there are lanes, it is shortened
 * and counted. Test: tests/unit/prof_gpu/test_gpu_time.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_LINE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_LINE_H

#include "hpcprof-lite/attribute/gpu/join/gpu_join.h"

enum { GPU_LINE_LANES = 32 };

/* line->items and n must be set. Sorts them and fills the rest. False if memory is short. */
bool gpu_line_finish(struct gpu_line *line);

#endif
