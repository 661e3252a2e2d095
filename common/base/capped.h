/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of numbers that a file states. A sum beyond 64 bits stays at UINT64_MAX, so that foreign
 * numbers cannot wrap to an innocent one; a ledger with such a sum does not close.
 * Test: tests/unit/test_ledger.c.
 */
#ifndef COMMON_BASE_CAPPED_H
#define COMMON_BASE_CAPPED_H

#include <stdint.h>

static inline uint64_t capped_add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline void capped_grow(uint64_t *to, uint64_t n)
{
	*to = capped_add(*to, n);
}

#endif
