/* SPDX-License-Identifier: BSD-3-Clause */
/* See nvtx_started.h. */
#include "hpcrun-lite/runtime/nvtx/nvtx_started.h"

#include <stdatomic.h>

#define BUSY UINT64_MAX

static struct {
	_Atomic uint64_t n;  /* numbers that were given */
	struct {
		_Atomic uint64_t number; /* 0: free; BUSY: its owner reads or writes the range */
		struct nvtx_started range;
	} slot[NVTX_STARTED_MOST];
} started;

/* The number says which slot was looked at first. */
uint64_t nvtx_started_add(const struct nvtx_started *s)
{
	const uint64_t number =
		1 + atomic_fetch_add_explicit(&started.n, 1, memory_order_relaxed);
	for (unsigned i = 0; i < NVTX_STARTED_MOST; i++) {
		const unsigned at = (unsigned)(number + i) % NVTX_STARTED_MOST;
		uint64_t none = 0;
		/* acquire: the last owner has read the range */
		if (!atomic_compare_exchange_strong_explicit(&started.slot[at].number, &none, BUSY,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		started.slot[at].range = *s;
		/* release: publishes the range */
		atomic_store_explicit(&started.slot[at].number, number, memory_order_release);
		break;
	}
	return number;
}

bool nvtx_started_take(uint64_t number, struct nvtx_started *s)
{
	for (unsigned i = 0; number && number != BUSY && i < NVTX_STARTED_MOST; i++) {
		const unsigned at = (unsigned)(number + i) % NVTX_STARTED_MOST;
		uint64_t found = number;
		if (!atomic_compare_exchange_strong_explicit(&started.slot[at].number, &found, BUSY,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		*s = started.slot[at].range;
		atomic_store_explicit(&started.slot[at].number, 0, memory_order_release);
		return true;
	}
	return false;
}

void nvtx_started_forked(void)
{
	for (unsigned i = 0; i < NVTX_STARTED_MOST; i++)
		atomic_store_explicit(&started.slot[i].number, 0, memory_order_relaxed);
}
