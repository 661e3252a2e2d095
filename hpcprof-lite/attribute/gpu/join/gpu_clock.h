/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts times of a device's clock to CLOCK_MONOTONIC. The conversion is linear between the two
 * clock pairs around a time, so it follows drift and steps of the device's clock. Pairs that are
 * too close together are removed first, because their errors would distort the rate. A single pair
 * gives an offset. Before the first pair and after the last one, the rate is that of the two
 * nearest pairs. Test: tests/unit/prof_gpu/test_gpu_time.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_CLOCK_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_JOIN_GPU_CLOCK_H

#include "hpcprof-lite/load/load_gpu.h"

struct gpu_clock {
	const struct msr_gpu_clock *pairs; /* ascending in both times */
	size_t n;                          /* 0: the clock is CLOCK_MONOTONIC */
	size_t last; /* where the last look-up ended; times come nearly in order */
};

/*
 * Removes pairs that are too close together to give a rate. Of two pairs it keeps the one with the
 * smaller error. Call it once, before gpu_clock_find().
 */
void gpu_clock_thin(struct load_gpu *g);
/* The clock with this id in the file. Id 0 and clocks without pairs are CLOCK_MONOTONIC. */
struct gpu_clock gpu_clock_find(const struct load_gpu *g, uint32_t id);
/* *error_ns: the maximum error of the result. */
uint64_t gpu_clock_convert(struct gpu_clock *c, uint64_t device_ns, uint64_t *error_ns);

#endif
