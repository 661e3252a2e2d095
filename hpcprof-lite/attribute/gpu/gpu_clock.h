/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of a device's clock become times of CLOCK_MONOTONIC: linear between the two pairs around a time, so that drift and steps of the device's clock are
 * followed. Pairs so near to each other that their errors would bend the rate are thinned out first. One pair is an offset. Before the first pair and after the last
 * one the rate is that of the two at that end.
 * Test: tests/unit/test_gpu_time.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_GPU_CLOCK_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_GPU_CLOCK_H

#include "hpcprof-lite/load/load_gpu.h"

struct gpu_clock {
	const struct msr_gpu_clock *pairs; /* ascending in both times */
	size_t n;                          /* 0: it is CLOCK_MONOTONIC already */
	size_t last;                       /* where the last time was found: times come nearly in order */
};

/* Drops pairs that are too near to give a rate; of two the one with the smaller error stays. Once, before gpu_clock_find(). */
void gpu_clock_thin(struct load_gpu *g);
/* The clock with this id, as the file knows it. Id 0, and one without pairs, is CLOCK_MONOTONIC. */
struct gpu_clock gpu_clock_find(const struct load_gpu *g, uint32_t id);
/* *error_ns: the result is right to so much. */
uint64_t gpu_clock_convert(struct gpu_clock *c, uint64_t device_ns, uint64_t *error_ns);

#endif
