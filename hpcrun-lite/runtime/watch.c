/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds threads that the kernel's tick misses; see watch.h. Must not wait or allocate. */
#include "hpcrun-lite/runtime/watch.h"

#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/source/ktimer.h"

#define WATCH_NS 50000000u
#define WATCH_BEHIND_NS 16000000u /* four ticks of 4 ms: fewer is ordinary */
#define WATCH_MOST 64u            /* threads checked in one call */

static struct {
	struct ktimer timer;
	uint64_t delay_ns;
	_Atomic uint64_t looked_ns;       /* CLOCK_MONOTONIC: last check */
	/* where the next check begins; NULL: at the first thread */
	_Atomic(struct thread *) next;
} watch;

void watch_reset_record(struct thread *t)
{
	atomic_store_explicit(&t->watch.cpu_given_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&t->watch.cpu_asked_ns, 0, memory_order_relaxed);
}

void watch_start(void)
{
	watch.delay_ns = WATCH_NS;
	if (process.has_cputime)
		ktimer_start(&watch.timer, CLOCK_MONOTONIC, RUNTIME_SIGNAL, (void *)&source_look,
			     WATCH_NS, 0);
}

void watch_stop(void)
{
	ktimer_stop(&watch.timer);
}

void watch_forked(void)
{
	watch.timer.armed = false;
	atomic_store_explicit(&watch.next, NULL, memory_order_relaxed);
}

/* If another thread gets the block meanwhile, it is asked without reason. That does no harm. */
static bool is_behind(struct thread *t)
{
	struct msr_thread *r = t->record;
	if (atomic_load_explicit(&t->state, memory_order_acquire) != THREAD_ALIVE || !r
	    || atomic_load_explicit(&t->off.is_off, memory_order_relaxed))
		return false;
	uint64_t cpu = clock_other_cpu_ns(t->tid);
	uint64_t known = r->cpu_start_ns +
			 atomic_load_explicit(&r->cpu_off_ns, memory_order_relaxed) +
			 atomic_load_explicit(&t->watch.cpu_given_ns, memory_order_relaxed);
	uint64_t asked = atomic_load_explicit(&t->watch.cpu_asked_ns, memory_order_relaxed);
	if (cpu < known + WATCH_BEHIND_NS || cpu < asked + WATCH_BEHIND_NS)
		return false;
	atomic_store_explicit(&t->watch.cpu_asked_ns, cpu, memory_order_relaxed);
	return true;
}

/* Returns the number of threads that were asked. */
static unsigned look_at_others(const struct thread *self)
{
	unsigned n = 0;
	struct thread *t = atomic_load_explicit(&watch.next, memory_order_relaxed);
	if (!t)
		t = thread_first();
	for (unsigned i = 0; t && i < WATCH_MOST; i++, t = t->next_made)
		if (t != self && is_behind(t)) {
			thread_ask(t);
			n++;
		}
	atomic_store_explicit(&watch.next, t, memory_order_relaxed);
	return n;
}

/* One of several threads wins. Relaxed, because it does not matter which. */
void watch_after_sample(const struct thread *t, uint64_t now_ns)
{
	uint64_t looked = atomic_load_explicit(&watch.looked_ns, memory_order_relaxed);
	if (now_ns >= looked + WATCH_NS && process.has_cputime &&
	    atomic_compare_exchange_strong_explicit(&watch.looked_ns, &looked, now_ns,
						    memory_order_relaxed, memory_order_relaxed))
		look_at_others(t);
}

void watch_expired(const struct thread *t, bool found)
{
	found = look_at_others(t) || found;
	watch.delay_ns = found ? WATCH_NS : 4 * watch.delay_ns;
	if (watch.timer.armed)
		ktimer_set(&watch.timer, watch.delay_ns, 0);
}
