/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How wrong apportioning is, measured: PC samples of one kernel that know their launch (taken in serialized windows) against where apportioning by GPU time would have put them. The measure is the total
 * variation distance, half the sum of |truth - apportioned| as shares: the share of the samples that stands in a wrong place. Even exact shares are missed by a sample that is finite; how much of
 * the distance that makes is estimated, too. doc/outputs.md has the definition. Test: tests/unit/test_gpu_ranges.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_YARDSTICK_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_YARDSTICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A context that launched the kernel: its time in the windows, and where launches were not known. */
struct gpu_yard_context {
	uint64_t window_ns, time_ns;
};

struct gpu_yard_sample {
	uint32_t context;              /* index of the one that launched it; of samples that do not know it 0 */
	uint32_t function;             /* where it was: the kernel or a device function */
	uint64_t offset;
	uint64_t count;
};

/* Samples of one kernel; both lists are sorted here. */
struct gpu_yard_input {
	const struct gpu_yard_context *contexts;
	size_t n_contexts;
	struct gpu_yard_sample *known, *unknown;
	size_t n_known, n_unknown;
	uint32_t function;             /* the kernel's own: only samples there are compared by instruction */
};

/* Of shares 0: all right, 1: all wrong; and what of it chance makes on average. Negative: there was nothing to compare, or too much. */
struct gpu_yard {
	uint64_t n_samples;
	uint32_t n_contexts;           /* with time in the windows; 0: nothing was measured */
	double wrong_context, chance_context; /* of contexts */
	double wrong_place, chance_place;     /* of (context, instruction) */
};

/* False when memory is short. */
bool gpu_yardstick(const struct gpu_yard_input *in, struct gpu_yard *out);

#endif
