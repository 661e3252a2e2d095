/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether a context has finished its work if kernels have no records (notimes).
 * cuCtxSynchronize waits without a limit, so a thread of ours calls it. If it does not return in
 * time, we leave that thread waiting, as a program may do at its end, and ask again later. If there
 * are records, use nv_guard_until_idle instead. Test: tests/unit/cupti/test_cupti_pc_gate.c.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include <signal.h>

static struct {
	sem_t go, done;
	bool is_there;
	unsigned n_asked;
	_Atomic unsigned n_done;
	_Atomic(CUcontext) context;
} helper;

static __thread bool is_helper __attribute__((tls_model("initial-exec")));

bool nv_pc_is_helper(void)
{
	return is_helper;
}

static void *work(void *unused)
{
	unsigned n_seen = 0;
	is_helper = true;
	for (;;) {
		nv.lib.wait(&helper.go, UINT64_MAX);
		nv.lib.cuCtxSynchronize_v2(
			atomic_load_explicit(&helper.context, memory_order_acquire));
		atomic_store_explicit(&helper.n_done, ++n_seen, memory_order_release);
		sem_post(&helper.done);
	}
	return unused;
}

/* Signals of the program must not reach our thread, and the thread is not measured. */
static bool make_helper(void)
{
	sigset_t all, old;
	if (helper.is_there)
		return true;
	if (sem_init(&helper.go, 0, 0) != 0 || sem_init(&helper.done, 0, 0) != 0)
		return false;
	nv.host->suspend(nv.host);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	helper.is_there = nv.lib.spawn(work, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	nv.host->resume(nv.host);
	return helper.is_there;
}

static bool is_done(uint64_t until_ns)
{
	while (atomic_load_explicit(&helper.n_done, memory_order_acquire) != helper.n_asked &&
	       nv.lib.now_ns() < until_ns)
		nv.lib.wait(&helper.done, until_ns);
	return atomic_load_explicit(&helper.n_done, memory_order_acquire) == helper.n_asked;
}

bool nv_pc_synchronize(CUcontext context, uint64_t until_ns)
{
	/* wait for an earlier request first: its answer says nothing about now */
	if (!make_helper() || !is_done(until_ns))
		return false;
	atomic_store_explicit(&helper.context, context, memory_order_release);
	helper.n_asked++;
	sem_post(&helper.go);
	return is_done(until_ns);
}
