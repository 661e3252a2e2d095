/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many warps of a kernel are resident on an SM at once, by the rules of CUDA: NVIDIA's programming guide ("Hardware Multithreading", tables of compute capabilities 5.0 to 12.x) and the behaviour of
 * its occupancy calculator, against which tests/unit/test_gpu_occupancy.c compares it where CUDA's headers are. A division of shared memory and L1 cache that the program asked for is not known and taken as
 * the largest. Pure.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_OCCUPANCY_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_OCCUPANCY_H

#include "common/format/measurement_gpu.h"

enum gpu_occupancy_limit { /* what allows no more groups: the first of those that are equal */
	GPU_LIMIT_WARPS,       /* threads of an SM */
	GPU_LIMIT_GROUPS,      /* blocks of an SM */
	GPU_LIMIT_REGISTERS,
	GPU_LIMIT_SHARED,
	GPU_N_LIMITS
};

struct gpu_occupancy {
	uint32_t groups;       /* resident at most */
	uint32_t warps, warps_most; /* of those groups; of the SM */
	enum gpu_occupancy_limit limit;
};

/* False where the rules or the figures for this device are not known, or the kernel cannot run on it. */
bool gpu_occupancy(const struct msr_gpu_def_device *d, const struct msr_gpu_def_device_limits *l, const struct msr_gpu_shape *s, struct gpu_occupancy *out);
/* "threads", "blocks", "registers", "shared memory" */
const char *gpu_occupancy_limit_name(enum gpu_occupancy_limit limit);

#endif
