/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads; see thread.h. Never calls malloc: a program may replace it, or be inside it. Test:
 * tests/cli/run/run_threads.sh.
 */
#include "hpcrun-lite/runtime/thread.h"

#include "common/safe/clock.h"
#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/glue/gpu_glue.h"
#include "hpcrun-lite/runtime/life/parts.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/sample/sample_entry.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/runtime/thread_record.h"
#include "hpcrun-lite/store/store.h"

#include <limits.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>

extern void *__libc_stack_end; /* set by the dynamic loader: where the first thread's stack began */

static pthread_key_t key; /* its destructor runs at the end of a thread */

static void on_thread_exit(void *value);

bool thread_start_process(const char **cause)
{
	static bool has_key;
	if (!has_key && pthread_key_create(&key, on_thread_exit) != 0) {
		*cause = "no thread-specific key is left";
		return false;
	}
	has_key = true;
	/* The tree comes after the small parts, so that a short thread touches one page of them. */
	const size_t at = (sizeof(struct thread) + 63) & ~(size_t)63;
	return thread_place_parts(thread_sources_place(at), cause);
}

/* ---- stack bounds ---- */

/*
 * The range may be too small but never too large. Memory inside it is read without a check, and
 * after the end of a stack there may be an unreadable page, or the stack of a coroutine.
 */
