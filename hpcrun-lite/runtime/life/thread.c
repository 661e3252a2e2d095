/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads; see thread.h. Never calls malloc: a program may replace it, or be inside it. Test:
 * tests/cli/run/run_threads.sh.
 */
#include "hpcrun-lite/runtime/thread.h"

#include "common/safe/clock.h"
#include "common/safe/forked.h"
#include "common/safe/patience.h"
#include "common/safe/quiet.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/file_fault.h"
#include "hpcrun-lite/runtime/glue/gpu_glue.h"
#include "hpcrun-lite/runtime/life/parts.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/sample/sample_entry.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

extern void *__libc_stack_end; /* of the dynamic loader: where the first thread's stack began */

static struct {
	pthread_key_t key;         /* its destructor runs at the end of a thread */
	_Atomic uint32_t n_numbers; /* threads numbered in the file */
	/* struct thread_totals of ended threads */
	_Atomic uint64_t ended[sizeof(struct thread_totals) / sizeof(uint64_t)];
} threads WRITTEN_BY_FORKED;

static void on_thread_exit(void *value);

bool thread_start_process(const char **cause)
{
	if (pthread_key_create(&threads.key, on_thread_exit) != 0) {
		*cause = "no thread-specific key is left";
		return false;
	}
	/* The tree comes after the small parts, so that a short thread touches one page of them. */
	const size_t at = (sizeof(struct thread) + 63) & ~(size_t)63;
	return thread_place_parts(thread_sources_place(at), cause);
}

/* ---- stack bounds ---- */

/*
 * The range may be too small but never too large. Memory inside it is read without a check, and the
 * next page after a stack may be unreadable, with the stack of a coroutine after it.
 */
