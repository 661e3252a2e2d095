/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the launches that have no record yet. At the end they are counted as never done. Test:
 * tests/unit/cupti/test_cupti_record.c.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

void nv_open_add(int64_t n)
{
	static _Atomic unsigned next;
	static __thread unsigned mine __attribute__((tls_model("initial-exec")));
	if (!mine)
		mine = 1 + atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % NV_N_PARTS;
	atomic_fetch_add_explicit(&nv_trace.open[mine - 1].n, n, memory_order_relaxed);
}

int64_t nv_open_count(void)
{
	int64_t n = 0;
	for (unsigned i = 0; i < NV_N_PARTS; i++)
		n += atomic_load_explicit(&nv_trace.open[i].n, memory_order_relaxed);
	return n;
}

int64_t nv_open_take(void)
{
	int64_t n = 0;
	for (unsigned i = 0; i < NV_N_PARTS; i++)
		n += atomic_exchange_explicit(&nv_trace.open[i].n, 0, memory_order_relaxed);
	return n;
}

/*
 * If CUPTI did not deliver a record when forced, it will never come. This happens to operations
 * after a device fault.
 */
void nv_open_count_missing(void)
{
	int64_t n = nv_open_take();
	nv_graph_count_missing();
	if (n > 0)
		nv.host->lost_unknown(nv.host, MSR_GPU_LOSS_NEVER_DONE, (uint64_t)n);
}
