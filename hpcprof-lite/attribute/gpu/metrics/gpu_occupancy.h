/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many warps of a kernel are resident on an SM at a time, by the rules of CUDA. Sources:
 * NVIDIA's programming guide ("Hardware Multithreading", tables of compute capabilities 5.0 to
 * 12.x) and the behaviour of its occupancy calculator. tests/unit/prof_gpu/test_gpu_occupancy.c
 * compares the two if CUDA's headers are installed. If the program asked for a split between shared
 * memory and L1 cache, the split is unknown and taken as the largest. Pure functions.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_OCCUPANCY_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_OCCUPANCY_H

#include "hpcprof-lite/model/model.h"

struct gpu_occupancy {
	uint32_t groups;       /* maximum of resident groups */
	uint32_t warps, warps_most; /* warps of these groups; maximum of the SM */
	enum model_gpu_limit limit;
};

/* False if the rules or figures for this device are unknown, or the kernel cannot run on it. */
bool gpu_occupancy(const struct msr_gpu_def_device *d, const struct msr_gpu_def_device_limits *l,
	const struct msr_gpu_shape *s, struct gpu_occupancy *out);
/*
 * Finds the smallest change of the limiting resource of `now` (registers of a thread, shared memory
 * or threads of a block) that lets more warps be resident. Sets *eased to its new value and *out to
 * the result. False if there is none.
 */
bool gpu_occupancy_ease(const struct msr_gpu_def_device *d,
			const struct msr_gpu_def_device_limits *l, const struct msr_gpu_shape *s,
			const struct gpu_occupancy *now, uint32_t *eased,
			struct gpu_occupancy *out);

#endif
