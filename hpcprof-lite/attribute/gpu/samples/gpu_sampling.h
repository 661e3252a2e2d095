/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The account of PC sampling: the ranges of a file, the expected rate from period, clock and number
 * of SMs, and whether the account closes. Test: tests/unit/prof_gpu/test_gpu_ranges.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLING_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SAMPLING_H

#include "hpcprof-lite/attribute/gpu/join/gpu_join.h"
#include "hpcprof-lite/attribute/gpu/samples/gpu_yardstick.h"

/*
 * Adds the ranges, and the samples to expect: for kernels on time lines one by one, for operations
 * without a time line by cells. False if memory is short.
 */
bool gpu_sampling_count(struct model_gpu_sampling *s, const struct gpu_join *j);
/* Adds one kernel's yardstick to the sums. `weight`: the number of samples that it represents. */
void gpu_sampling_add_yardstick(struct model_gpu_sampling *s, const struct model_gpu_yardstick *y,
	double weight);
/*
 * Computes what was cut off when the process was killed, and whether the account closes. Call it
 * after everything is counted.
 */
void gpu_sampling_settle(struct model_gpu_sampling *s, const struct load_file *f);
/* Adds up processes. */
void gpu_sampling_add(struct model_gpu_sampling *to, const struct model_gpu_sampling *from);

#endif
