/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How wrong apportioning is, measured: PC samples of one kernel that know their launch (taken in serialized windows) against where they would have been put by the time that the kernel took for each
 * context in the same windows. The measure is the total variation distance, half the sum of |truth - apportioned| as shares: the share of the samples that stands in a wrong place. Even exact
 * shares are missed by a sample that is finite; how much of the distance that makes is estimated, too. Test: tests/unit/test_gpu_samples.c.
 */
#ifndef HPCPROF_ATTRIBUTE_GPU_YARDSTICK_H
#define HPCPROF_ATTRIBUTE_GPU_YARDSTICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Samples of one kernel that know their launch. */
struct gpu_yard_sample {
	uint32_t launcher;             /* index of the context that launched it */
	uint32_t function;             /* where it was: the kernel or a device function */
	uint64_t offset;
	uint64_t count;
};

struct gpu_yard {
	uint64_t n_samples;
	uint32_t n_launchers;          /* with time in the windows */
	double wrong_context, chance_context; /* of the shares of contexts: 0 all right, 1 all wrong; and what of it chance makes on average */
	double wrong_place, chance_place;     /* of those of (context, instruction); -1: too many to compare */
};

/*
 * window_ns: time of the kernel in the windows, by launcher. Sorts the samples. n_launchers in the result is below 2 where there is nothing to compare: then nothing else of it is set. False
 * when memory is short.
 */
bool gpu_yardstick(const uint64_t *window_ns, size_t n_launchers, struct gpu_yard_sample *samples, size_t n, struct gpu_yard *out);

#endif
