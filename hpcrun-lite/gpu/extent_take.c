/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes extents for the GPU core from the store. Every wait is bounded. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "common/safe/clock.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/gpu/core_internal.h"

#define GROWTH_WAITS 100u       /* number of waits for another thread that makes space */
#define GROWTH_WAIT_NS 100000
#define FULL_REST_NS 10000000u  /* a full disk is not asked again at each launch */

static enum msr_gpu_loss loss_of(enum msr_loss l)
{
	switch (l) {
	case MSR_LOSS_NO_MEMORY:
		return MSR_GPU_LOSS_NO_MEMORY;
	case MSR_LOSS_BUSY:
		return MSR_GPU_LOSS_BUSY;
	default:
		return MSR_GPU_LOSS_NO_SPACE;
	}
}

struct msr_extent *extent_take(const struct store_request *request, enum msr_gpu_loss *cause)
{
	enum msr_loss why = MSR_LOSS_BUSY;
	uint64_t now_ns = clock_mono_ns();
	if (now_ns < atomic_load_explicit(&gpu_core.full_until_ns, memory_order_relaxed)) {
		*cause = MSR_GPU_LOSS_NO_SPACE;
		return NULL;
	}
	struct msr_extent *e = store_extent(request, &why);
	for (unsigned i = 0; !e && why == MSR_LOSS_BUSY && i < GROWTH_WAITS; i++) {
		const struct timespec wait = {0, GROWTH_WAIT_NS};
		sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&wait, 0);
		e = store_extent(request, &why);
	}
	if (!e && loss_of(why) == MSR_GPU_LOSS_NO_SPACE)
		atomic_store_explicit(&gpu_core.full_until_ns, now_ns + FULL_REST_NS,
				      memory_order_relaxed);
	*cause = e ? MSR_GPU_LOSS_NONE : loss_of(why);
	return e;
}
