/* SPDX-License-Identifier: BSD-3-Clause */
/* See thread_off.h. Must not wait or allocate. Test: tests/cli/run/control.sh. */
#include "hpcrun-lite/runtime/thread_off.h"

#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/process.h"

static void set_off(struct thread *t, bool is_off, uint64_t cpu_ns, uint64_t now_ns)
{
	atomic_store_explicit(&t->off.cpu_since_ns, cpu_ns, memory_order_relaxed);
	atomic_store_explicit(&t->off.wall_since_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&t->off.is_off, is_off, memory_order_seq_cst);
}

static uint64_t off_ns(const struct thread *t, const _Atomic uint64_t *before_ns,
		       const _Atomic uint64_t *since_ns, uint64_t now_ns)
{
	uint64_t before = atomic_load_explicit(before_ns, memory_order_relaxed),
		 since = atomic_load_explicit(since_ns, memory_order_relaxed);
	bool is_off = atomic_load_explicit(&t->off.is_off, memory_order_relaxed);
	return is_off && now_ns > since ? before + now_ns - since : before;
}

uint64_t thread_off_ns(const struct thread *t, uint64_t cpu_ns)
{
	return off_ns(t, &t->off.cpu_ns, &t->off.cpu_since_ns, cpu_ns);
}

uint64_t thread_off_wall_ns(const struct thread *t, uint64_t now_ns)
{
	return off_ns(t, &t->off.wall_ns, &t->off.wall_since_ns, now_ns);
}

/* Marks that the time line has no information from here to the next sample. */
static void trace_off(struct thread *t)
{
	enum msr_loss cause;
	if (process.config.trace && t->cct &&
	    atomic_load_explicit(&t->record->recorded, memory_order_relaxed) &&
	    !cct_trace(t->cct, 0, process.source[0].event[0].metric, clock_mono_ns(), &cause))
		atomic_fetch_add_explicit(&t->record->losses[MSR_LOSS_TRACE], 1,
					  memory_order_relaxed);
}

static void go_off(struct thread *t)
{
	thread_sources_rest(t, true);
	/* a source was being started while the thread was off */
	if (atomic_load_explicit(&t->off.is_off, memory_order_relaxed))
		return;
	set_off(t, true, clock_thread_cpu_ns(), clock_mono_ns());
	trace_off(t);
}

static void go_on(struct thread *t)
{
	uint64_t sum = thread_off_ns(t, clock_thread_cpu_ns()),
		 wall = thread_off_wall_ns(t, clock_mono_ns());
	set_off(t, false, 0, 0);
	atomic_store_explicit(&t->off.cpu_ns, sum, memory_order_relaxed);
	atomic_store_explicit(&t->record->cpu_off_ns, sum, memory_order_relaxed);
	atomic_store_explicit(&t->off.wall_ns, wall, memory_order_relaxed);
	atomic_store_explicit(&t->record->wall_off_ns, wall, memory_order_relaxed);
	thread_sources_rest(t, false);
}

/*
 * Sequential consistency: either we see the next change, or the thread that makes it sees our state
 * and sends a signal.
 */
void thread_follow(struct thread *t)
{
	bool off;
	do {
		off = atomic_load_explicit(&process.off, memory_order_seq_cst);
		if (off)
			go_off(t);
		else if (atomic_load_explicit(&t->off.is_off, memory_order_relaxed))
			go_on(t);
	} while (off != atomic_load_explicit(&process.off, memory_order_seq_cst));
}

void thread_signal_others(void)
{
	atomic_thread_fence(memory_order_seq_cst); /* as in thread_off_begin */
	for (struct thread *t = thread_first(); t;
	     t = t->next_made)
		if (t != thread_self &&
		    atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE &&
		    t->tid &&
		    atomic_load_explicit(&t->off.is_off, memory_order_seq_cst) !=
			    atomic_load_explicit(&process.off, memory_order_seq_cst))
			thread_send(t);
}

/*
 * Sequential consistency: either we see that measurement is off, or the thread that stops it sees
 * our tid and sends a signal.
 */
void thread_off_begin(struct thread *t)
{
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store_explicit(&t->off.cpu_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&t->off.wall_ns, 0, memory_order_relaxed);
	set_off(t, atomic_load_explicit(&process.off, memory_order_relaxed),
		t->record->cpu_start_ns, t->record->start_ns);
}
