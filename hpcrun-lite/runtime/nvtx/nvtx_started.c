/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See nvtx_started.h. A number contains its slot, and free slots form a lock-free list. So both
 * calls take the same time with a thousand open ranges as with one.
 */
#include "hpcrun-lite/runtime/nvtx/nvtx_started.h"

#include <stdatomic.h>

#define BUSY UINT64_MAX

static struct {
	_Atomic uint64_t n;      /* numbers given so far */
	_Atomic uint32_t n_used; /* slots that were ever taken */
	/* the first free slot: 1 + slot, and a count of changes in the upper half */
	_Atomic uint64_t free;
	struct {
		_Atomic uint64_t number; /* 0: none; BUSY: its owner reads the range */
		_Atomic uint32_t next;   /* free slot: 1 + slot; 0: none */
		struct nvtx_started range;
	} slot[NVTX_STARTED_MOST];
} started;

/* The new count makes an exchange fail if other threads took and returned the slot meanwhile. */
static uint64_t change(uint64_t free, uint32_t slot)
{
	return ((free >> 32) + 1) << 32 | slot;
}

unsigned nvtx_started_reserve(void)
{
	/* acquire: `next` of the slot was written before */
	uint64_t free = atomic_load_explicit(&started.free, memory_order_acquire);
	while ((uint32_t)free) {
		const unsigned at = (uint32_t)free - 1;
		const uint32_t next =
			atomic_load_explicit(&started.slot[at].next, memory_order_relaxed);
		/* acquire: the last owner has read the range */
		if (atomic_compare_exchange_weak_explicit(&started.free, &free, change(free, next),
							  memory_order_acquire,
							  memory_order_acquire))
			return at;
	}
	uint32_t n = atomic_load_explicit(&started.n_used, memory_order_relaxed);
	while (n < NVTX_STARTED_MOST &&
	       !atomic_compare_exchange_weak_explicit(&started.n_used, &n, n + 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
	return n;
}

void nvtx_started_return(unsigned slot)
{
	uint64_t free = atomic_load_explicit(&started.free, memory_order_relaxed);
	do
		atomic_store_explicit(&started.slot[slot].next, (uint32_t)free,
				      memory_order_relaxed);
	/* release: publishes `next`, and that the range was read */
	while (!atomic_compare_exchange_weak_explicit(&started.free, &free, change(free, slot + 1),
						      memory_order_release, memory_order_relaxed));
}

uint64_t nvtx_started_add(unsigned slot, const struct nvtx_started *s)
{
	const uint64_t number =
		(1 + atomic_fetch_add_explicit(&started.n, 1, memory_order_relaxed)) *
			NVTX_STARTED_MOST + slot;
	started.slot[slot].range = *s;
	/* release: publishes the range */
	atomic_store_explicit(&started.slot[slot].number, number, memory_order_release);
	return number;
}

bool nvtx_started_take(uint64_t number, struct nvtx_started *s)
{
	const unsigned at = (unsigned)(number % NVTX_STARTED_MOST);
	uint64_t found = number;
	/* acquire: the range was written before */
	if (number == 0 || number == BUSY ||
	    !atomic_compare_exchange_strong_explicit(&started.slot[at].number, &found, BUSY,
						     memory_order_acquire, memory_order_relaxed))
		return false;
	*s = started.slot[at].range;
	atomic_store_explicit(&started.slot[at].number, 0, memory_order_relaxed);
	nvtx_started_return(at);
	return true;
}

/* The child has no other thread. */
void nvtx_started_forked(void)
{
	for (unsigned i = 0; i < NVTX_STARTED_MOST; i++)
		atomic_store_explicit(&started.slot[i].number, 0, memory_order_relaxed);
	atomic_store_explicit(&started.free, 0, memory_order_relaxed);
	atomic_store_explicit(&started.n_used, 0, memory_order_relaxed);
}