static void find_stack(struct unwind_stack *s, const struct thread_room *room, int tid)
{
	struct rlimit limit;
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	if (tid != process.pid) {
		/*
		 * glibc keeps the thread's descriptor in the last page of its stack, also if the
		 * program provided the stack.
		 */
		s->hi = (uintptr_t)pthread_self();
		s->lo = room->lo ? room->lo : s->hi - room->n_bytes + 4096;
		s->grows = false;
		s->first = 0;
		if (here < s->lo || here >= s->hi) { /* not known: take what is in use */
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

/*
 * Without its record a thread is not measured at all. So it waits, for a bounded time, while
 * another thread makes the file grow. No sample can interrupt it yet.
 */
static struct msr_extent *make_extent(const struct store_request *request, bool may_wait)
{
	struct patience patience = {0};
	struct msr_extent *e;
	enum msr_loss cause;
	while (!(e = store_extent(request, &cause)) && may_wait && cause == MSR_LOSS_BUSY &&
	       patience_wait(&patience))
		continue;
	return e;
}

static void start_clocks(struct msr_thread *r)
{
	r->start_ns = clock_mono_ns();
	r->cpu_start_ns = clock_thread_cpu_ns();
}

static bool make_record(struct thread *t, bool may_wait)
{
	uint32_t number = atomic_fetch_add_explicit(&threads.n_numbers, 1, memory_order_relaxed);
	const struct store_request request = {
		.kind = MSR_THREAD,
		.record_bytes = sizeof(struct msr_thread),
		.thread = number,
		.n_bytes = sizeof(struct msr_extent) + sizeof(struct msr_thread),
	};
	struct msr_extent *e = make_extent(&request, may_wait);
	if (!e)
		return false;
	struct msr_thread *r = (struct msr_thread *)(e + 1);
	r->number = number;
	r->tid = (uint32_t)sys_gettid();
	if (number == 0)
		store_header()->cpu_start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	start_clocks(r);
	atomic_store_explicit(&e->used, sizeof *r, memory_order_release);
	t->record = r;
	t->tid = (int)r->tid;
	return true;
}

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
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
	struct thread *t = thread_take_block();
	if (!t) {
		store_count_loss(MSR_LOSS_THREAD_SETUP);
		return;
	}
	reset(t, is_main);
	const bool bus = file_fault_open();
	const bool is_recorded = make_record(t, true);
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
	pthread_setspecific(threads.key, t);
	thread_off_begin(t);
	thread_sources_start(t);
	/* Again: no sample could come before, and many threads are hardly longer than our work. */
	start_clocks(t->record);
	sample_catch_up(t);
}

/* A jump out of it would leave a block that no thread has. */
void thread_begin(bool is_main, const struct thread_room *room)
{
	const uint64_t mask = quiet_begin();
	begin(is_main, room);
	quiet_end(mask);
}

/*
 * Its key for the end stays unset: libc's function is not signal-safe, and another libc than ours
 * may have made the thread.
 */
void thread_found(const ucontext_t *context)
{
	const uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
	struct thread *t = thread_take_block();
	if (!t)
		return;
	reset(t, false);
	if (!make_record(t, false)) {
		thread_give_block(t);
		return;
	}
	t->record->flags = MSR_THREAD_FOUND;
	t->stack = (struct unwind_stack){.lo = sp & ~(uintptr_t)4095,
					 .hi = (uintptr_t)pthread_self()};
	if (t->stack.hi <= sp) /* a stack elsewhere */
		t->stack.hi = t->stack.lo + 4096;
	EACH_PART(thread_begins, t, &(const struct thread_room){0});
	atomic_store_explicit(&t->in_handler, 1, memory_order_relaxed);
	thread_off_begin(t);
	thread_self = t;
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
	if (process_is_alive())
		thread_begin(false, room);
}

/* ---- end ---- */

/* The time off the processor that no sample has; it belongs to the wait that was found last. */
static void stamp_offcpu(const struct thread *t, struct msr_thread *r, uint64_t now_ns,
			 uint64_t cpu_ns)
{
	const uint64_t wall_off = thread_off_wall_ns(t, now_ns),
		       elapsed = now_ns - r->start_ns - wall_off,
		       given = get(&t->sample.offcpu_given_ns),
		       used = cpu_ns ? cpu_ns - r->cpu_start_ns - thread_off_ns(t, cpu_ns)
				     : get(&t->watch.cpu_given_ns) + get(&r->cpu_unseen_ns);
	atomic_store_explicit(&r->wall_off_ns, wall_off, memory_order_relaxed);
	atomic_store_explicit(&r->offcpu_unsampled_ns,
			      elapsed > used + given ? elapsed - used - given : 0,
			      memory_order_relaxed);
	atomic_store_explicit(
		&r->offcpu_node,
		atomic_load_explicit(&t->sample.wait_node, memory_order_relaxed),
		memory_order_relaxed);
}

/* Writes the end of the record. cpu_ns is 0 if the thread's clock can no longer be read. */
static void stamp(const struct thread *t, struct msr_thread *r, uint64_t now_ns, uint64_t cpu_ns)
{
	r->end_ns = now_ns;
	r->cpu_end_ns = cpu_ns;
	if (cpu_ns)
		atomic_store_explicit(&r->cpu_off_ns, thread_off_ns(t, cpu_ns),
				      memory_order_relaxed);
	if (process.has_offcpu)
		stamp_offcpu(t, r, now_ns, cpu_ns);
	if (cpu_ns > r->cpu_start_ns && process.has_cputime) {
		uint64_t all = cpu_ns - r->cpu_start_ns, off = thread_off_ns(t, cpu_ns),
			 used = all > off ? all - off : 0;
		uint64_t given = get(&t->watch.cpu_given_ns) + get(&r->cpu_unseen_ns);
		atomic_store_explicit(&r->cpu_unsampled_ns, used > given ? used - given : 0,
				      memory_order_relaxed);
	}
}

void thread_add_record(struct thread_totals *sum, struct msr_thread *r)
{
	sum->n_threads++;
	sum->delivered += get(&r->delivered);
	sum->recorded += get(&r->recorded);
	sum->handler_ns += get(&r->handler_ns);
	/* if the end could not be written: the CPU time that its samples stand for */
	sum->cpu_ns += r->cpu_end_ns > r->cpu_start_ns
			       ? r->cpu_end_ns - r->cpu_start_ns
			       : get(&r->use.event_ns) + get(&r->use.timer_ns);
	sum->cpu_off_ns += get(&r->cpu_off_ns);
	sum->cpu_known_ns += msr_thread_cpu_ns(r);
	sum->cpu_unseen_ns += process.has_cputime
				      ? msr_unseen_cpu_ns(r, process.cputime_period_ns)
				      : 0;
	sum->n_frames += get(&r->n_frames);
	sum->n_marked += get(&r->n_marked);
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		sum->losses[i] += get(&r->losses[i]);
	for (unsigned i = 0; i < 16; i++)
		sum->path_ends[i] += get(&r->path_ends[i]);
}

static void add_to_ended(struct msr_thread *r)
{
	struct thread_totals sum = {0};
	const uint64_t *word = (const uint64_t *)&sum;
	thread_add_record(&sum, r);
	for (unsigned i = 0; i < sizeof sum / sizeof *word; i++)
		if (word[i])
			atomic_fetch_add_explicit(&threads.ended[i], word[i], memory_order_relaxed);
}

void thread_end(void)
{
	struct thread *t = thread_self;
	/* in a child that is not measured, the record is not mapped */
	if (!t || !process_is_alive())
		return;
	const uint64_t mask = quiet_begin();
	const bool bus = file_fault_open();
	/* before our own work, during which no sample comes */
	const uint64_t cpu_ns = clock_thread_cpu_ns(), now_ns = clock_mono_ns();
	sample_check_signal(mask);
	thread_sources_stop(t);
	runtime_hooks.thread_ends();
	sys_call3(SYS_prctl, PR_GET_NAME, (long)t->record->name, 0);
	stamp(t, t->record, now_ns, cpu_ns);
	sample_entry_end(t);
	thread_self = NULL;
	EACH_PART(thread_ends, t);
	if (t->cct)
		cct_finish(t->cct);
	add_to_ended(t->record);
	t->record = NULL;
	thread_give_block(t);
	file_fault_close(bus);
	/* or a switch of measurement starts the sources again */
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
	const uint64_t n_switches = get(&r->use.event_switches);
	thread_sources_stop(t);
	/* those of the calling thread were added */
	atomic_store_explicit(&r->use.event_switches, n_switches, memory_order_relaxed);
	stamp(t, r, clock_mono_ns(), 0);
	if (t->cct)
		cct_finish(t->cct);
	add_to_ended(r);
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
		pthread_setspecific(threads.key, t);
	else
		thread_end();
}

/* ---- seen from the end of the process ---- */

/* Reads the name of a live thread, like prctl(PR_GET_NAME). */
static void read_name(struct msr_thread *r)
{
	char path[48];
	struct text t = text_in(path, sizeof path);
	text_put(&t, "/proc/self/task/");
	text_put_u64(&t, r->tid);
	text_put(&t, "/comm");
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	long n = sys_read(fd, r->name, sizeof r->name - 1);
	sys_close(fd);
	r->name[n > 0 ? n - 1 : 0] = '\0'; /* without the line feed */
}

void thread_stamp_all(uint64_t now_ns, uint64_t self_now_ns, uint64_t self_cpu_ns)
{
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		struct msr_thread *r = thread_live_record(t);
		if (!r)
			continue;
		bool is_self = t == thread_self;
		if (is_self)
			stamp(t, r, self_now_ns, self_cpu_ns);
		else
			stamp(t, r, now_ns, clock_other_cpu_ns((int)r->tid));
		if (is_self)
			sys_call3(SYS_prctl, PR_GET_NAME, (long)r->name, 0);
		else
			read_name(r);
	}
}

void thread_unstamp_all(void)
{
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		struct msr_thread *r = thread_live_record(t);
		if (r) {
			r->end_ns = r->cpu_end_ns = 0;
			atomic_store_explicit(&r->cpu_unsampled_ns, 0, memory_order_relaxed);
			atomic_store_explicit(&r->offcpu_unsampled_ns, 0, memory_order_relaxed);
		}
	}
}

