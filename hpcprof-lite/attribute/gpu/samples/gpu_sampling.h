/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of PC sampling: what the ranges of a file say, the rate that period, clock and number of SMs promise, and whether it closes. Test: tests/unit/test_gpu_ranges.c. */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLING_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLING_H

#include "hpcprof-lite/attribute/gpu/gpu_join.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_yardstick.h"

/* Adds the ranges, and what they promise for the kernels on time lines (of operations without one: by cells). False when memory is short. */
bool gpu_sampling_count(struct model_gpu_sampling *s, const struct gpu_join *j);
/* Adds one kernel's yardstick to the sums; `weight`: samples that stand for it. */
void gpu_sampling_add_yardstick(struct model_gpu_sampling *s, const struct model_gpu_yardstick *y, double weight);
/* When all is counted: settles what a kill cut off, and whether the account closes. */
void gpu_sampling_settle(struct model_gpu_sampling *s, const struct load_file *f);
/* Sums over processes. */
void gpu_sampling_add(struct model_gpu_sampling *to, const struct model_gpu_sampling *from);

#endif
