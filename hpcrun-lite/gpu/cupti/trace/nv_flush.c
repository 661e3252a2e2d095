/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks CUPTI for records: every 100 ms in a thread of ours, sooner if CUPTI holds many buffers, and
 * at the end of the process, for as long as the end may wait. It forces delivery only at the end or
 * when buffers run out, because a record that is delivered unfinished never comes again. It must
 * not call CUPTI in a forked child, where CUPTI hangs, or after exit() has begun to shut CUPTI
 * down. Test: tests/unit/cupti/test_cupti.c.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"
#include "hpcrun-lite/gpu/cupti/energy/nv_energy.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <errno.h>

#define PERIOD_NS UINT64_C(100000000)
#define RESTING_NS UINT64_C(10000000000)
/* pause after an end, in case the process goes on because an exec failed */
#define REST_NS UINT64_C(1000000000)
#define EXIT_WAIT_NS UINT64_C(2000000000)

void nv_flush_force(enum msr_gpu_loss cause)
{
	atomic_store_explicit(&nv_trace.unfinished, cause, memory_order_relaxed);
	nv.lib.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* Returns true if measurement was stopped and all earlier operations have been delivered. */
static bool is_resting(void)
{
	return nv_shared.off == NV_OFF && nv_guard_n_buffers() == 0;
}

static bool may_flush(void)
{
	return nv_is_here() && nv.host->generation(nv.host) != 0 && !nv_trace_is_over() &&
	       nv.lib.now_ns() >=
		       atomic_load_explicit(&nv_trace.rests_until_ns, memory_order_acquire);
}

static void flush(void)
{
	nv_pc_prepare();
	nv.lib.cuptiActivityFlushAll(0);
	if (nv_guard_n_buffers() >= NV_MANY_BUFFERS)
		nv_flush_force(MSR_GPU_LOSS_PENDING);
	nv_pc_work();
}

static uint64_t pause_ns(void)
{
	return is_resting() && !nv_yield_is_away() ? RESTING_NS : PERIOD_NS;
}

static void *work(void *unused)
{
	(void)unused;
	while (!nv_trace_is_over()) {
		nv.lib.wait(&nv_shared.wake, nv.lib.now_ns() + pause_ns());
		nv_guard_take(0);
		if (may_flush()) {
			nv_switch_work();
			nv_yield_work();
			/* while we are away, the buffers belong to the program */
			if (!is_resting() && !nv_yield_is_away())
				flush();
		}
		nv_guard_give();
	}
	return NULL;
}

/* ---- the end ---- */

/*
 * Delivers the records that are complete or become complete in time, then the samples. Finally
 * forces the rest.
 */
static void flush_until(uint64_t until_ns)
{
	uint64_t may_ns = nv_trace.end_was_in_vain ? 0 : until_ns;
	bool is_idle = nv_guard_until_idle(may_ns);
	if (is_idle && may_ns)
		nv_counters_end(may_ns);
	nv_pc_end(may_ns, is_idle);
	nv_trace.end_was_in_vain = nv_trace.end_was_in_vain || nv.lib.now_ns() >= until_ns;
	nv_flush_force(MSR_GPU_LOSS_NEVER_DONE);
	nv_open_count_missing();
}

static void finish(uint64_t may_wait_ns, bool is_exit)
{
	uint64_t until_ns = nv.lib.now_ns() + may_wait_ns;
	if (!nv_is_here() || nv_trace_is_over())
		return;
	if (!nv_guard_take(until_ns)) { /* our thread is stuck in CUPTI */
		nv_pc_give_up();
		nv_open_count_missing();
		if (is_exit)
			atomic_store_explicit(&nv_shared.is_over, true, memory_order_release);
		return;
	}
	nv_yield_say();
	if (nv_yield_is_away())
		nv_open_count_missing();
	else
		flush_until(until_ns);
	nv_energy_end(until_ns);
	atomic_store_explicit(&nv_trace.rests_until_ns, nv.lib.now_ns() + REST_NS,
			      memory_order_release);
	if (is_exit)
		atomic_store_explicit(&nv_shared.is_over, true, memory_order_release);
	nv_guard_give();
}

static void at_end(uint64_t may_wait_ns)
{
	finish(may_wait_ns, false);
}

/* exit() was called, and CUPTI is still usable. */
static void at_exit(void)
{
	int saved = errno;
	finish(EXIT_WAIT_NS, true);
	errno = saved;
}

bool nv_flush_start(void)
{
	bool good = nv.lib.spawn(work, NULL);
	if (good) {
		nv.lib.at_exit(at_exit);
		nv.lib.at_end(at_end);
	}
	return good;
}