bool thread_all_outside(void)
{
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (t != thread_self && atomic_load_explicit(&t->in_handler, memory_order_seq_cst))
			return false;
	return true;
}

void thread_sum(struct thread_totals *sum)
{
	uint64_t *word = (uint64_t *)sum;
	for (unsigned i = 0; i < sizeof *sum / sizeof *word; i++)
		word[i] = get(&threads.ended[i]);
	for (struct thread *t = thread_first(); t; t = t->next_made) {
		struct msr_thread *r = thread_live_record(t);
		if (r)
			thread_add_record(sum, r);
	}
}

/* A thread of the parent: its tree's extents belong to the parent; its memory is free. */
static void forget(struct thread *t)
{
	if (t->cct)
		cct_forget(t->cct);
	t->record = NULL;
	atomic_store_explicit(&t->in_handler, 0, memory_order_relaxed);
	thread_give_block(t);
}

void thread_forked(void)
{
	struct thread *self = thread_self;
	for (unsigned i = 0; i < sizeof threads.ended / sizeof *threads.ended; i++)
		atomic_store_explicit(&threads.ended[i], 0, memory_order_relaxed);
	atomic_store_explicit(&threads.n_numbers, 0, memory_order_relaxed);
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
	self->cct = NULL; /* with the first sample */
	reset_record(self);
	if (!make_record(self, true)) {
		store_count_loss(MSR_LOSS_THREAD_SETUP);
		thread_self = NULL;
		thread_give_block(self);
		return;
	}
	thread_off_begin(self);
	thread_sources_start(self);
	start_clocks(self->record); /* as in begin() */
	sample_catch_up(self);
}
