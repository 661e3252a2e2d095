/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes extents for the GPU core from the store. Every wait is bounded. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "common/safe/clock.h"
#include "common/safe/patience.h"
#include "hpcrun-lite/gpu/core_internal.h"

#define FULL_REST_NS 10000000u  /* so that not every launch asks a full disk */

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
	struct patience patience = {0};
	struct msr_extent *e;
	enum msr_loss why;
	uint64_t now_ns = clock_mono_ns();
	if (now_ns < atomic_load_explicit(&gpu_core.full_until_ns, memory_order_relaxed)) {
		*cause = MSR_GPU_LOSS_NO_SPACE;
		return NULL;
	}
	while (!(e = store_extent(request, &why)) && why == MSR_LOSS_BUSY &&
	       patience_wait(&patience))
		continue;
	if (!e && loss_of(why) == MSR_GPU_LOSS_NO_SPACE)
		atomic_store_explicit(&gpu_core.full_until_ns, now_ns + FULL_REST_NS,
				      memory_order_relaxed);
	*cause = e ? MSR_GPU_LOSS_NONE : loss_of(why);
	return e;
}
