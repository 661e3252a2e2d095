/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Poisson sampling by bytes, as in tcmalloc, jemalloc and heapprofd: points are strewn over the
 * bytes that a thread asks for, at distances that are exponentially distributed with a mean of
 * `period`. An allocation with a point in it is a sample. So one of n bytes is sampled with the
 * probability 1 - exp(-n / period), whatever was allocated before, and stands for the inverse of
 * that number of allocations. Test: tests/unit/memory/test_memory_model.c.
 */
#ifndef HPCRUN_LITE_MEMORY_MEMORY_SAMPLER_H
#define HPCRUN_LITE_MEMORY_MEMORY_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Of one thread. All zero at its start: its first allocation then draws the first distance. */
struct memory_sampler {
	uint64_t left;  /* bytes before the next point */
	uint64_t drawn; /* bytes up to that point since the thread began */
	uint64_t state; /* of the random numbers; 0: not seeded */
};

/* Bytes that the thread has asked for. */
static inline uint64_t memory_sampler_clock(const struct memory_sampler *s)
{
	return s->drawn - s->left;
}

/* Returns false, and has counted them, if no point is in the next n bytes. */
static inline bool memory_sampler_meets(struct memory_sampler *s, uint64_t n)
{
	if (__builtin_expect(n > s->left, 0))
		return true;
	s->left -= n;
	return false;
}

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t memory_sampler_random(struct memory_sampler *s)
{
	uint64_t z = s->state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* The natural logarithm of x >= 1, to 1e-9, without libm: ln m = 2 artanh((m - 1) / (m + 1)). */
static inline double memory_sampler_log(double x)
{
	uint64_t bits;
	double m, sum = 0;
	memcpy(&bits, &x, sizeof bits);
	const int exponent = (int)(bits >> 52) - 1023;
	bits = (bits & ~(UINT64_C(0xFFF) << 52)) | UINT64_C(1023) << 52;
	memcpy(&m, &bits, sizeof m);
	const double z = (m - 1) / (m + 1), square = z * z;
	for (int i = 21; i > 0; i -= 2)
		sum = sum * square + 1.0 / i;
	return 2 * z * sum + exponent * 0.693147180559945309;
}

static inline void memory_sampler_draw(struct memory_sampler *s, uint64_t period)
{
	/* ln(1 / u), u in (0, 1] */
	const double u = (double)((memory_sampler_random(s) >> 11) + 1);
	s->left = period <= 1 ? 0 : (uint64_t)((double)period * memory_sampler_log(0x1p53 / u));
	s->drawn += s->left;
}

/*
 * Call it if memory_sampler_meets() returned true. Counts the n bytes, and returns true if the
 * allocation is a sample. `seed` is used by the first call in a thread.
 */
static inline bool memory_sampler_take(struct memory_sampler *s, uint64_t n, uint64_t period,
				       uint64_t seed)
{
	if (!s->state) {
		s->state = seed | 1;
		memory_sampler_draw(s, period);
		if (!memory_sampler_meets(s, n))
			return false;
	}
	s->drawn += n - s->left;
	memory_sampler_draw(s, period);
	return true;
}

#endif
