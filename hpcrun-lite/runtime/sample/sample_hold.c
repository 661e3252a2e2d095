/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples that arrive while the thread is in our own code outside of the handler are held back, and
 * recorded when it leaves. Must notice when a handler of the program jumped out of that code. Test:
 * tests/unit/run/test_sample.c.
 */
#include "common/safe/clock.h"
#include "common/safe/one_writer.h"
#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample_internal.h"
#include "hpcrun-lite/runtime/waits/wait_sample.h"

#include <signal.h>
#include <sys/syscall.h>

/*
 * Detects that a signal handler of the program jumped out of code that holds samples back. A
 * handler on the same stack is deeper than that code by at least a signal frame (128 bytes of red
 * zone, registers, floating point state: more than 1000 bytes). Whatever runs inside the code is at
 * least as deep as its outermost frame.
 */
#define SIGNAL_FRAME_LEAST 768u
#define HOLD_FRAMES_MOST 4096u /* from the caller of the tool to sample_hold */

static bool is_on_stack(const struct thread *t, uintptr_t sp)
{
	return sp >= t->stack.lo && sp < t->stack.hi;
}

/*
 * An alternate signal stack may be inside a thread's stack, for instance in a frame of main.
 * Positions on it then prove nothing.
 */
static bool is_on_alternate_stack(uintptr_t sp)
{
	stack_t now;
	return sys_call3(SYS_sigaltstack, 0, (long)&now, 0) != 0 ||
	       (!(now.ss_flags & SS_DISABLE) && sp - (uintptr_t)now.ss_sp < now.ss_size);
}

/*
 * True if a thread at `sp` has left the code at `inside`. Up to `margin` bytes further out it may
 * still be in that code.
 */
static bool has_left(const struct thread *t, uintptr_t inside, uintptr_t sp, uintptr_t margin)
{
	return sp >= inside + margin && is_on_stack(t, sp) && is_on_stack(t, inside) &&
	       !is_on_alternate_stack(sp);
}

static bool hold_is_stale(const struct thread *t, uintptr_t sp, uintptr_t margin)
{
	return atomic_load_explicit(&t->in_handler, memory_order_relaxed) && t->held.n_holds &&
	       has_left(t, t->held.sp, sp, margin);
}

bool sample_begin_call(const struct thread *t, uintptr_t *sp, bool *is_stale)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	*is_stale = *sp && has_left(t, *sp, here, 0 - (uintptr_t)SIGNAL_FRAME_LEAST);
	if (*sp && !*is_stale)
		return false;
	*sp = here;
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static void break_hold(struct thread *t)
{
	t->held.n_holds = 0;
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
}

void sample_break_stale_hold(struct thread *t, const ucontext_t *context)
{
	const uintptr_t sp = machine_sp(context);
	if (hold_is_stale(t, sp, HOLD_FRAMES_MOST))
		break_hold(t);
}

void sample_hold_back(struct thread *t, const struct source_expiry *e)
{
	uint32_t n = atomic_load_explicit(&t->held.n, memory_order_relaxed);
	if (wait_sample_is_mark(e))
		return;
	for (uint32_t i = n; i-- > 0 && !t->held.is_recording;) /* the last wait continues */
		if (wait_sample_is_more_of(&t->held.expiry[i], e)) {
			t->held.expiry[i].weight += e->weight;
			t->held.expiry[i].n_merged += 1 + e->n_merged;
			return;
		}
	if (n == SAMPLE_MAX_HELD) {
		sample_count_busy(t);
		sample_carry(t, e->metric, e->weight);
		return;
	}
	t->held.expiry[n] = *e;
	/* relaxed: the reader is this thread */
	atomic_store_explicit(&t->held.n, n + 1, memory_order_relaxed);
}

static void record_one_held(struct thread *t, const struct source_expiry *e,
			    const struct sample_place *place, uint64_t now_ns)
{
	struct msr_thread *r = t->record;
	one_writer_add(&r->delivered, 1);
	sample_count_path(r, place->walked);
	const uint32_t last = wait_sample_last_node(t, e);
	if (last) {
		sample_record(t, last, e, now_ns);
	} else if (place->has_node) {
		sample_record(t, place->node, e, now_ns);
	} else {
		one_writer_add(&r->losses[place->cause], 1);
		sample_carry_if_busy(t, e, place->cause);
	}
}

