/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes extents for the GPU core from the store. Every wait is bounded. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "common/safe/clock.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/gpu/core_internal.h"

#include <signal.h>

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

/* Signals must wait: a jump out of code that grows the file would leave it locked. */
static uint64_t block_signals(void)
{
	uint64_t all = ~UINT64_C(0), old = 0;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&old, sizeof all);
	return old;
}

static struct msr_extent *from_store(const struct store_request *request, enum msr_loss *why)
{
	uint64_t mask = block_signals();
	struct msr_extent *e = store_extent(request, why);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask);
	return e;
}

struct msr_extent *extent_take(const struct store_request *request, enum msr_gpu_loss *cause)
{
	enum msr_loss why = MSR_LOSS_BUSY;
	uint64_t now_ns = clock_mono_ns();
	if (now_ns < atomic_load_explicit(&gpu_core.full_until_ns, memory_order_relaxed)) {
		*cause = MSR_GPU_LOSS_NO_SPACE;
		return NULL;
	}
	struct msr_extent *e = from_store(request, &why);
	for (unsigned i = 0; !e && why == MSR_LOSS_BUSY && i < GROWTH_WAITS; i++) {
		const struct timespec wait = {0, GROWTH_WAIT_NS};
		sys_call4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&wait, 0);
		e = from_store(request, &why);
	}
	if (!e && loss_of(why) == MSR_GPU_LOSS_NO_SPACE)
		atomic_store_explicit(&gpu_core.full_until_ns, now_ns + FULL_REST_NS,
				      memory_order_relaxed);
	*cause = e ? MSR_GPU_LOSS_NONE : loss_of(why);
	return e;
}
