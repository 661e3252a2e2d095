/* SPDX-License-Identifier: BSD-3-Clause */
/* See blame.h. Must not wait: the other thread may end at any time. */
#include "hpcrun-lite/runtime/waits/blame.h"

#include "common/safe/clock.h"
#include "common/safe/one_writer.h"
#include "hpcrun-lite/runtime/process.h"

/* The holder of a lock gets at most one signal in this time, however many threads wait. */
#define SEND_EVERY_NS 2000000u

/*
 * The threads that were blamed last, because the list of all threads is long if many wait. Blocks
 * of threads are never freed.
 */
#define N_KNOWN 64u
static _Atomic(struct thread *) known[N_KNOWN];

static bool is_alive(const struct thread *t, int tid)
{
	return atomic_load_explicit(&t->tid, memory_order_relaxed) == tid &&
	       atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE;
}

static struct thread *find(int tid)
{
	_Atomic(struct thread *) *place = &known[(unsigned)tid % N_KNOWN];
	struct thread *t = atomic_load_explicit(place, memory_order_acquire);
	if (t && is_alive(t, tid))
		return t;
	for (t = thread_first(); t; t = t->next_made)
		if (is_alive(t, tid)) {
			atomic_store_explicit(place, t, memory_order_release);
			return t;
		}
	return NULL;
}

void blame_reset_record(struct thread *t)
{
	atomic_store_explicit(&t->blame.waited_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&t->blame.late_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&t->blame.sent_ns, 0, memory_order_relaxed);
	t->blame.node = 0;
}

/* If several waiters find it due, only one gets true. */
static bool is_due(struct blame_thread *b)
{
	const uint64_t now = clock_mono_ns();
	uint64_t sent = atomic_load_explicit(&b->sent_ns, memory_order_relaxed);
	return now - sent >= SEND_EVERY_NS &&
	       atomic_compare_exchange_strong_explicit(&b->sent_ns, &sent, now,
						       memory_order_relaxed, memory_order_relaxed);
}

/*
 * The system call orders the addition before the other thread's handler. If no signal is sent, the
 * holder's next sample of any event takes the time.
 */
bool blame_add(int tid, uint64_t ns, bool is_over)
{
	struct thread *t = find(tid);
	if (!t || t == thread_self || !ns)
		return false;
	atomic_fetch_add_explicit(is_over ? &t->blame.late_ns : &t->blame.waited_ns, ns,
				  memory_order_relaxed);
	if (is_over || atomic_load_explicit(&process.ending, memory_order_relaxed) ||
	    !is_due(&t->blame))
		return false;
	thread_blame(t);
	return true;
}

static uint64_t take(_Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed)
		       ? atomic_exchange_explicit(word, 0, memory_order_relaxed)
		       : 0;
}

/*
 * If only released locks are left, their time belongs to the node of the last sample of BLAME; else
 * all of it belongs to where the thread is now.
 */
bool blame_take(struct thread *t, struct source_expiry *expiry)
{
	const uint64_t late = take(&t->blame.late_ns), waited = take(&t->blame.waited_ns);
	*expiry = (struct source_expiry){.metric = process.blame_metric,
					 .weight = late + waited,
					 .is_again = waited == 0};
	return expiry->weight != 0;
}

void blame_end(struct thread *t)
{
	struct source_expiry rest;
	enum msr_loss cause;
	if (!blame_take(t, &rest))
		return;
	if (!t->cct || !t->blame.node ||
	    !cct_add(t->cct, t->blame.node, rest.metric, 0, rest.weight, &cause))
		one_writer_add(&t->record->losses[MSR_LOSS_BLAME], 1);
}
