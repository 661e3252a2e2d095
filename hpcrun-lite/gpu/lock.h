/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of the GPU core: for code outside of our signal handlers that any thread may run. Held for tens of nanoseconds, or for one growth of the file; a holder may be
 * preempted, so whoever waits yields, and gives up after a bound: a thread that never comes back (a longjmp out of a signal handler of the program) costs records and not the
 * program. A thread holds one lock at a time; one that asks again (the program's signal handler interrupted it, which is seen by the stack being deeper by a signal frame)
 * gets none. Zero is free.
 * Test: tests/unit/test_gpu_core.c.
 */
#ifndef HPCRUN_LITE_GPU_LOCK_H
#define HPCRUN_LITE_GPU_LOCK_H

#include "common/safe/trylock.h"

#include <stdbool.h>
#include <stdint.h>

/* Where the stack of the calling thread stood when it took the lock that it holds; 0: it holds none. */
extern __thread volatile uintptr_t gpu_lock_sp;

#define LOCK_SIGNAL_FRAME 768u /* a signal frame with its red zone is larger */

/* Inside a handler on top of code that holds a lock. A place less deep than that was left by a longjmp. */
static inline bool gpu_lock_is_nested(void)
{
	uintptr_t held = gpu_lock_sp;
	return held && (uintptr_t)__builtin_frame_address(0) + LOCK_SIGNAL_FRAME < held;
}

/* The slow way: false after about a second, or at once when this thread holds a lock already. */
bool gpu_lock_wait(trylock *l);

static inline bool gpu_lock_try(trylock *l)
{
	if (gpu_lock_is_nested())
		return false;
	gpu_lock_sp = (uintptr_t)__builtin_frame_address(0); /* before the lock: a handler that comes in between gets none, which is the safe side */
	atomic_signal_fence(memory_order_seq_cst);
	if (trylock_take(l))
		return true;
	gpu_lock_sp = 0;
	return false;
}

static inline bool gpu_lock_take(trylock *l)
{
	return gpu_lock_try(l) || gpu_lock_wait(l);
}

static inline void gpu_lock_give(trylock *l)
{
	trylock_give(l);
	atomic_signal_fence(memory_order_seq_cst);
	gpu_lock_sp = 0;
}

#endif
