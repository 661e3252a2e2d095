/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of sampled allocations, and what a sample stands for: writer and readers agree.
 * Signal-safe. Test: tests/unit/memory/test_memory_model.c.
 */
#ifndef COMMON_FORMAT_MEASUREMENT_MEMORY_H
#define COMMON_FORMAT_MEASUREMENT_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

/* A sampled allocation. The metric MEMORY has the period. */
struct msr_memory {
	uint64_t alloc_ns;        /* CLOCK_MONOTONIC */
	_Atomic uint64_t free_ns; /* 0: it was not freed */
	uint64_t bytes;           /* asked for; not 0 */
	uint32_t node;
	uint32_t flags; /* MSR_MEMORY_* */
};
#define MSR_MEMORY_MAPPING 1u    /* by mmap */
#define MSR_MEMORY_TEMPORARY 2u  /* its thread freed it and had allocated nothing in between */
#define MSR_MEMORY_UNFOLLOWED 4u /* there was no room to notice its end */

/* 1 - exp(-x), x >= 0, to 1e-11 of its value, without libm. */
static inline double msr_memory_share(double x)
{
	const double t = x / 1024;
	if (x > 50)
		return 1;
	/* 1 - exp(-t) by its series; then ten times from x to 2 x: 1 - (1 - p)^2 = p (2 - p) */
	double p = t * (1 - t / 2 * (1 - t / 3 * (1 - t / 4 * (1 - t / 5))));
	for (int i = 0; i < 10; i++)
		p *= 2 - p;
	return p;
}

/*
 * For how many allocations a sampled one stands: the inverse of the probability to be sampled,
 * 1 - exp(-bytes / period), or 1 if the period is 1 byte. Sums of it are unbiased (Horvitz and
 * Thompson, 1952), and the sum of weight * (weight - 1) is the estimate of their variance.
 */
static inline double msr_memory_weight(uint64_t bytes, uint64_t period)
{
	return period <= 1 ? 1 : 1 / msr_memory_share((double)bytes / (double)period);
}

#endif
