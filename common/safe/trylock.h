/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock that is only ever tried, so that a signal handler can use it: whoever finds it taken does without. Zero is free.
 * Test: tests/unit/test_safe.c.
 */
#ifndef COMMON_SAFE_TRYLOCK_H
#define COMMON_SAFE_TRYLOCK_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
	atomic_flag taken;
} trylock;

/* True: the caller holds it. Acquire: sees all that the last holder did. */
static inline bool trylock_take(trylock *l)
{
	return !atomic_flag_test_and_set_explicit(&l->taken, memory_order_acquire);
}

static inline void trylock_give(trylock *l)
{
	atomic_flag_clear_explicit(&l->taken, memory_order_release);
}

#endif
