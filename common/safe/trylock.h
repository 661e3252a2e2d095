/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock that is only ever tried, never waited for, so that a signal handler can use it. A caller
 * that finds it taken must do without. Zero is free. Test: tests/unit/common/test_safe.c.
 */
#ifndef COMMON_SAFE_TRYLOCK_H
#define COMMON_SAFE_TRYLOCK_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct {
	atomic_flag taken;
} trylock;

/* Returns true if the caller now holds the lock. Acquire: sees everything the last holder did. */
static inline bool trylock_take(trylock *l)
{
	return !atomic_flag_test_and_set_explicit(&l->taken, memory_order_acquire);
}

static inline void trylock_give(trylock *l)
{
	atomic_flag_clear_explicit(&l->taken, memory_order_release);
}

#endif