/* More samples may be held back while this records, so it continues until there are none. */
static void record_held(struct thread *t, const struct sample_place *place)
{
	uint32_t done = 0, n = atomic_load_explicit(&t->held.n, memory_order_relaxed);
	if (!n)
		return;
	const uint64_t mask = quiet_begin(), now_ns = clock_mono_ns();
	t->held.is_recording = true;
	atomic_signal_fence(memory_order_seq_cst);
	do
		for (; done < n; done++)
			record_one_held(t, &t->held.expiry[done], place, now_ns);
	while (!atomic_compare_exchange_strong_explicit(&t->held.n, &n, 0, memory_order_relaxed,
							memory_order_relaxed));
	atomic_signal_fence(memory_order_seq_cst);
	t->held.is_recording = false;
	quiet_end(mask);
}

/*
 * Outside of the handler. Blocks signals, because a jump out of it would leave half a tree to the
 * block's next thread.
 */
static void make_tree_here(struct thread *t)
{
	const uint64_t mask = quiet_begin();
	thread_make_tree(t);
	quiet_end(mask);
}

enum sample_hold sample_hold(struct thread *t)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	if (hold_is_stale(t, sp, 0 - (uintptr_t)SIGNAL_FRAME_LEAST))
		break_hold(t);
	if (atomic_load_explicit(&t->in_handler, memory_order_relaxed))
		return SAMPLE_NESTED;
	t->held.sp = sp;
	t->held.n_holds++;
	/* As in enter(). */
	atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&process.ending, memory_order_seq_cst)) {
		if (__builtin_expect(!t->cct, 0))
			make_tree_here(t);
		return SAMPLE_HELD;
	}
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
	t->held.n_holds--;
	return SAMPLE_ENDED;
}

void sample_walk_here(struct thread *t, struct unwind_path *walked)
{
	struct unwind_regs regs;
	unwind_here(&regs);
	unwind_walk_regs(t->unwind, &regs, walked);
}

void sample_find_here(struct thread *t, struct unwind_path *walked, struct sample_place *place)
{
	const uint64_t mask = quiet_begin();
	sample_walk_here(t, walked);
	place->walked = walked;
	place->has_node = sample_insert(t, walked, 0, true, &place->node, &place->cause);
	quiet_end(mask);
}

void sample_release(struct thread *t, const struct sample_place *place)
{
	do {
		record_held(t, place);
		atomic_store_explicit(&t->in_handler, 0, memory_order_release);
		atomic_signal_fence(memory_order_seq_cst);
		t->held.n_holds--;
		atomic_signal_fence(memory_order_seq_cst);
		/* A sample that arrived in between must still be recorded. */
	} while (!t->held.n_holds && atomic_load_explicit(&t->held.n, memory_order_relaxed) &&
		 sample_hold(t) == SAMPLE_HELD);
	sample_catch_up(t);
}

void sample_keep(struct thread *t)
{
	t->held.n_holds++;
	atomic_signal_fence(memory_order_seq_cst);
}

void sample_unkeep(struct thread *t)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (t->held.n_holds)
		t->held.n_holds--;
	atomic_signal_fence(memory_order_seq_cst);
	if (t->held.n_holds || !atomic_load_explicit(&t->held.n, memory_order_relaxed) ||
	    sample_hold(t) != SAMPLE_HELD) {
		sample_catch_up(t);
		return;
	}
	struct unwind_path walked;
	struct sample_place place;
	sample_find_here(t, &walked, &place);
	sample_release(t, &place);
}

void sample_release_here(struct thread *t)
{
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
	sample_unkeep(t);
}

void sample_drop_held(struct thread *t)
{
	uint32_t n = atomic_exchange_explicit(&t->held.n, 0, memory_order_relaxed);
	one_writer_add(&t->record->delivered, n);
	one_writer_add(&t->record->losses[MSR_LOSS_BUSY], n);
}
