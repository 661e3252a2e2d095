/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that was running when its measurement began, and may go on after it: what the launcher
 * calls in it (config/attach.h), and how its threads join and leave. Both happen in our handler,
 * because only the thread itself can make its timers and change its mask. Must not allocate. Tests:
 * tests/cli/attach.
 */
#include "hpcrun-lite/config/attach.h"
#include "common/safe/clock.h"
#include "common/safe/quiet.h"
#include "common/safe/text.h"
#include "hpcrun-lite/runtime/life/life.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/sample/sample.h"
#include "hpcrun-lite/runtime/signal_table.h"
#include "hpcrun-lite/store/store.h"

#include <errno.h>
#include <string.h>

/* How long detach waits for threads that sleep where no signal reaches them. */
#define LEAVE_NS 1000000000u
#define LEAVE_PAUSE_NS 500000
#define LEAVE_AGAIN 20u /* pauses */

/* A signal with this address as its value, or the next one, asks a thread to join. */
static const char join[2];
static _Atomic bool leaving;
static _Atomic uint32_t n_joining; /* threads in thread_on_join() */

static _Atomic uint32_t n_taken, n_answered;
static _Atomic int32_t answered[ATTACH_ANSWERS];

HOOK attach_fn hpcrun_lite_attach;
HOOK detach_fn hpcrun_lite_detach;

/* The rest of `to` is zero. */
static void put(char *to, size_t n_bytes, const char *text)
{
	struct text t = text_in(to, n_bytes - 1);
	text_put(&t, text);
}

/* ---- threads ---- */

bool thread_is_join(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE &&
	       (info->si_value.sival_ptr == &join[0] || info->si_value.sival_ptr == &join[1]);
}

/* Release: who sees the number sees the id. */
static void say_joined(void)
{
	const uint32_t n = atomic_fetch_add_explicit(&n_taken, 1, memory_order_relaxed);
	atomic_store_explicit(&answered[n % ATTACH_ANSWERS], sys_gettid(), memory_order_relaxed);
	atomic_fetch_add_explicit(&n_answered, 1, memory_order_release);
}

static void forget_answers(void)
{
	for (unsigned i = 0; i < ATTACH_ANSWERS; i++)
		atomic_store_explicit(&answered[i], 0, memory_order_relaxed);
	atomic_store_explicit(&n_taken, 0, memory_order_relaxed);
	atomic_store_explicit(&n_answered, 0, memory_order_relaxed);
}

/* Signals of ours that are still pending would reach a handler of the program. */
static void drain(void)
{
	const struct timespec zero = {0};
	const uint64_t ours = signal_bit(RUNTIME_SIGNAL);
	siginfo_t info;
	while (sys_call4(SYS_rt_sigtimedwait, (long)&ours, (long)&info, (long)&zero, sizeof ours) ==
	       RUNTIME_SIGNAL)
		if (!thread_sent(&info) && !thread_is_expiry(&info)) {
			sys_call4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), RUNTIME_SIGNAL,
				  (long)&info);
			break;
		}
}

/* In our handler: the thread goes on with the mask that it had. */
static void leave(ucontext_t *context)
{
	uint64_t mask;
	memcpy(&mask, &context->uc_sigmask, sizeof mask);
	runtime_hooks.leave(&mask);
	memcpy(&context->uc_sigmask, &mask, sizeof mask);
}

/* Sequentially consistent: a detach that does not count this thread is seen by it. */
void thread_on_join(const siginfo_t *info, ucontext_t *context)
{
	atomic_fetch_add_explicit(&n_joining, 1, memory_order_seq_cst);
	say_joined();
	runtime_hooks.join(info->si_value.sival_ptr == &join[1]);
	if (!thread_self && process_is_alive() && !thread_may_leave())
		thread_found(context, true);
	else if (!thread_self)
		leave(context);
	atomic_fetch_sub_explicit(&n_joining, 1, memory_order_release);
}

void thread_leaves(struct thread *t, ucontext_t *context)
{
	leave(context);
	if (t && process_is_alive())
		thread_end();
	drain();
}

bool thread_may_leave(void)
{
	return atomic_load_explicit(&leaving, memory_order_seq_cst);
}

/* ---- the two calls ---- */

HOOK int hpcrun_lite_attach(const char *config, struct attach_answer *answer)
{
	const int saved = errno;
	const char *cause = "no cause";
	const uint64_t mask = quiet_begin();
	memset(answer, 0, sizeof *answer);
	atomic_store_explicit(&leaving, false, memory_order_relaxed);
	forget_answers();
	const bool done = life_attach(config, &cause);
	if (done) {
		answer->join = (uintptr_t)join;
		answer->n_answered = (uintptr_t)&n_answered;
		answer->answered = (uintptr_t)answered;
		put(answer->path, sizeof answer->path, store_path());
	} else {
		put(answer->cause, sizeof answer->cause, cause);
	}
	quiet_end(mask);
	errno = saved;
	return done ? 0 : -1;
}

/* Asks all threads, and again: one may have been inside our code, and others may begin. */
static uint32_t ask_to_leave(const struct thread *self)
{
	const uint64_t start_ns = clock_mono_ns();
	uint32_t n, n_rounds = 0;
	do {
		n = atomic_load_explicit(&n_joining, memory_order_seq_cst);
		for (struct thread *t = thread_first(); t; t = t->next_made) {
			if (t == self || !thread_live_record(t))
				continue;
			if (!clock_other_cpu_ns(t->tid)) {
				thread_reap(t); /* it has ended unseen */
				continue;
			}
			if (n_rounds % LEAVE_AGAIN == 0)
				thread_send(t);
			n++;
		}
		n_rounds++;
		if (n)
			sys_pause(LEAVE_PAUSE_NS);
	} while (n && clock_mono_ns() - start_ns < LEAVE_NS);
	return n;
}

HOOK int hpcrun_lite_detach(struct attach_answer *answer)
{
	const int saved = errno;
	memset(answer, 0, sizeof *answer);
	if (!process_is_owner() || !process.config.attached) {
		put(answer->cause, sizeof answer->cause,
		    process.measuring ? "it was started by hpcrun-lite" : "it is not measured");
		return -1;
	}
	put(answer->path, sizeof answer->path, store_path());
	if (!life_claim_end())
		return 0; /* another thread is at the program's end */
	const uint64_t mask = quiet_begin();
	struct thread *self = thread_self;
	atomic_store_explicit(&leaving, true, memory_order_seq_cst);
	answer->n_threads = ask_to_leave(self);
	if (self) {
		runtime_hooks.leave(&answer->block);
		thread_end();
		drain();
	}
	for (struct thread *t = thread_first(); t; t = t->next_made)
		if (thread_live_record(t))
			thread_reap(t);
	runtime_hooks.withdrawn();
	life_detach();
	process.measuring = false;
	runtime_hooks.give_back(answer->n_threads != 0);
	store_close();
	quiet_end(mask);
	errno = saved;
	return 0;
}
