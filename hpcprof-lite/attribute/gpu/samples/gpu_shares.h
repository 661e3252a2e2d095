/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides counts in proportion to weights, into whole numbers that add up. Large counts are
 * divided, and the remainder is drawn in proportion to the fractions that the division dropped.
 * Small counts are drawn one by one, so that many small counts do not all go to the largest weight;
 * a count of n costs at most n draws. Draws follow Weyl's sequence, which fills the unit interval
 * evenly for any number of draws. Equal input gives equal shares. Test:
 * tests/unit/prof_gpu/test_gpu_samples.c.
 */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SHARES_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_SAMPLES_GPU_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Steps of the sequence, as fractions of 2^64. If you divide twice, use different steps, so that
 * the two divisions stay independent.
 */
#define GPU_SHARES_GOLDEN UINT64_C(0x9E3779B97F4A7C15)  /* (sqrt(5) - 1) / 2 */
#define GPU_SHARES_ROOT_TWO UINT64_C(0x6A09E667F3BCC909) /* sqrt(2) - 1 */

struct gpu_shares {
	size_t n;
	uint64_t total, step, n_drawn;
	uint64_t *weights;
	/*
	 * sums of the weights, and of the remainders of a division, before each entry; the last
	 * entry is the sum of all
	 */
	unsigned __int128 *before, *rests;
};

/*
 * n > 0. Copies the weights; if all are 0, they count as equal. False if memory is short. In all
 * cases call gpu_shares_end().
 */
bool gpu_shares_begin(struct gpu_shares *s, const uint64_t *weights, size_t n, uint64_t step);
/*
 * Calls give(arg, i, part) with parts that add up to count. Stops and returns false if give() does.
 */
bool gpu_shares_deal(struct gpu_shares *s, uint64_t count, bool (*give)(void *arg, size_t i,
	uint64_t part), void *arg);
void gpu_shares_end(struct gpu_shares *s);

#endif
