/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signal handler and what it does with a sample. It never allocates, locks, waits, prints,
 * exits or changes errno. It blocks all signals, so that no handler of the program can interrupt it
 * and jump out of it. Tests: tests/cli/run/run_*.sh, tests/bench/bench_sample.c.
 */
#include "hpcrun-lite/runtime/sample.h"

#include "common/safe/clock.h"
#include "common/safe/patience.h"
#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/code/jit_code.h"
#include "hpcrun-lite/runtime/nvtx/nvtx_glue.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/runtime/waits/wait_sample.h"
#include "hpcrun-lite/runtime/watch.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static _Atomic(runtime_foreign_signal_fn *) foreign;

void runtime_on_foreign_signal(runtime_foreign_signal_fn *fn)
{
	atomic_store_explicit(&foreign, fn, memory_order_release);
}

/*
 * The thread that had the block before may have ended inside the tool, by a handler of the program
 * that interrupted it there.
 */
void sample_reset(struct thread *t)
{
	atomic_store_explicit(&t->in_handler, 0, memory_order_relaxed);
	t->sample = (struct sample_thread){0};
	t->held.n_holds = 0;
	t->held.is_recording = false;
}

void sample_reset_record(struct thread *t)
{
	memset(t->sample.carried, 0, sizeof t->sample.carried);
	atomic_store_explicit(&t->sample.wait_node, 0, memory_order_relaxed);
	atomic_store_explicit(&t->sample.offcpu_given_ns, 0, memory_order_relaxed);
	t->sample.traced_ns = 0;
	atomic_store_explicit(&t->held.n, 0, memory_order_relaxed);
}

