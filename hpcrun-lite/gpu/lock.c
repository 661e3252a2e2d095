/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for the lock of the GPU core, for a bounded time; see lock.h. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "hpcrun-lite/gpu/lock.h"

#include "common/safe/clock.h"
#include "common/safe/sys.h"

#define LOCK_SPINS 100u
#define LOCK_YIELDS 100u
#define LOCK_NAP_NS 50000
#define LOCK_PATIENCE_NS UINT64_C(1000000000)

__thread volatile uintptr_t gpu_lock_sp;

bool gpu_lock_wait(trylock *l)
{
	if (gpu_lock_is_nested())
		return false;
	for (unsigned i = 0; i < LOCK_SPINS; i++) {
		if (gpu_lock_try(l))
			return true;
		machine_pause();
	}
	for (unsigned i = 0; i < LOCK_YIELDS; i++) {
		if (gpu_lock_try(l))
			return true;
		sys_call3(SYS_sched_yield, 0, 0, 0);
	}
	for (uint64_t end = clock_mono_ns() + LOCK_PATIENCE_NS; clock_mono_ns() < end;) {
		const struct timespec nap = {0, LOCK_NAP_NS};
		if (gpu_lock_try(l))
			return true;
		sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&nap, 0);
	}
	return false;
}
