/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See sample_entry.h. Until the base of thread-local variables is known to be the thread's own,
 * nothing here may read one, and a stack protector would. Test: tests/cli/sacred/sacred_state.sh.
 */
#include "hpcrun-lite/runtime/sample/sample_entry.h"

#include "common/safe/load.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

#include <string.h>
#include <sys/auxv.h>

#if __has_attribute(no_stack_protector)
#define NO_PROTECTOR __attribute__((no_stack_protector))
#else /* gcc before 11 */
#define NO_PROTECTOR __attribute__((optimize("no-stack-protector")))
#endif

MACHINE_SIGNAL_ENTRY(sample_entry, sample_entry_dispatch);

/* sample_entry_call(argument, fn, stack): calls fn(argument) below `stack`. */
void sample_entry_call(void *argument, void (*fn)(void *), uintptr_t stack);
MACHINE_CALL_ON_STACK(sample_entry_call);

static struct {
	bool is_direct;        /* see machine_base() */
	bool is_split;         /* the program has split stacks */
	size_t frame_bytes;    /* largest size of a signal frame */
	_Atomic bool has_unsampled;
} entry;

/* ---- the base of thread-local variables ---- */

/*
 * Bases of threads of this program's libc. They are not removed when a thread ends, because the
 * next thread may use the same base. A full set replaces one; find_thread() then finds its thread.
 */
enum { WAYS = 8, SETS_BITS = 12 };
static struct {
	_Alignas(64) _Atomic uintptr_t base[WAYS];
} known[1 << SETS_BITS];
static _Atomic unsigned victim;

static inline _Atomic uintptr_t *set_of(uintptr_t base)
{
	/*
	 * Hashes twice, because bases at equal distances (stacks of one size) would share few sets.
	 */
	uint64_t h = (base >> 6) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return known[h >> (64 - SETS_BITS)].base;
}

/*
 * Relaxed: a thread asks about its own base, which it has stored itself; otherwise this is a miss.
 */
static inline bool is_known(uintptr_t base)
{
	const _Atomic uintptr_t *way = set_of(base);
	for (unsigned i = 0; i < WAYS; i++)
		if (atomic_load_explicit(&way[i], memory_order_relaxed) == base)
			return true;
	return false;
}

static void remember(uintptr_t base)
{
	_Atomic uintptr_t *way = set_of(base);
	if (is_known(base))
		return;
	for (unsigned i = 0; i < WAYS; i++) {
		uintptr_t none = 0;
		if (atomic_compare_exchange_strong_explicit(&way[i], &none, base,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return;
	}
	const unsigned i = atomic_fetch_add_explicit(&victim, 1, memory_order_relaxed) % WAYS;
	atomic_store_explicit(&way[i], base, memory_order_relaxed);
}

static const struct thread *find_thread(int tid)
{
	for (const struct thread *t = thread_first(); t; t = t->next_made)
		if (atomic_load_explicit(&t->state, memory_order_relaxed) == THREAD_ALIVE &&
		    t->tid == tid)
			return t;
	return NULL;
}

static bool is_libcs(uintptr_t base)
{
	uintptr_t word[MACHINE_HEAD_WORDS];
	return load_guarded(word, base, sizeof word) == sizeof word &&
	       machine_is_thread_head(base, word);
}

/* For a thread that we did not see start, or that has set another base. */
NO_PROTECTOR __attribute__((noinline)) static void on_unknown_base(uintptr_t base, int sig,
								   siginfo_t *info, void *context)
{
	const struct thread *t = find_thread(sys_gettid());
	if (t && t->base != base) {
		if (machine_set_base(entry.is_direct, t->base)) {
			sample_on_signal(sig, info, context);
			machine_set_base(entry.is_direct, base);
			return;
		}
	} else if (t || is_libcs(base)) {
		remember(base);
		sample_on_signal(sig, info, context);
		return;
	}
	if (process_is_alive())
		store_count_loss(MSR_LOSS_NO_THREAD);
}

NO_PROTECTOR void sample_entry_dispatch(int sig, siginfo_t *info, void *context);
void sample_entry_dispatch(int sig, siginfo_t *info, void *context)
{
	const uintptr_t base = machine_base(entry.is_direct);
	if (__builtin_expect(is_known(base), 1))
		sample_on_signal(sig, info, context);
	else
		on_unknown_base(base, sig, info, context);
}

/* ---- room on the stack ---- */

/* The handler uses 3 KiB, and a signal frame on top, for SIGBUS, has up to 11 KiB (AMX). */
#define ROOM 16384u

void sample_entry_give_room(const struct thread *t, void (*fn)(void *), void *argument)
{
	const uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	if ((sp >= t->stack.lo + ROOM && sp < t->stack.hi) ||
	    (sp < t->own_stack && sp >= t->own_stack - THREAD_OWN_STACK))
		fn(argument);
	else
		sample_entry_call(argument, fn, t->own_stack);
}

size_t runtime_small_stack(void)
{
	return 4 * entry.frame_bytes + 4096;
}

size_t runtime_tiny_stack(void)
{
	return entry.frame_bytes + 1024;
}

void runtime_avoid_alternate_stacks(void)
{
	signal_table_change(RUNTIME_SIGNAL, 0, SA_ONSTACK);
}

void runtime_handler_unsampled(void)
{
	atomic_store_explicit(&entry.has_unsampled, true, memory_order_relaxed);
}

bool runtime_lent_stack(const void *sp)
{
	const struct thread *t = thread_self;
	return t && t->has_lent_stack && (uintptr_t)sp == t->own_stack - THREAD_OWN_STACK;
}

void sample_entry_report(void)
{
	if (atomic_exchange_explicit(&entry.has_unsampled, false, memory_order_relaxed))
		runtime_note("signal handlers that ran on a small alternate stack were not "
			     "sampled: their time belongs to the code that they interrupted; a "
			     "larger stack (sigaltstack) has room for samples");
}

/* ---- split stacks: their segments have no room for a signal frame ---- */

static void lend_stack(struct thread *t)
{
	stack_t now;
	const stack_t ours = {.ss_sp = (void *)(t->own_stack - THREAD_OWN_STACK),
			      .ss_size = THREAD_OWN_STACK};
	if (sys_call3(SYS_sigaltstack, 0, (long)&now, 0) == 0 && now.ss_flags & SS_DISABLE)
		t->has_lent_stack = sys_call3(SYS_sigaltstack, (long)&ours, 0, 0) == 0;
}

void sample_entry_begin(struct thread *t)
{
	t->base = (uintptr_t)machine_thread_pointer();
	t->has_lent_stack = false;
	remember(t->base);
	if (entry.is_split)
		lend_stack(t);
}

void sample_entry_end(struct thread *t)
{
	const stack_t none = {.ss_flags = SS_DISABLE};
	stack_t now;
	if (t->has_lent_stack && sys_call3(SYS_sigaltstack, 0, (long)&now, 0) == 0 &&
	    runtime_lent_stack(now.ss_sp))
		sys_call3(SYS_sigaltstack, (long)&none, 0, 0);
}

void sample_entry_start(bool is_split)
{
	enum { AUX_MINSIGSTKSZ = 51, FRAME_LEAST = 2048 };
	entry.is_direct = machine_has_direct_base();
	entry.frame_bytes = getauxval(AUX_MINSIGSTKSZ);
	if (entry.frame_bytes < FRAME_LEAST)
		entry.frame_bytes = FRAME_LEAST;
	entry.is_split = is_split;
}
