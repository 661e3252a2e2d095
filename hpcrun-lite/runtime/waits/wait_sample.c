/* SPDX-License-Identifier: BSD-3-Clause */
/* See wait_sample.h. Must not wait or allocate. */
#include "hpcrun-lite/runtime/waits/wait_sample.h"

#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/waits/wait_object.h"

bool wait_sample_is_mark(const struct source_expiry *e)
{
	return e->weight == 0 && e->since_ns;
}

uint32_t wait_sample_last_node(const struct thread *t, const struct source_expiry *e)
{
	if (!e->is_again)
		return 0;
	return e->wait || wait_sample_is_mark(e)
		       ? atomic_load_explicit(&t->sample.wait_node, memory_order_relaxed)
		       : t->blame.node;
}

/* Times must not decrease, but a wait may have begun before the last record was written. */
static void trace_at(struct thread *t, uint32_t node, uint32_t metric, uint64_t when_ns)
{
	enum msr_loss cause;
	if (t->sample.traced_ns < when_ns)
		t->sample.traced_ns = when_ns;
	if (!cct_trace(t->cct, node, metric, t->sample.traced_ns, &cause))
		atomic_fetch_add_explicit(&t->record->losses[MSR_LOSS_TRACE], 1,
					  memory_order_relaxed);
}

void wait_sample_trace(struct thread *t, uint32_t node, const struct source_expiry *e,
		       uint64_t now_ns)
{
	if (!process.config.trace || e->is_untraced)
		return;
	trace_at(t, node, e->metric, e->since_ns && e->since_ns < now_ns ? e->since_ns : now_ns);
	if (e->wait == MSR_WAIT_RUN_QUEUE + 1)
		trace_at(t, node, e->metric, now_ns);
}

bool wait_sample_enter(struct thread *t, const struct source_expiry *e, uint32_t *node,
		       enum msr_loss *cause)
{
	const msr_addr wait = msr_addr_make(MSR_MODULE_NONE, MSR_WAIT + e->wait - 1u, false);
	if (!cct_child(t->cct, *node, wait, node, cause))
		return false;
	const uint32_t id = wait_object_of((enum source_object)e->object, e->object_id);
	return !id || cct_child(t->cct, *node,
				msr_addr_make(MSR_MODULE_NONE, MSR_WAIT_ON + id, false), node,
				cause);
}

bool wait_sample_is_more_of(const struct source_expiry *held, const struct source_expiry *e)
{
	if (held->metric != e->metric)
		return false;
	if (e->wait && e->is_again)
		return held->wait && held->wait != MSR_WAIT_RUN_QUEUE + 1;
	return held->wait == e->wait && held->object_id == e->object_id &&
	       (!e->wait || !held->is_again);
}

/* ---- for the hooks of waits ---- */

/* A thread that waits may not have had a sample yet. */
static void make_unwinder(struct thread *t)
{
	if (atomic_load_explicit(&t->in_handler, memory_order_relaxed) || t->sample.suspended)
		return;
	/* sequential consistency with `ending`, as in a sample */
	atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&process.ending, memory_order_seq_cst))
		thread_need_tree(t);
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
}

bool runtime_find_return(const ucontext_t *context, uintptr_t pc, uint64_t *sp)
{
	struct thread *t = thread_self;
	if (!t || !process_is_alive())
		return false;
	if (!t->unwind)
		make_unwinder(t);
	return t->unwind && unwind_find_return(t->unwind, context, pc, sp);
}

void runtime_wait_cut_short(const ucontext_t *context)
{
	const uintptr_t pc = machine_pc(context);
	uintptr_t lo, hi;
	/* a call of ours is made again: fallocate, when the file grows */
	module_own_range(&lo, &hi);
	if ((pc < lo || pc >= hi) && !unwind_is_go(pc))
		runtime_count_loss(MSR_LOSS_WAIT);
}
