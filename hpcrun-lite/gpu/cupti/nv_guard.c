/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guard: one thread at a time makes CUPTI calls that may wait. While it is held,
 * nv_guard_until_idle waits for the device. Test: tests/unit/cupti/test_cupti_switch.c.
 */
#include "hpcrun-lite/gpu/cupti/nv_shared.h"

#define PAUSE_NS UINT64_C(2000000)

struct nv_shared nv_shared;

void nv_shared_prepare(void)
{
	pthread_mutex_init(&nv_shared.flush_lock, NULL);
	sem_init(&nv_shared.wake, 0, 0);
}

bool nv_guard_take(uint64_t until_ns)
{
	return nv.lib.lock(&nv_shared.flush_lock, until_ns);
}

void nv_guard_give(void)
{
	pthread_mutex_unlock(&nv_shared.flush_lock);
}

void nv_guard_wake(void)
{
	int n = 0;
	if (sem_getvalue(&nv_shared.wake, &n) == 0 && n == 0)
		sem_post(&nv_shared.wake);
}

uint32_t nv_guard_n_buffers(void)
{
	return atomic_load_explicit(&nv_shared.n_outstanding, memory_order_acquire);
}

bool nv_guard_until_idle(uint64_t until_ns)
{
	sem_t never;
	sem_init(&never, 0, 0);
	for (;;) {
		nv.lib.cuptiActivityFlushAll(0);
		if (nv_guard_n_buffers() == 0)
			return true;
		uint64_t now = nv.lib.now_ns();
		if (now >= until_ns)
			return false;
		nv.lib.wait(&never, now + PAUSE_NS);
	}
}
