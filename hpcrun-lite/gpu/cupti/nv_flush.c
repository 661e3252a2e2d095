/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking CUPTI for records: every 100 ms by a thread of ours, sooner when it has many buffers, and at the end of the process for as long as that may take. By force only at the end
 * or where buffers run out, since records that are handed out unfinished never come again. Must not: touch CUPTI in the child of a fork, where it hangs, or after exit has begun
 * to take it down. Test: tests/unit/test_cupti.c.
 */
#include "common/safe/clock.h"
#include "hpcrun-lite/gpu/cupti/nv.h"

#include <errno.h>
#include <stdlib.h>

#define PERIOD_NS UINT64_C(100000000)
#define END_PAUSE_NS 2000000
#define REST_NS UINT64_C(1000000000)     /* after an end that was none: exec failed */
#define EXIT_WAIT_NS UINT64_C(2000000000)

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

static uint32_t n_out(void)
{
	return atomic_load_explicit(&nv.n_outstanding, memory_order_acquire);
}

/* Unfinished records that come out of it are lost by `cause`. */
static void force(enum msr_gpu_loss cause)
{
	atomic_store_explicit(&nv.unfinished, cause, memory_order_relaxed);
	nv.lib.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

static bool may_flush(void)
{
	return nv_is_here() && nv.host->generation(nv.host) != 0 && !atomic_load_explicit(&nv.is_over, memory_order_acquire) &&
	       clock_mono_ns() >= atomic_load_explicit(&nv.rests_until_ns, memory_order_acquire);
}

static void *work(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&nv.is_over, memory_order_acquire)) {
		struct timespec until = timespec_of(clock_mono_ns() + PERIOD_NS);
		while (sem_clockwait(&nv.wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR)
			;
		pthread_mutex_lock(&nv.flush_lock);
		if (may_flush()) {
			nv.lib.cuptiActivityFlushAll(0);
			if (n_out() >= NV_MANY_BUFFERS)
				force(MSR_GPU_LOSS_PENDING);
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

/* ---- the end ---------------------------------------------------------------------------------------------------- */

/* What CUPTI was asked for by force and did not hand out will never come: operations behind a fault of the device. */
static void count_missing(void)
{
	int64_t n = atomic_exchange_explicit(&nv.n_open, 0, memory_order_relaxed);
	if (n > 0)
		nv.host->lost_unknown(nv.host, MSR_GPU_LOSS_NEVER_DONE, (uint64_t)n);
}

/* All that is complete, and what completes in time; then what is left, by force. */
static void flush_until(uint64_t until_ns)
{
	const struct timespec pause = {0, END_PAUSE_NS};
	do {
		nv.lib.cuptiActivityFlushAll(0);
		if (n_out() == 0)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	} while (clock_mono_ns() < until_ns);
	force(MSR_GPU_LOSS_NEVER_DONE);
	count_missing();
}

static void finish(uint64_t may_wait_ns, bool is_exit)
{
	uint64_t until_ns = clock_mono_ns() + may_wait_ns;
	struct timespec until = timespec_of(until_ns);
	if (!nv_is_here() || atomic_load_explicit(&nv.is_over, memory_order_acquire))
		return;
	if (pthread_mutex_clocklock(&nv.flush_lock, CLOCK_MONOTONIC, &until) != 0)
		return; /* CUPTI does not answer our thread either */
	flush_until(until_ns);
	atomic_store_explicit(&nv.rests_until_ns, clock_mono_ns() + REST_NS, memory_order_release);
	if (is_exit)
		atomic_store_explicit(&nv.is_over, true, memory_order_release);
	pthread_mutex_unlock(&nv.flush_lock);
}

static void at_end(uint64_t may_wait_ns)
{
	finish(may_wait_ns, false);
}

/* exit() was called, and CUPTI is still whole. */
static void at_exit(void)
{
	int saved = errno;
	finish(EXIT_WAIT_NS, true);
	errno = saved;
}

bool nv_flush_start(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	if (pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	bool good = pthread_create(&thread, &attributes, work, NULL) == 0;
	pthread_attr_destroy(&attributes);
	if (good) {
		atexit(at_exit);
		nv.host->at_end(nv.host, at_end);
	}
	return good;
}
