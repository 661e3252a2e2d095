/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock of the GPU core, for code outside our signal handlers that any thread may run. It is
 * held for tens of nanoseconds, or while the file grows once. Test: tests/unit/gpu/test_gpu_core.c.
 *
 * The holder may be preempted, so waiters yield. They give up after about a second. So a holder
 * that never returns (a longjmp out of a signal handler of the program) costs records but does not
 * block the program. A thread holds at most one lock. If a signal handler of the program interrupts
 * the holder, the handler gets no lock. We detect this because the stack is deeper by a signal
 * frame. Zero is free.
 */
#ifndef HPCRUN_LITE_GPU_LOCK_H
#define HPCRUN_LITE_GPU_LOCK_H

#include "common/safe/trylock.h"

#include <stdbool.h>
#include <stdint.h>

/* Stack position of the calling thread when it took its lock; 0: it holds none. */
extern __thread volatile uintptr_t gpu_lock_sp;

#define LOCK_SIGNAL_FRAME 768u /* a signal frame with its red zone is larger than this */

/*
 * Returns true in a handler that interrupted a lock holder. If the stack is less deep than when the
 * lock was taken, a longjmp has left that code, so this is false.
 */
static inline bool gpu_lock_is_nested(void)
{
	uintptr_t held = gpu_lock_sp;
	return held && (uintptr_t)__builtin_frame_address(0) + LOCK_SIGNAL_FRAME < held;
}

/*
 * The slow path. Returns false after about a second, or at once if this thread already holds a
 * lock.
 */
bool gpu_lock_wait(trylock *l);

static inline bool gpu_lock_try(trylock *l)
{
	if (gpu_lock_is_nested())
		return false;
	/* Set before taking the lock: a handler in between gets no lock, which is safe. */
	gpu_lock_sp = (uintptr_t)__builtin_frame_address(0);
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
