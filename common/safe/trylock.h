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
	_Atomic bool taken;
} trylock;

/* Returns true if the caller now holds the lock. Acquire: sees everything the last holder did. */
static inline bool trylock_take(trylock *l)
{
	return !atomic_exchange_explicit(&l->taken, true, memory_order_acquire);
}

static inline void trylock_give(trylock *l)
{
	atomic_store_explicit(&l->taken, false, memory_order_release);
}

/*
 * Frees the lock in a child of fork, where one of the parent's other threads may have held it.
 * Writes only if it must, because the child gets a copy of each page that it writes to.
 */
static inline void trylock_forked(trylock *l)
{
	if (atomic_load_explicit(&l->taken, memory_order_relaxed))
		trylock_give(l);
}

#endif
