/* SPDX-License-Identifier: BSD-3-Clause */
/* See blame.h. Must not wait: the other thread may end at any time. */
#include "hpcrun-lite/runtime/waits/blame.h"

#include "hpcrun-lite/runtime/process.h"

static struct thread *find(int tid)
{
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (atomic_load_explicit(&t->tid, memory_order_relaxed) == tid &&
		    atomic_load_explicit(&t->state, memory_order_acquire) == THREAD_ALIVE)
			return t;
	return NULL;
}

void blame_reset_record(struct thread *t)
{
	atomic_store_explicit(&t->blame.waited_ns, 0, memory_order_relaxed);
	atomic_store_explicit(&t->blame.late_ns, 0, memory_order_relaxed);
	t->blame.node = 0;
}

/* The system call orders the addition before the other thread's handler. */
void blame_add(int tid, uint64_t ns, bool is_over)
{
	struct thread *t = find(tid);
	if (!t || t == thread_self || !ns)
		return;
	if (is_over)
		atomic_fetch_add_explicit(&t->blame.late_ns, ns, memory_order_relaxed);
	else if (atomic_fetch_add_explicit(&t->blame.waited_ns, ns, memory_order_relaxed) == 0 &&
		 !atomic_load_explicit(&process.ending, memory_order_relaxed))
		thread_blame(t);
}

static uint64_t take(_Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed)
		       ? atomic_exchange_explicit(word, 0, memory_order_relaxed)
		       : 0;
}

/* Time of released locks goes to the place of the last sample, or where the thread is now. */
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
	if (t->cct && t->blame.node && blame_take(t, &rest))
		cct_add(t->cct, t->blame.node, rest.metric, 0, rest.weight, &cause);
}
