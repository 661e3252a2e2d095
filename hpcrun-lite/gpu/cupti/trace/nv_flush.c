/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks CUPTI for records: every 100 ms in a thread of ours, sooner if CUPTI holds many buffers, and
 * at the end of the process for as long as that may take. It forces delivery only at the end or
 * when buffers run out, because records that are delivered unfinished never come again. It must not
 * call CUPTI in a forked child, where CUPTI hangs, or after exit() has begun to shut CUPTI down.
 * Test: tests/unit/cupti/test_cupti.c.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"

#include <errno.h>

#define PERIOD_NS UINT64_C(100000000)
#define RESTING_NS UINT64_C(10000000000)
#define END_PAUSE_NS UINT64_C(2000000)
#define REST_NS UINT64_C(1000000000)     /* after an end that was none: exec failed */
#define EXIT_WAIT_NS UINT64_C(2000000000)

static uint32_t n_out(void)
{
	return atomic_load_explicit(&nv.n_outstanding, memory_order_acquire);
}

/* Unfinished records that this delivers are lost by `cause`. */
static void force(enum msr_gpu_loss cause)
{
	atomic_store_explicit(&nv.unfinished, cause, memory_order_relaxed);
	nv.lib.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* Measurement was stopped, and all earlier operations have been delivered. */
static bool is_resting(void)
{
	return nv.off == NV_OFF && n_out() == 0;
}

static bool may_flush(void)
{
	return nv_is_here() && nv.host->generation(nv.host) != 0 &&
	       !atomic_load_explicit(&nv.is_over, memory_order_acquire) &&
	       nv.lib.now_ns() >= atomic_load_explicit(&nv.rests_until_ns, memory_order_acquire);
}

bool nv_guard_take(uint64_t until_ns)
{
	return nv.lib.lock(&nv.flush_lock, until_ns);
}

void nv_guard_give(void)
{
	pthread_mutex_unlock(&nv.flush_lock);
}

static void flush(void)
{
	nv_pc_prepare();
	nv.lib.cuptiActivityFlushAll(0);
	if (n_out() >= NV_MANY_BUFFERS)
		force(MSR_GPU_LOSS_PENDING);
	nv_pc_work();
}

static void *work(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&nv.is_over, memory_order_acquire)) {
		nv.lib.wait(&nv.wake, nv.lib.now_ns() + (is_resting() ? RESTING_NS : PERIOD_NS));
		nv.lib.lock(&nv.flush_lock, 0);
		if (may_flush()) {
			nv_switch_work();
			if (!is_resting())
				flush();
		}
		pthread_mutex_unlock(&nv.flush_lock);
	}
	return NULL;
}

void nv_flush_soon(void)
{
	int n = 0;
	if (sem_getvalue(&nv.wake, &n) == 0 && n == 0)
		sem_post(&nv.wake);
}

/* ---- launches without a record ---- */

void nv_open_add(int64_t n)
{
	static _Atomic unsigned next;
	static __thread unsigned mine __attribute__((tls_model("initial-exec")));
	if (!mine)
		mine = 1 + atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % NV_N_PARTS;
	atomic_fetch_add_explicit(&nv.open[mine - 1].n, n, memory_order_relaxed);
}

int64_t nv_open_count(void)
{
	int64_t n = 0;
	for (unsigned i = 0; i < NV_N_PARTS; i++)
		n += atomic_load_explicit(&nv.open[i].n, memory_order_relaxed);
	return n;
}

int64_t nv_open_take(void)
{
	int64_t n = 0;
	for (unsigned i = 0; i < NV_N_PARTS; i++)
		n += atomic_exchange_explicit(&nv.open[i].n, 0, memory_order_relaxed);
	return n;
}

/* ---- the end ---- */

/*
 * Records that CUPTI did not deliver when forced will never come: operations after a device fault.
 */
void nv_flush_count_missing(void)
{
	int64_t n = nv_open_take();
	nv_graph_count_missing();
	if (n > 0)
		nv.host->lost_unknown(nv.host, MSR_GPU_LOSS_NEVER_DONE, (uint64_t)n);
}

bool nv_flush_until_idle(uint64_t until_ns)
{
	sem_t never;
	sem_init(&never, 0, 0);
	for (;;) {
		nv.lib.cuptiActivityFlushAll(0);
		if (n_out() == 0)
			return true;
		uint64_t now = nv.lib.now_ns();
		if (now >= until_ns)
			return false;
		nv.lib.wait(&never, now + END_PAUSE_NS);
	}
}

/*
 * Delivers all complete records, and those that complete in time, then their samples; at last
 * forces the rest.
 */
static void flush_until(uint64_t until_ns)
{
	uint64_t may_ns = nv.end_was_in_vain ? 0 : until_ns;
	bool is_idle = nv_flush_until_idle(may_ns);
	nv_pc_end(may_ns, is_idle);
	nv.end_was_in_vain = nv.end_was_in_vain || nv.lib.now_ns() >= until_ns;
	force(MSR_GPU_LOSS_NEVER_DONE);
	nv_flush_count_missing();
}

static void finish(uint64_t may_wait_ns, bool is_exit)
{
	uint64_t until_ns = nv.lib.now_ns() + may_wait_ns;
	if (!nv_is_here() || atomic_load_explicit(&nv.is_over, memory_order_acquire))
		return;
	if (!nv_guard_take(until_ns)) { /* CUPTI does not answer our thread either */
		nv_pc_give_up();
		nv_flush_count_missing();
		if (is_exit)
			atomic_store_explicit(&nv.is_over, true, memory_order_release);
		return;
	}
	flush_until(until_ns);
	atomic_store_explicit(&nv.rests_until_ns, nv.lib.now_ns() + REST_NS, memory_order_release);
	if (is_exit)
		atomic_store_explicit(&nv.is_over, true, memory_order_release);
	nv_guard_give();
}

static void at_end(uint64_t may_wait_ns)
{
	finish(may_wait_ns, false);
}

/* exit() has been called, and CUPTI is still usable. */
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