/* The thread itself is the only writer, so plain additions of whole words are enough. */
static inline void add(_Atomic uint64_t *word, uint64_t n)
{
	atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* Adds the weight of a sample that was lost as busy to the next sample of its metric. */
static void carry(struct thread *t, uint32_t metric, uint64_t weight)
{
	if (weight)
		atomic_fetch_add_explicit(&t->sample.carried[metric], weight, memory_order_relaxed);
}

/* The path of a sample could not be stored. Its loss has been counted. */
static void carry_if_busy(struct thread *t, const struct source_expiry *e, enum msr_loss cause)
{
	if (cause == MSR_LOSS_BUSY && !e->wait)
		carry(t, e->metric, e->weight);
}

static void record(struct thread *t, uint32_t node, const struct source_expiry *e, uint64_t now_ns)
{
	struct msr_thread *r = t->record;
	enum msr_loss cause;
	if (e->wait && !e->is_again && !wait_sample_enter(t, e, &node, &cause)) {
		add(&r->losses[cause], 1);
		atomic_store_explicit(&t->sample.wait_node, 0, memory_order_relaxed);
		return;
	}
	if (process.has_offcpu && e->metric == process.blame_metric)
		t->blame.node = node;
	if (e->wait && e->wait - 1 != MSR_WAIT_RUN_QUEUE)
		atomic_store_explicit(&t->sample.wait_node, node, memory_order_relaxed);
	/* An exchange, because the handler may interrupt. Relaxed, because it is one thread. */
	const uint64_t carried = atomic_exchange_explicit(&t->sample.carried[e->metric], 0,
							  memory_order_relaxed),
		       weight = e->weight + carried;
	if (!cct_add(t->cct, node, e->metric, 1, weight, &cause)) {
		add(&r->losses[cause], 1);
		carry(t, e->metric, cause == MSR_LOSS_BUSY && !e->wait ? weight : carried);
		return;
	}
	add(&r->recorded, 1);
	if (process.is_cputime[e->metric])
		add(&t->watch.cpu_given_ns, weight);
	else if (e->wait)
		add(&t->sample.offcpu_given_ns, weight);
	if (e->n_merged)
		add(&r->losses[MSR_LOSS_COALESCED], e->n_merged);
	wait_sample_trace(t, node, e, now_ns);
}

/* The ends of walks are written as they are. */
_Static_assert((int)UNWIND_ROOT == (int)MSR_END_ROOT && (int)UNWIND_NO_CFI == (int)MSR_END_NO_CFI &&
		       (int)UNWIND_NO_MODULE == (int)MSR_END_NO_MODULE &&
		       (int)UNWIND_UNREADABLE == (int)MSR_END_UNREADABLE &&
		       (int)UNWIND_BAD_CFI == (int)MSR_END_BAD_CFI &&
		       (int)UNWIND_LOOP == (int)MSR_END_NO_PROGRESS &&
		       (int)UNWIND_DEEP == (int)MSR_END_TOO_DEEP &&
		       (int)UNWIND_THROWING == (int)MSR_END_THROWING &&
		       (int)UNWIND_N_ENDS == (int)MSR_END_GUESSED,
	       "enum unwind_end is enum msr_path_end");

/* A thread that called us waits, for a bounded time, while another makes the file grow. */
static bool insert(struct thread *t, const struct cct_path *path, bool at_call, uint32_t *node,
		   enum msr_loss *cause)
{
	struct patience patience = {0};
	bool ok;
	while (!(ok = cct_insert(t->cct, path, node, cause) &&
		      nvtx_glue_enter(&t->nvtx, t->cct, node, cause)) &&
	       at_call && *cause == MSR_LOSS_BUSY && patience_wait(&patience))
		continue;
	return ok;
}

bool sample_insert(struct thread *t, struct unwind_path *walked, uint32_t n_inner, bool at_call,
		   uint32_t *node, enum msr_loss *cause)
{
	struct python_path spliced;
	struct region_plan plan;
	const bool is_planned = region_path_plan(&t->regions, t->unwind, walked, &plan);
	const struct python_cuts cuts = {plan.cut, is_planned ? 2 * plan.n_pieces : 0};
	python_splice(t->python, t->unwind, walked, n_inner, at_call, is_planned ? &cuts : NULL,
		      NULL, &spliced);
	/* what is new in the path */
	jit_look_at(spliced.addr,
		    spliced.n - (spliced.n_same < spliced.n ? spliced.n_same : spliced.n));
	struct region_path joined = {.addr = spliced.addr,
				     .n = spliced.n,
				     .n_same = spliced.n_same,
				     .end = spliced.end,
				     .heuristic = walked->heuristic,
				     .broken = spliced.broken};
	region_path_make(&t->regions, is_planned ? &plan : NULL, &joined);
	if (joined.broken)
		add(&t->record->losses[MSR_LOSS_PYTHON], 1);
	if (joined.is_lost)
		add(&t->record->losses[MSR_LOSS_OMP_PATHS], 1);
	walked->end = joined.end;
	walked->heuristic = joined.heuristic;
	const struct cct_path path = {.addr = joined.addr,
				      .n = joined.n,
				      .n_same = joined.n_same,
				      .end = (enum msr_path_end)joined.end,
				      .has_synthetic = joined.is_joined,
				      .entry = joined.is_idle   ? MSR_ENTRY_OMP_IDLE
					       : joined.is_main ? MSR_ENTRY_MAIN
								: MSR_ENTRY_THREAD};
	return insert(t, &path, at_call, node, cause);
}

void runtime_suspend(void)
{
	if (thread_self)
		thread_self->sample.suspended++;
	atomic_signal_fence(memory_order_seq_cst); /* before what must not be interrupted */
}

void runtime_resume(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (thread_self)
		thread_self->sample.suspended--;
}

/* A path is complete if it reaches the root without a guess. */
static void count_path(struct msr_thread *r, const struct unwind_path *walked)
{
	const bool is_guessed = walked->heuristic && walked->end == UNWIND_ROOT;
	add(&r->n_frames, walked->n);
	add(&r->path_ends[is_guessed ? (unsigned)MSR_END_GUESSED : (unsigned)walked->end], 1);
	if (walked->heuristic)
		add(&r->n_marked, 1);
}

/*
 * Records samples of the thread's last wait. Moves the others, which need the path of this place,
 * to the front, and returns their number.
 */
static unsigned record_again(struct thread *t, struct source_expiry *expiry, unsigned n,
			     uint64_t now_ns)
{
	unsigned n_here = 0;
	for (unsigned i = 0; i < n; i++) {
		const uint32_t node = wait_sample_last_node(t, &expiry[i]);
		if (!node) {
			expiry[n_here] = expiry[i];
			expiry[n_here++].is_again = false;
		} else if (wait_sample_is_mark(&expiry[i])) {
			wait_sample_trace(t, node, &expiry[i], now_ns);
		} else {
			record(t, node, &expiry[i], now_ns);
		}
	}
	return n_here;
}

/* Records samples of n metrics at one place. */
static void take(struct thread *t, struct source_expiry *expiry, unsigned n,
		 const ucontext_t *context, uint64_t now_ns)
{
	struct msr_thread *r = t->record;
	struct unwind_path walked;
	enum msr_loss cause;
	uint32_t node;
	unsigned n_samples = 0;
	for (unsigned i = 0; i < n; i++)
		n_samples += !wait_sample_is_mark(&expiry[i]);
	add(&r->delivered, n_samples);
	thread_need_tree(t);
	n = record_again(t, expiry, n, now_ns);
	n_samples = 0;
	for (unsigned i = 0; i < n; i++)
		n_samples += !wait_sample_is_mark(&expiry[i]);
	if (n == 0 || (n_samples == 0 && !process.config.trace))
		return;
	unwind_walk(t->unwind, context, &walked);
	const bool is_inserted = sample_insert(t, &walked, 0, false, &node, &cause);
	count_path(r, &walked);
	if (!is_inserted) {
		add(&r->losses[cause], n_samples);
		for (unsigned i = 0; i < n; i++)
			carry_if_busy(t, &expiry[i], cause);
		atomic_store_explicit(&t->sample.wait_node, 0, memory_order_relaxed);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (wait_sample_is_mark(&expiry[i]))
			wait_sample_trace(t, node, &expiry[i], now_ns);
		else
			record(t, node, &expiry[i], now_ns);
}

static bool is_outside(struct thread *t)
{
	return atomic_load_explicit(&t->in_handler, memory_order_relaxed) == 0 &&
	       t->sample.suspended == 0 && t->held.n_holds == 0;
}

static void count_busy(struct thread *t)
{
	add(&t->record->delivered, 1);
	add(&t->record->losses[MSR_LOSS_BUSY], 1);
}

/*
 * The cost of handlers is measured on every 16th sample and counted 16 times. It uses the thread's
 * CPU clock, minus the cost of reading that clock; a wall clock would include the time in which a
 * handler is preempted. The thread's number shifts the turn, so that the first sample, which is
 * expensive, is neither always nor never measured.
 */
#define COST_EVERY 16u

static uint64_t cpu_clock_cost_ns;

static void find_cpu_clock_cost(void)
{
	cpu_clock_cost_ns = UINT64_MAX;
	for (int i = 0; i < 8; i++) {
		uint64_t start = clock_thread_cpu_ns(), took = clock_thread_cpu_ns() - start;
		cpu_clock_cost_ns = took < cpu_clock_cost_ns ? took : cpu_clock_cost_ns;
	}
}

uint64_t sample_begin_cost(const struct thread *t, uint32_t *n_turns, uint32_t every)
{
	return (((*n_turns)++ ^ t->record->tid) & (every - 1)) == 0 ? clock_thread_cpu_ns() : 0;
}

uint64_t sample_end_cost(uint64_t begin, uint32_t every)
{
	uint64_t took = begin ? clock_thread_cpu_ns() - begin : 0;
	return took > cpu_clock_cost_ns ? (took - cpu_clock_cost_ns) * every : 0;
}

/* Sequential consistency with `ending`: either we see the end, or the end sees us. */
static bool enter(struct thread *t)
{
	atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst);
	if (!atomic_load_explicit(&process.ending, memory_order_seq_cst)) {
		t->sample.cost_start_ns = sample_begin_cost(t, &t->sample.n_handled, COST_EVERY);
		return true;
	}
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
	return false;
}

/*
 * If several samples in a row each took long, and longer than the program ran before them, a pause
 * of the same length follows. Otherwise a period shorter than the cost of a sample (a slow machine,
 * walks around a dlclose) would leave the program no time at all. On the wall clock a preempted
 * handler takes long too, hence the number of samples and the limit.
 */
#define LONG_NS 20000u
#define LONG_IN_A_ROW 4u
#define REST_MAX_NS 500000u

static void leave(struct thread *t, uint64_t start_ns)
{
	struct sample_thread *s = &t->sample;
	uint64_t now = clock_mono_ns(), took = now - start_ns;
	s->n_long = took > LONG_NS && start_ns - s->left_ns < took ? s->n_long + 1 : 0;
	s->rest_until_ns =
		s->n_long >= LONG_IN_A_ROW ? now + (took < REST_MAX_NS ? took : REST_MAX_NS) : 0;
	s->left_ns = now;
	watch_after_sample(t, now);
	region_sums_write(&t->regions, t->record);
	add(&t->record->handler_ns, sample_end_cost(t->sample.cost_start_ns, COST_EVERY));
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
}

/* ---- measurement off and on ---- */

static inline bool is_off(void)
{
	return atomic_load_explicit(&process.off, memory_order_relaxed);
}

/* Called in the handler, or with its signal blocked. */
static void follow(struct thread *t)
{
	if (atomic_load_explicit(&t->in_handler, memory_order_relaxed) || t->sample.suspended ||
	    atomic_load_explicit(&t->held.n, memory_order_relaxed))
		return; /* what is held back comes first on the time line */
	atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst); /* as in enter() */
	if (!atomic_load_explicit(&process.ending, memory_order_seq_cst))
		thread_follow(t);
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
}

