/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The signal handler and what it does with a sample. It never allocates, locks, waits, prints,
 * exits or changes errno. It blocks all signals, so that no handler of the program can interrupt it
 * and jump out of it. Tests: tests/cli/run/run_*.sh, tests/bench/bench_sample.c.
 */
#include "hpcrun-lite/runtime/sample/sample.h"

#include "common/safe/clock.h"
#include "common/safe/one_writer.h"
#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/code/unload.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample_entry.h"
#include "hpcrun-lite/runtime/sample/sample_internal.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/runtime/waits/blame.h"
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
 * Also clears in_handler: the previous thread of this block may have ended inside the tool, in a
 * handler of the program that interrupted it there.
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

void runtime_suspend(void)
{
	if (thread_self)
		thread_self->sample.suspended++;
	/* before the code that must not be interrupted */
	atomic_signal_fence(memory_order_seq_cst);
}

void runtime_resume(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (thread_self)
		thread_self->sample.suspended--;
}

static bool is_outside(struct thread *t)
{
	return atomic_load_explicit(&t->in_handler, memory_order_relaxed) == 0 &&
	       t->sample.suspended == 0 && t->held.n_holds == 0;
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

struct sample_cost sample_begin_call_cost(const struct thread *t, uint32_t *n_turns,
					  uint32_t every)
{
	struct sample_cost c = {.begin = sample_begin_cost(t, n_turns, every)};
	if (__builtin_expect(c.begin != 0, 0)) {
		c.mask = quiet_begin();
		c.begin = clock_thread_cpu_ns();
	}
	return c;
}

void sample_end_call_cost(const struct thread *t, struct sample_cost cost, uint32_t every)
{
	if (__builtin_expect(cost.begin == 0, 1))
		return;
	const uint64_t took = sample_end_cost(cost.begin, every);
	atomic_fetch_add_explicit(&t->record->handler_ns, took, memory_order_relaxed);
	quiet_end(cost.mask);
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
	one_writer_add(&t->record->handler_ns,
		       sample_end_cost(t->sample.cost_start_ns, COST_EVERY));
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
		return; /* held samples come first on the time line */
	atomic_store_explicit(&t->in_handler, 1, memory_order_seq_cst); /* as in enter() */
	if (!atomic_load_explicit(&process.ending, memory_order_seq_cst))
		thread_follow(t);
	atomic_store_explicit(&t->in_handler, 0, memory_order_release);
}

void sample_follow(struct thread *t)
{
	const uint64_t mask = signal_table_block_own();
	follow(t);
	signal_table_mask(SIG_SETMASK, mask);
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

/* ---- samples ---- */

static void take_from_source(const struct source_expiry *expiry, void *ucontext)
{
	struct thread *t = thread_self;
	if (!t || !process_is_alive())
		return;
	if (is_off()) { /* the source's handler still uses its state, so stop it later */
		thread_send(t);
		return;
	}
	sample_break_stale_hold(t, ucontext);
	if (!is_outside(t)) {
		if (t->held.n_holds && !t->sample.suspended) {
			sample_hold_back(t, expiry);
		} else {
			sample_count_busy(t);
			sample_carry(t, expiry->metric, expiry->weight);
		}
		return;
	}
	uint64_t now = clock_mono_ns();
	if (!enter(t))
		return;
	struct source_expiry copy = *expiry;
	sample_take(t, &copy, 1, ucontext, now);
	leave(t, now);
}

void sample_from_source(const struct source_expiry *expiry, void *ucontext)
{
	take_from_source(expiry, ucontext);
	runtime_hooks.restart_wait(ucontext);
}

static unsigned poll_sources(struct thread *t, siginfo_t *info, void *context,
			     struct source_expiry *expiry)
{
	unsigned n = 0;
	for (unsigned i = 0; i < process.n_sources; i++)
		if (process.source[i].ops->poll && t->sources.is_on[i])
			n += process.source[i].ops->poll(t->sources.state[i], info, context,
							 &expiry[n]);
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
	sample_break_stale_hold(t, context);
	if (is_outside(t)) {
		if (now < t->sample.rest_until_ns) {
			sample_count_busy(t);
		} else if (enter(t)) {
			unsigned n = poll_sources(t, info, context, expiry);
			if (n)
				sample_take(t, expiry, n, context, now);
			if (t->watch.is_watcher && source_is_look(info))
				watch_expired(t, n != 0);
			tell_sources(t);
			leave(t, now);
		}
	} else if (t->held.n_holds && !t->sample.suspended) {
		unsigned n = poll_sources(t, info, context, expiry);
		for (unsigned i = 0; i < n; i++)
			sample_hold_back(t, &expiry[i]);
		tell_sources(t);
	} else {
		/*
		 * Does not poll the sources: they keep what expired, and add its weight to the next
		 * sample.
		 */
		sample_count_busy(t);
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

#define OURS (UINT64_C(1) << (RUNTIME_SIGNAL - 1))

static bool blocks_ours(const ucontext_t *context)
{
	return *(const uint64_t *)&context->uc_sigmask & OURS;
}

struct arrival {
	struct thread *t;
	siginfo_t *info;
	void *context;
	bool is_sent;
};

static void handle(void *argument)
{
	const struct arrival *a = argument;
	if (__builtin_expect(atomic_load_explicit(&a->t->may_lose_code, memory_order_relaxed), 0)) {
		if (!a->is_sent)
			sample_count_busy(a->t);
	} else if (!is_passed_over(a->t, a->is_sent) && !a->is_sent)
		take_or_hold(a->t, a->info, a->context);
}

/*
 * Measurement ends before the process does, and the thread is not inside our code. Not on our own
 * stack, which goes with the thread's block.
 */
static void leave_for_good(struct thread *t, ucontext_t *context)
{
	if (is_outside(t))
		thread_leaves(t, context);
}

/* Returns false if the interrupted wait must end. */
static bool take_signal(int sig, siginfo_t *info, void *context, bool *is_ours)
{
	struct thread *t = thread_self;
	const bool is_sent = thread_sent(info);
	bool goes_on = true;
	const bool joins = __builtin_expect(thread_is_join(info), 0);
	*is_ours = is_sent || joins || thread_is_expiry(info);
	const bool bus = *is_ours && open_bus(context);
	if (!*is_ours) {
		runtime_foreign_signal_fn *fn =
			atomic_load_explicit(&foreign, memory_order_acquire);
		goes_on = !fn || fn(sig, info, context);
	} else if (joins) {
		thread_on_join(info, context);
	} else if (!process_is_alive()) {
		/* a child that does not own the store must not touch it */
		if (is_sent && thread_may_leave())
			thread_leaves(NULL, context);
	} else if (!t) {
		if (source_is_look(info))
			thread_found(context, false);
		else if (!is_off() && !is_sent)
			store_count_loss(MSR_LOSS_NO_THREAD);
	} else if (__builtin_expect(is_sent && thread_may_leave(), 0)) {
		leave_for_good(t, context);
	} else {
		struct arrival a = {t, info, context, is_sent};
		sample_entry_give_room(t, handle, &a);
	}
	file_fault_close(bus);
	return goes_on;
}

/*
 * Takes other pending signals, for a wait that unblocks our signal only while it lasts. A timer
 * that was set again in the handler may have left a signal that the kernel (since 6.13) drops when
 * it takes it. epoll_pwait would then end with EINTR although no handler runs. Not inlined, because
 * it needs stack and is rarely called.
 */
static __attribute__((noinline)) bool take_others(void *context)
{
	enum { MOST = 64 };
	const struct timespec zero = {0};
	const uint64_t set = OURS;
	siginfo_t info;
	bool goes_on = true, is_ours = true;
	for (int i = 0; i < MOST && is_ours; i++) {
		if (sys_call4(SYS_rt_sigtimedwait, (long)&set, (long)&info, (long)&zero,
			      sizeof set) != RUNTIME_SIGNAL)
			break;
		goes_on = take_signal(RUNTIME_SIGNAL, &info, context, &is_ours);
	}
	return goes_on;
}

/* Called by sample_entry.c, perhaps with little stack. What needs more stack is in handle(). */
void sample_on_signal(int sig, siginfo_t *info, void *context)
{
	const int saved_errno = errno;
	struct thread *t = thread_self;
	const bool is_blocked = blocks_ours(context);
	bool is_ours, goes_on = take_signal(sig, info, context, &is_ours);
	if (__builtin_expect(is_blocked && is_ours, 0))
		goes_on = take_others(context);
	if (goes_on)
		runtime_hooks.restart_wait(context);
	if (is_ours)
		unload_stay(t, context);
	errno = saved_errno;
}

/*
 * Uses a system call. A sigaction in front of libc's, such as ThreadSanitizer's, would call its own
 * handler before ours.
 */
bool sample_install(bool is_split)
{
	find_cpu_clock_cost();
	sample_entry_start(is_split);
	return signal_table_install(RUNTIME_SIGNAL, sample_entry,
				    SA_SIGINFO | SA_RESTART | SA_ONSTACK, ~BUS);
}

void sample_check_signal(uint64_t blocked)
{
	static _Atomic bool has_said;
	const bool is_replaced = !signal_table_calls(RUNTIME_SIGNAL, sample_entry);
	if ((!is_replaced && !(blocked & signal_bit(RUNTIME_SIGNAL))) || !process_is_alive() ||
	    atomic_exchange_explicit(&has_said, true, memory_order_relaxed))
		return;
	runtime_note(is_replaced ? "the program replaced the handler of SIGWINCH, the signal of "
				   "samples, by a system call of its own: samples since then are "
				   "missing"
				 : "the program blocked SIGWINCH, the signal of samples, by a "
				   "system call of its own: samples of that thread are missing");
}
