/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up numbers that were read from a file. A sum that does not fit in 64 bits stays at
 * UINT64_MAX and does not wrap to a plausible small number. A ledger with this sum does not close.
 * Test: tests/unit/prof/test_ledger.c.
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