void sample_follow(struct thread *t)
{
	uint64_t set = UINT64_C(1) << (RUNTIME_SIGNAL - 1), old = 0;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&old, sizeof set);
	follow(t);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old);
}

void sample_catch_up(struct thread *t)
{
	bool was_off = atomic_load_explicit(&t->off.is_off, memory_order_relaxed);
	if (__builtin_expect(is_off() != was_off, 0))
		sample_follow(t);
}

/* Called in the handler. Returns true if nothing must be recorded. */
static bool is_passed_over(struct thread *t, bool is_sent)
{
	bool off = is_off(), was_off = atomic_load_explicit(&t->off.is_off, memory_order_relaxed);
	if (__builtin_expect(off != was_off || (off && (is_sent || thread_is_armed(t))), 0))
		follow(t);
	return off;
}

/* ---- samples held back ---- */

/*
 * Detects that a signal handler of the program jumped out of code that holds samples back. A
 * handler on the same stack is deeper than that code by at least a signal frame (128 bytes of red
 * zone, registers, floating point state: more than 1000 bytes). What runs inside the code is not
 * further out than its outermost frame.
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

/* `margin`: this far out, the code that holds samples back may still be running. */
static bool hold_is_stale(const struct thread *t, uintptr_t sp, uintptr_t margin)
{
	return atomic_load_explicit(&t->in_handler, memory_order_relaxed) && t->held.n_holds &&
	       sp >= t->held.sp + margin && is_on_stack(t, sp) && is_on_stack(t, t->held.sp) &&
	       !is_on_alternate_stack(sp);
}