static void find_stack(struct unwind_stack *s, const struct thread_room *room, int tid)
{
	struct rlimit limit;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	if (tid != process.pid) {
		/*
		 * glibc keeps the thread's descriptor in the last page of its stack, even if the
		 * program provided the stack.
		 */
		s->hi = (uintptr_t)pthread_self();
		s->lo = room->lo ? room->lo : s->hi - room->n_bytes + 4096;
		s->grows = false;
		s->first = 0;
		if (here < s->lo || here >= s->hi) { /* unknown stack: use only the part in use */
			s->lo = here & ~(uintptr_t)4095;
			s->hi = s->hi > here ? s->hi : s->lo + 4096;
		}
		return;
	}
	s->hi = ((uintptr_t)__libc_stack_end + 4095) & ~(uintptr_t)4095;
	s->lo = 0;
	s->grows = true;
	s->first = (uintptr_t)__libc_stack_end;
	if (sys_call4(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < s->hi)
		s->lo = s->hi - limit.rlim_cur;
}

/* ---- begin ---- */

/* Resets the fields that belong to the record. A forked child begins a new record. */
static void reset_record(struct thread *t)
{
	EACH_PART(thread_reset, t);
	t->record = NULL;
}

/* Prepares a block in which the calling thread is measured from now on. */
static void reset(struct thread *t, bool is_main)
{
	t->is_main = t->watch.is_watcher = is_main;
	t->destructor_rounds = 0;
	sample_reset(t);
	thread_sources_reset(t);
	reset_record(t);
}

static void begin(bool is_main, const struct thread_room *room)
{
	if (thread_self) /* --attach has found the new thread before */
		return;
	struct thread *t = thread_take_block();
	if (!t) {
		store_count_loss(MSR_LOSS_THREAD_SETUP);
		return;
	}
	reset(t, is_main);
	const bool bus = file_fault_open();
	const bool is_recorded = thread_record_make(t, true);
	if (!is_recorded)
		store_count_loss(MSR_LOSS_THREAD_SETUP);
	file_fault_close(bus);
	if (!is_recorded) {
		thread_give_block(t);
		return;
	}
	find_stack(&t->stack, room, t->tid);
	EACH_PART(thread_begins, t, room);
	thread_self = t;
	sample_entry_begin(t);
	pthread_setspecific(key, t);
	thread_off_begin(t);
	thread_sources_start(t);
	/*
	 * Read the clocks again: no sample could arrive before, and many threads are hardly longer
	 * than our work.
	 */
	thread_record_start(t->record);
	sample_catch_up(t);
}

/* Blocks signals, because a jump out of begin() would leave a block that no thread has. */
void thread_begin(bool is_main, const struct thread_room *room)
{
	const uint64_t mask = quiet_begin();
	begin(is_main, room);
	quiet_end(mask);
}

/* Of a thread that is in a handler of ours: from its stack pointer to its descriptor. */
static void find_stack_in_use(struct thread *t, uintptr_t sp)
{
	t->stack = (struct unwind_stack){.lo = sp & ~(uintptr_t)4095,
					 .hi = (uintptr_t)pthread_self()};
	if (t->stack.hi <= sp) /* the stack is elsewhere */
		t->stack.hi = t->stack.lo + 4096;
}

/*
 * Does not set the key of a found thread's end: libc's function is not signal-safe, and another
 * libc than ours may have made the thread. One that joins may: libc keeps the values of the first
 * 32 keys in the thread's descriptor, so setting one of those takes no memory. Otherwise its end is
 * found as that of a found thread.
 */
void thread_found(const ucontext_t *context, bool joins)
{
	enum { KEYS_WITHOUT_MEMORY = 32 };
	struct thread *t = thread_take_block();
	if (t)
		reset(t, joins && sys_gettid() == process.pid);
	if (!t || !thread_record_make(t, false)) {
		if (joins) /* the other is asked again */
			store_count_loss(MSR_LOSS_THREAD_SETUP);
		if (t)
			thread_give_block(t);
		return;
	}
	t->record->flags = MSR_THREAD_FOUND;
	if (t->is_main)
		find_stack(&t->stack, &(const struct thread_room){0}, t->tid);
	else
		find_stack_in_use(t, machine_sp(context));
	EACH_PART(thread_begins, t, &(const struct thread_room){0});
	atomic_store_explicit(&t->in_handler, 1, memory_order_relaxed);
	thread_off_begin(t);
	thread_self = t;
	if (joins) {
		sample_entry_begin(t);
		if (key < KEYS_WITHOUT_MEMORY)
			pthread_setspecific(key, t);
	}
	thread_sources_start(t);
	atomic_store_explicit(&t->in_handler, 0, memory_order_relaxed);
}

bool runtime_thread_comes(void)
{
	process_check_fork();
	runtime_need_file();
	return process_is_alive() && !gpu_glue_hides_threads();
}

void runtime_thread_begins(const struct thread_room *room)
{
	if (__builtin_expect(thread_may_leave(), 0)) {
		uint64_t mask = signal_table_mask(SIG_BLOCK, 0);
		runtime_hooks.leave(&mask);
		signal_table_mask(SIG_SETMASK, mask);
	} else if (process_is_alive()) {
		thread_begin(false, room);
	}
}

/* ---- end ---- */

void thread_end(void)
{
	struct thread *t = thread_self;
	/* in a child that is not measured, the record is not mapped */
	if (!t || !process_is_alive())
		return;
	const uint64_t mask = quiet_begin();
	const bool bus = file_fault_open();
	/* before our own work, which is not sampled */
	const uint64_t cpu_ns = clock_thread_cpu_ns(), now_ns = clock_mono_ns();
	if (!thread_may_leave())
		sample_check_signal(mask);
	thread_sources_stop(t);
	runtime_hooks.thread_ends();
	sys_call3(SYS_prctl, PR_GET_NAME, (long)t->record->name, 0);
	thread_record_end(t, t->record, now_ns, cpu_ns);
	sample_entry_end(t);
	thread_self = NULL;
	EACH_PART(thread_ends, t);
	if (t->cct)
		cct_finish(t->cct);
	thread_record_count(t->record);
	t->record = NULL;
	thread_give_block(t);
	file_fault_close(bus);
	/* keep our signal blocked, or a switch of measurement would start the sources again */
	quiet_end(mask | signal_bit(RUNTIME_SIGNAL));
}

void runtime_thread_leaves(const char *why)
{
	if (!thread_self || !process_is_owner())
		return;
	runtime_note(why);
	thread_end();
}

void thread_reap(struct thread *t)
{
	struct msr_thread *r = t->record;
	const uint64_t n_switches =
		atomic_load_explicit(&r->use.event_switches, memory_order_relaxed);
	thread_sources_stop(t);
	/* stopping has added switches of the calling thread */
	atomic_store_explicit(&r->use.event_switches, n_switches, memory_order_relaxed);
	thread_record_end(t, r, clock_mono_ns(), 0);
	if (t->cct)
		cct_finish(t->cct);
	thread_record_count(r);
	t->record = NULL;
	thread_give_block(t);
}

/*
 * The destructor of a key runs up to PTHREAD_DESTRUCTOR_ITERATIONS times if it sets the key again.
 * We end in the last round, after the destructors of the program.
 */
static void on_thread_exit(void *value)
{
	struct thread *t = value;
	if (t != thread_self)
		return;
	if (++t->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(key, t);
	else
		thread_end();
}

bool thread_all_outside(void)
{
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (t != thread_self && atomic_load_explicit(&t->in_handler, memory_order_seq_cst))
			return false;
	return true;
}

/* ---- fork ---- */

/*
 * Forgets a thread of the parent. Its tree's extents belong to the parent; its memory is free for
 * other threads.
 */
static void forget(struct thread *t)
{
	if (t->cct)
		cct_forget(t->cct);
	t->record = NULL;
	atomic_store_explicit(&t->in_handler, 0, memory_order_relaxed);
	thread_give_block(t);
}

void thread_forget_all(void)
{
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (atomic_load_explicit(&t->state, memory_order_relaxed) == THREAD_ALIVE)
			forget(t);
}

void thread_forked(void)
{
	struct thread *self = thread_self;
	thread_record_forked();
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (t != self &&
		    atomic_load_explicit(&t->state, memory_order_relaxed) == THREAD_ALIVE)
			forget(t);
	if (!self) {
		thread_begin(true, &(struct thread_room){0});
		return;
	}
	thread_sources_forked(self);
	watch_forked();
	self->watch.is_watcher = true;
	if (self->cct)
		cct_forget(self->cct);
	self->cct = NULL; /* made at the first sample */
	reset_record(self);
	if (!thread_record_make(self, true)) {
		store_count_loss(MSR_LOSS_THREAD_SETUP);
		thread_self = NULL;
		thread_give_block(self);
		return;
	}
	thread_off_begin(self);
	thread_sources_start(self);
	thread_record_start(self->record); /* as in begin() */
	sample_catch_up(self);
}
