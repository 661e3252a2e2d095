/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the error of apportioning. It takes the PC samples of one kernel whose launch is known
 * (from serialized windows) and compares their places with those that apportioning by GPU time
 * would give. The measure is the total variation distance: half the sum of |truth - apportioned|,
 * as shares. It is the share of the samples in a wrong place. A finite sample misses even exact
 * shares, so the part of the distance that chance causes is also estimated. doc/outputs.md has the
 * definition. Test: tests/unit/prof_gpu/test_gpu_ranges.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_YARDSTICK_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_YARDSTICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A context that launched the kernel: the kernel's time in the windows, and its time while launches
 * were unknown.
 */
struct gpu_yard_context {
	uint64_t window_ns, time_ns;
};

struct gpu_yard_sample {
	uint32_t context; /* index of the context that launched it; 0 if that is unknown */
	uint32_t function;             /* the sampled function: the kernel or a device function */
	uint64_t offset;
	uint64_t count;
};

/* Samples of one kernel. gpu_yardstick() sorts both lists. */
struct gpu_yard_input {
	const struct gpu_yard_context *contexts;
	size_t n_contexts;
	struct gpu_yard_sample *known, *unknown;
	size_t n_known, n_unknown;
	uint32_t function; /* the kernel; only its own samples are compared by instruction */
};

/*
 * Errors as shares (0: all right, 1: all wrong), and the average error by chance. Negative: there
 * was nothing to compare, or too much.
 */
struct gpu_yard {
	uint64_t n_samples;
	uint32_t n_contexts;           /* with time in the windows; 0: nothing was measured */
	double wrong_context, chance_context; /* by context */
	double wrong_place, chance_place;     /* by (context, instruction) */
};

/* False if memory is short. */
bool gpu_yardstick(const struct gpu_yard_input *in, struct gpu_yard *out);

#endif
