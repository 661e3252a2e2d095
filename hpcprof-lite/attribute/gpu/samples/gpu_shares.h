/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares counts out in proportion to weights, in whole numbers that add up. A large count is divided, and what the division leaves is drawn by what each was left short
 * of; of a small one all is drawn, so that many small counts do not all fall to the largest weight and cost no more than they are. Draws follow Weyl's sequence, which
 * fills the line evenly however many are drawn: equal input gives equal shares. Test: tests/unit/test_gpu_samples.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SHARES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps of the sequence, as fractions of 2^64: what is shared out twice takes one of each, so that the two do not fall in step. */
#define GPU_SHARES_GOLDEN UINT64_C(0x9E3779B97F4A7C15)  /* (sqrt(5) - 1) / 2 */
#define GPU_SHARES_ROOT_TWO UINT64_C(0x6A09E667F3BCC909) /* sqrt(2) - 1 */

struct gpu_shares {
	size_t n;
	uint64_t total, step, n_drawn;
	uint64_t *weights;
	unsigned __int128 *before, *rests; /* sum of the weights (of what a division left) before each; one more: of all */
};

/* n > 0; weights are copied; all 0 means equal ones. False when memory is short; gpu_shares_end() in any case. */
bool gpu_shares_begin(struct gpu_shares *s, const uint64_t *weights, size_t n, uint64_t step);
/* Calls give(arg, i, part) with parts that add up to count; false as soon as that is. */
bool gpu_shares_deal(struct gpu_shares *s, uint64_t count, bool (*give)(void *arg, size_t i, uint64_t part), void *arg);
void gpu_shares_end(struct gpu_shares *s);

#endif