static void break_hold(struct thread *t)
{
	t->held.n_holds = 0;
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
}

static uintptr_t stack_of(const ucontext_t *context)
{
	return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/*
 * Called in the handler. Only the first sample of a metric, or wait, is kept as a sample; the
 * weights of later ones are added to it. While held samples are being recorded, none is changed.
 */
static void hold_back(struct thread *t, const struct source_expiry *e)
{
	uint32_t n = atomic_load_explicit(&t->held.n, memory_order_relaxed);
	if (wait_sample_is_mark(e))
		return;
	for (uint32_t i = n; i-- > 0 && !t->held.is_recording;) /* the last wait goes on */
		if (wait_sample_is_more_of(&t->held.expiry[i], e)) {
			t->held.expiry[i].weight += e->weight;
			t->held.expiry[i].n_merged += 1 + e->n_merged;
			return;
		}
	if (n == SAMPLE_MAX_HELD) {
		count_busy(t);
		carry(t, e->metric, e->weight);
		return;
	}
	t->held.expiry[n] = *e;
	/* the reader is this thread */
	atomic_store_explicit(&t->held.n, n + 1, memory_order_relaxed);
}

static void record_one_held(struct thread *t, const struct source_expiry *e,
			    const struct sample_place *place, uint64_t now_ns)
{
	struct msr_thread *r = t->record;
	add(&r->delivered, 1);
	count_path(r, place->walked);
	const uint32_t last = wait_sample_last_node(t, e);
	if (last) {
		record(t, last, e, now_ns);
	} else if (place->has_node) {
		record(t, place->node, e, now_ns);
	} else {
		add(&r->losses[place->cause], 1);
		carry_if_busy(t, e, place->cause);
	}
}

/* More samples may be held back while this records; it ends when there is none. */
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

/* Outside of the handler. A jump out of it would leave half a tree to the block's next thread. */
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
	add(&t->record->delivered, n);
	add(&t->record->losses[MSR_LOSS_BUSY], n);
}

/* ---- samples ---- */

static void take_from_source(const struct source_expiry *expiry, void *ucontext)
{
	struct thread *t = thread_self;
	if (!t || !process_is_alive())
		return;
	if (is_off()) { /* the source's handler goes on with it when we are back */
		thread_send(t);
		return;
	}
	if (hold_is_stale(t, stack_of(ucontext), HOLD_FRAMES_MOST))
		break_hold(t);
	if (!is_outside(t)) {
		if (t->held.n_holds && !t->sample.suspended) {
			hold_back(t, expiry);
		} else {
			count_busy(t);
			carry(t, expiry->metric, expiry->weight);
		}
		return;
	}
	uint64_t now = clock_mono_ns();
	if (!enter(t))
		return;
	struct source_expiry copy = *expiry;
	take(t, &copy, 1, ucontext, now);
	leave(t, now);
}

void sample_from_source(const struct source_expiry *expiry, void *ucontext)
{
	take_from_source(expiry, ucontext);
	runtime_hooks.restart_wait(ucontext);
}

/* Kernel timers and descriptors send these codes; kill and sigqueue never do. */
static bool may_be_ours(const siginfo_t *info)
{
	return info->si_code > 0 || info->si_code == SI_TIMER;
}

static unsigned poll_sources(struct thread *t, siginfo_t *info, void *context,
			     struct source_expiry *expiry)
{
	unsigned n = 0;
	bool ours = may_be_ours(info);
	for (unsigned i = 0; i < process.n_sources; i++)
		if (process.source[i].ops->poll && t->sources.is_on[i])
			n += process.source[i].ops->poll(t->sources.state[i], info, context,
							 &expiry[n], &ours);
	return blame_take(t, &expiry[n]) ? n + 1 : n;
}

static void tell_sources(struct thread *t)
{
	for (unsigned i = 0; i < process.n_sources; i++)
		if (process.source[i].ops->thread_handled && t->sources.is_on[i])
			process.source[i].ops->thread_handled(t->sources.state[i]);
}

static void take_or_hold(struct thread *t, siginfo_t *info, void *context)
{
	struct source_expiry expiry[MSR_MAX_METRICS + SOURCE_OFFCPU_MOST];
	uint64_t now = clock_mono_ns();
	if (hold_is_stale(t, stack_of(context), HOLD_FRAMES_MOST))
		break_hold(t);
	if (is_outside(t)) {
		if (now < t->sample.rest_until_ns) {
			count_busy(t);
		} else if (enter(t)) {
			unsigned n = poll_sources(t, info, context, expiry);
			if (n)
				take(t, expiry, n, context, now);
			if (t->watch.is_watcher && source_is_look(info))
				watch_expired(t, n != 0);
			tell_sources(t);
			leave(t, now);
		}
	} else if (t->held.n_holds && !t->sample.suspended) {
		unsigned n = poll_sources(t, info, context, expiry);
		for (unsigned i = 0; i < n; i++)
			hold_back(t, &expiry[i]);
		tell_sources(t);
	} else {
		/*
		 * The sources are not asked: what expired stays with them and adds its weight to
		 * the next sample.
		 */
		count_busy(t);
	}
}

/*
 * The only signal that can interrupt the handler: raised by a write past the end of a file that
 * another process truncated. See hook_signal_bus.c.
 */
#define BUS (UINT64_C(1) << (SIGBUS - 1))

static bool open_bus(const ucontext_t *context)
{
	return __builtin_expect(*(const uint64_t *)&context->uc_sigmask & BUS, 0)
		&& file_fault_open();
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	struct thread *t = thread_self;
	bool is_sent = thread_sent(info), is_ours = is_sent || may_be_ours(info);
	const bool bus = is_ours && open_bus(context);
	if (!is_ours) {
		runtime_foreign_signal_fn *fn =
			atomic_load_explicit(&foreign, memory_order_acquire);
		if (fn)
			fn(sig, info, context);
	} else if (!process_is_alive()) {
		/* a child that does not own the store: nothing of it may be touched */
	} else if (!t) {
		if (!is_off() && !is_sent)
			store_count_loss(MSR_LOSS_NO_THREAD);
	} else if (!is_passed_over(t, is_sent) && !is_sent) {
		take_or_hold(t, info, context);
	}
	file_fault_close(bus);
	if (is_ours)
		runtime_hooks.restart_wait(context);
	errno = saved_errno;
}

/*
 * Uses a system call. A sigaction in front of libc's, such as ThreadSanitizer's, would call its own
 * handler before ours.
 */
bool sample_install(void)
{
	find_cpu_clock_cost();
	return signal_table_install(RUNTIME_SIGNAL, on_signal, SA_SIGINFO | SA_RESTART | SA_ONSTACK,
				    ~BUS);
}
