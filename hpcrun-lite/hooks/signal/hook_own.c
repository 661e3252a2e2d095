/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the program does with our signals: its handlers and masks for them, and deliveries from
 * others, such as the terminal's SIGWINCH. The kernel always has our handler and never blocks these
 * signals, so this file keeps the program's state and implements it. The kernel would keep a
 * blocked delivery pending; we keep it in memory. Signal-safe. Tests:
 * tests/cli/sacred/sacred_signal.sh, tests/cli/sacred/sacred_winch.sh.
 */
#include "common/safe/forked.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/signal/hook_fatal.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/source/ktimer.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

HOOK_NEXT(raise);
HOOK_NEXT(sigaction);

/* The kernel removes these from a handler's mask. */
#define NEVER_BLOCKED (signal_bit(SIGKILL) | signal_bit(SIGSTOP))
#define OURS signal_bit(RUNTIME_SIGNAL)

/* The program's actions for our signals. */
static struct sigaction kept[N_SIGNALS];
static WRITTEN_BY_FORKED atomic_flag kept_lock = ATOMIC_FLAG_INIT;

/* A RUNTIME_SIGNAL that the program has blocked. There is at most one, as in the kernel. */
struct delivery {
	_Atomic bool is_there;
	siginfo_t info;
};
static WRITTEN_BY_FORKED struct delivery of_process; /* sent to the process; kept_lock guards it */
static _Thread_local struct delivery of_thread;

/*
 * A process that was running when measurement began: only threads that have joined it have our
 * signals unblocked. In any other process all threads have.
 */
static bool is_late;
static bool is_taken; /* in such a process: our handler is installed */

static _Thread_local struct {
	volatile bool has_joined;
	volatile uint64_t hidden; /* our signals that the program has blocked in this thread */
	volatile uint64_t awaited; /* ... for which it waits in sigwait */
	volatile bool is_shown;    /* see show() */
	volatile bool has_mask;    /* it is in a wait that sets a mask */
	volatile unsigned n_foreign; /* deliveries from others, */
	volatile unsigned n_handled; /* ... and how many reached a handler of the program */
	struct ktimer kick;
} own;
/* The same for a child of vfork, which shares our memory but has its own mask. */
static _Thread_local struct {
	int pid;
	uint64_t hidden;
} of_child;

/* The program's signalfds whose masks contain RUNTIME_SIGNAL. */
#define N_DESCRIPTORS 8
static struct {
	_Atomic int fd_plus_1;
	_Atomic uint64_t mask;
} descriptors[N_DESCRIPTORS];

/* ---- actions ---- */

static uint64_t lock(void)
{
	uint64_t before = signal_table_mask(SIG_BLOCK, ~UINT64_C(0));
	while (atomic_flag_test_and_set_explicit(&kept_lock, memory_order_acquire))
		machine_pause();
	return before;
}

static void unlock(uint64_t before)
{
	atomic_flag_clear_explicit(&kept_lock, memory_order_release);
	signal_table_mask(SIG_SETMASK, before);
}

int hook_own_keep(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction now = {0};
	if (act)
		now = *act; /* read before the lock: the pointer may be bad */
	if (act && hook_signal_may_change() && sig != RUNTIME_SIGNAL &&
	    hook_signal_is_function((void *)now.sa_handler))
		runtime_note("the program handles the signal that PAPI's samples use; "
			     "its handler is not called");
	uint64_t before = lock();
	struct sigaction was = kept[sig];
	if (act && hook_signal_may_change()) {
		kept[sig] = now;
		hook_signal_set_bits(&kept[sig].sa_mask,
				     hook_signal_bits(&now.sa_mask) & ~NEVER_BLOCKED);
	}
	unlock(before);
	if (old)
		*old = was;
	return 0;
}

/* ---- deliveries that wait ---- */

/* Called in our handler. */
static void put(struct delivery *d, const siginfo_t *info)
{
	while (atomic_flag_test_and_set_explicit(&kept_lock, memory_order_acquire))
		machine_pause();
	if (!d->is_there)
		d->info = *info;
	d->is_there = true;
	atomic_flag_clear_explicit(&kept_lock, memory_order_release);
}

static bool take(struct delivery *d, siginfo_t *info)
{
	if (!atomic_load_explicit(&d->is_there, memory_order_relaxed))
		return false;
	const uint64_t before = lock();
	const bool is_there = d->is_there;
	if (is_there)
		*info = d->info;
	d->is_there = false;
	unlock(before);
	return is_there;
}

static bool take_any(siginfo_t *info)
{
	return take(&of_thread, info) || take(&of_process, info);
}

static bool is_waiting(void)
{
	return atomic_load_explicit(&of_thread.is_there, memory_order_relaxed) ||
	       atomic_load_explicit(&of_process.is_there, memory_order_relaxed);
}

static void requeue(const siginfo_t *info)
{
	sys_call4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), RUNTIME_SIGNAL, (long)info);
}

/*
 * Sends a delivery to the calling thread, which has not blocked it. The kernel keeps only one
 * pending signal of this number, so it drops ours if a sample is pending. Repeats until it arrives.
 */
static void deliver(const siginfo_t *info)
{
	const unsigned before = own.n_foreign;
	for (int i = 0; i < 1000 && own.n_foreign == before; i++)
		requeue(info);
}

/* Takes the RUNTIME_SIGNAL that is pending in the kernel. */
static bool take_pending(siginfo_t *info)
{
	const struct timespec zero = {0};
	const uint64_t ours = OURS;
	return sys_call4(SYS_rt_sigtimedwait, (long)&ours, (long)info, (long)&zero, sizeof ours) ==
	       RUNTIME_SIGNAL;
}

/* ---- signalfd ---- */

static void set_descriptors(uint64_t ours)
{
	for (unsigned i = 0; i < N_DESCRIPTORS; i++) {
		const int fd = descriptors[i].fd_plus_1 - 1;
		const uint64_t mask = (descriptors[i].mask & ~OURS) | ours;
		if (fd >= 0 && sys_call4(SYS_signalfd4, fd, (long)&mask, sizeof mask, 0) < 0)
			descriptors[i].fd_plus_1 = 0; /* the program has closed it */
	}
}

static bool has_descriptors(void)
{
	for (unsigned i = 0; i < N_DESCRIPTORS; i++)
		if (atomic_load_explicit(&descriptors[i].fd_plus_1, memory_order_relaxed))
			return true;
	return false;
}

void hook_own_descriptor(int fd, uint64_t mask)
{
	int last = -1;
	if (fd < 0 || !hook_signal_may_change())
		return;
	for (unsigned i = 0; i < N_DESCRIPTORS; i++)
		if (descriptors[i].fd_plus_1 == fd + 1 || (last < 0 && !descriptors[i].fd_plus_1))
			last = (int)i;
	if (last < 0) {
		if (mask & OURS)
			runtime_note("the program reads signals from more than 8 descriptors "
				     "(signalfd): some do not show SIGWINCH");
		return;
	}
	descriptors[last].mask = mask;
	descriptors[last].fd_plus_1 = mask & OURS ? fd + 1 : 0;
}

/*
 * Makes a delivery readable in the program's signalfds: leaves it pending in this thread, which
 * takes no samples until the program has read it. Returns false if the program has no signalfd for
 * it.
 */
static bool show(const siginfo_t *info)
{
	siginfo_t sample;
	if (!has_descriptors())
		return false;
	if (!own.is_shown)
		runtime_rest(true);
	while (take_pending(&sample))
		;
	own.is_shown = true;
	requeue(info);
	set_descriptors(OURS);
	return true;
}

void hook_own_resume(bool takes)
{
	siginfo_t info;
	if (!own.is_shown)
		return;
	if (take_pending(&info)) {
		if (!takes) {
			requeue(&info);
			return;
		}
		of_thread.info = info;
		of_thread.is_there = true;
	}
	own.is_shown = false;
	set_descriptors(0);
	runtime_rest(false);
	signal_table_mask(SIG_UNBLOCK, OURS);
}

/* ---- deliveries ---- */

/*
 * Ends sigwait. If the thread has not yet begun to wait, a timer repeats this until the thread has
 * taken the signal. Returns false.
 */
static bool end_wait(ucontext_t *context)
{
	bool has_returned;
	const bool waits = wait_interrupted(context, &has_returned) == SYS_rt_sigtimedwait &&
			   !has_returned;
	if (waits)
		wait_interrupt(context); /* a sample may have prepared its restart */
	else if (!own.kick.armed)
		ktimer_start(&own.kick, CLOCK_MONOTONIC, RUNTIME_SIGNAL, &own, 1000000, 1000000);
	return false;
}

/* True if the signal was sent to the thread, not to the process. */
static bool is_for_thread(const siginfo_t *info)
{
	return info->si_code == SI_TKILL;
}

/* Keeps a delivery that the thread has blocked. Returns false if its wait must end. */
static bool hold(siginfo_t *info, ucontext_t *context)
{
	if (!hook_signal_may_change())
		return true;
	if (!(own.awaited & OURS) && show(info)) {
		hook_signal_set_bits(&context->uc_sigmask,
				     hook_signal_bits(&context->uc_sigmask) | OURS);
		return !own.has_mask; /* the wait would unblock it again */
	}
	put(is_for_thread(info) ? &of_thread : &of_process, info);
	if (own.awaited & OURS)
		return end_wait(context);
	if (!is_for_thread(info))
		runtime_nudge_others();
	return true;
}

/* Called in our handler with all signals blocked. */
static bool on_foreign(int sig, siginfo_t *info, void *context)
{
	if (info->si_code == SI_TIMER && info->si_value.sival_ptr == &own)
		return own.awaited && is_waiting() ? end_wait(context) : true;
	own.n_foreign++;
	if (hook_signal_hidden_bits() & signal_bit(sig))
		return hold(info, context);
	while (atomic_flag_test_and_set_explicit(&kept_lock, memory_order_acquire))
		machine_pause();
	struct sigaction act = kept[sig];
	if (act.sa_flags & (int)SA_RESETHAND)
		kept[sig].sa_handler = SIG_DFL;
	atomic_flag_clear_explicit(&kept_lock, memory_order_release);
	if (!hook_signal_is_function((void *)act.sa_handler))
		return true; /* the default is to do nothing */
	own.n_handled++;
	/*
	 * Block what the kernel would block, because the program may jump out. No samples are taken
	 * in this handler.
	 */
	uint64_t during = hook_signal_bits(&((const ucontext_t *)context)->uc_sigmask) |
			  hook_signal_bits(&act.sa_mask);
	if (!(act.sa_flags & SA_NODEFER))
		during |= signal_bit(sig);
	wait_interrupt(context);
	if (!(act.sa_flags & SA_RESTART))
		wait_end_restarted(context);
	signal_table_mask(SIG_SETMASK, during);
	((hook_signal_handler *)(void *)act.sa_sigaction)(sig, info, context);
	signal_table_mask(SIG_SETMASK, ~UINT64_C(0));
	return false;
}

/* Another thread may have received a signal that is blocked there but not in this thread. */
static bool look_for_delivery(ucontext_t *context)
{
	siginfo_t info;
	if (own.awaited & OURS)
		return end_wait(context);
	if ((hook_signal_hidden_bits() & OURS) || !hook_signal_may_change() || !take_any(&info))
		return true;
	return on_foreign(RUNTIME_SIGNAL, &info, context);
}

void hook_own_restart_wait(ucontext_t *context)
{
	if (__builtin_expect(is_waiting(), 0) && !look_for_delivery(context))
		return;
	wait_restart(context);
}

/* ---- masks ---- */

uint64_t hook_signal_hidden_bits(void)
{
	if ((own.hidden | of_child.hidden) == 0 || hook_signal_may_change())
		return own.hidden;
	return of_child.pid == sys_getpid() ? of_child.hidden : own.hidden;
}

static void deliver_waiting(void)
{
	siginfo_t info;
	while (take_any(&info))
		deliver(&info);
}

void hook_signal_set_hidden(uint64_t bits)
{
	if (bits == own.hidden && of_child.hidden == 0)
		return;
	if (!hook_signal_may_change()) {
		of_child.pid = sys_getpid();
		of_child.hidden = bits;
		return;
	}
	own.hidden = bits;
	of_child.hidden = 0;
	if (bits & OURS)
		return;
	hook_own_resume(true);
	deliver_waiting();
}

uint64_t hook_signal_show_pending(uint64_t pending)
{
	const uint64_t ours = hook_signal_guarded() & ~(own.is_shown ? OURS : 0);
	return (pending & ~ours) | (is_waiting() ? OURS & hook_signal_hidden_bits() : 0);
}

unsigned long hook_signal_hidden(void)
{
	return own.hidden;
}

void hook_signal_thread_comes(unsigned long hidden, bool has_come)
{
	if ((hidden & OURS) && !own.is_shown)
		signal_table_mask(has_come ? SIG_UNBLOCK : SIG_BLOCK, OURS);
}

void hook_signal_inherit(unsigned long bits)
{
	if (is_late) { /* the creator may not have joined, so its mask is the real one */
		bits |= signal_table_mask(SIG_BLOCK, 0) & OURS;
		own.has_joined = true;
	}
	own.hidden = bits;
	if (bits & OURS)
		signal_table_mask(SIG_UNBLOCK, OURS);
}

const sigset_t *hook_signal_strip(const sigset_t *set, sigset_t *copy)
{
	uint64_t ours = hook_signal_guarded() & ~(own.is_shown ? OURS : 0);
	if (!set || !(hook_signal_bits(set) & ours))
		return set;
	*copy = *set;
	hook_signal_set_bits(copy, hook_signal_bits(set) & ~ours);
	return copy;
}

/* ---- waits ---- */

/*
 * Sets the hidden signals for the duration of the wait. The kernel unblocks ours when the wait
 * begins, not earlier. Returns false if a handler of the program ran instead.
 */
static bool change_hidden(struct signal_wait *w, uint64_t bits)
{
	const unsigned before = own.n_handled;
	w->is_changed = true;
	w->hidden = own.hidden;
	hook_own_resume(!(bits & OURS));
	if (!own.is_shown)
		signal_table_mask(SIG_BLOCK, OURS);
	own.hidden = bits;
	if ((bits & OURS) || !is_waiting())
		return true;
	signal_table_mask(SIG_UNBLOCK, OURS);
	deliver_waiting();
	if (own.n_handled == before) {
		signal_table_mask(SIG_BLOCK, OURS);
		return true;
	}
	own.hidden = w->hidden;
	errno = EINTR;
	return false;
}

void hook_signal_look(void)
{
	if (__builtin_expect(own.awaited, 0)) /* it has jumped out of sigwait */
		hook_own_await_end();
	hook_own_resume(false);
}

bool hook_signal_wait_begin(struct signal_wait *w, const sigset_t *waiting)
{
	hook_signal_look();
	w->is_changed = false;
	w->set = waiting;
	if (!waiting || !runtime_config())
		return true;
	const uint64_t bits = hook_signal_bits(waiting) & hook_signal_guarded();
	if (bits != own.hidden && hook_signal_may_change() && !change_hidden(w, bits))
		return false;
	own.has_mask = true;
	w->set = hook_signal_strip(waiting, &w->copy);
	return true;
}

void hook_signal_wait_end(const struct signal_wait *w)
{
	own.has_mask = false;
	if (!w->is_changed)
		return;
	if (!own.is_shown)
		signal_table_mask(SIG_UNBLOCK, OURS);
	hook_signal_set_hidden(w->hidden);
}

int hook_own_await(const sigset_t *set, siginfo_t *info)
{
	siginfo_t taken;
	own.awaited = hook_signal_bits(set) & hook_signal_guarded();
	if (own.awaited & OURS)
		hook_own_resume(true);
	if (!(own.awaited & OURS) || !take_any(&taken))
		return 0;
	if (info)
		*info = taken;
	return RUNTIME_SIGNAL;
}

void hook_own_await_end(void)
{
	own.awaited = 0;
	if (own.kick.armed)
		ktimer_stop(&own.kick);
}

/* ---- sending ---- */

HOOK int raise(int sig)
{
	hook_fatal_adopt(sig);
	if (sig != RUNTIME_SIGNAL || !runtime_config())
		return NEXT(raise)(sig);
	siginfo_t info;
	memset(&info, 0, sizeof info);
	info.si_signo = sig;
	info.si_code = SI_TKILL;
	info.si_pid = sys_getpid();
	info.si_uid = (uid_t)sys_call3(SYS_getuid, 0, 0, 0);
	deliver(&info);
	return 0;
}

HOOK int gsignal(int sig)
{
	return raise(sig);
}

uint64_t hook_signal_guarded(void)
{
	return is_late && !own.has_joined ? 0 : hook_signal_protected();
}

/* ---- a process that was running ---- */

void hook_own_attach(const struct sigaction *now)
{
	hook_next_find(&next_raise);
	if (!is_taken) { /* threads of an earlier measurement may have kept us from giving it back
			  */
		kept[RUNTIME_SIGNAL] = *now;
		of_process.is_there = false;
	}
	is_late = is_taken = true;
	runtime_on_foreign_signal(on_foreign);
}

void hook_own_join(bool has_blocked)
{
	if (own.has_joined)
		return;
	own.hidden = has_blocked ? OURS : 0;
	own.has_joined = true;
}

void hook_own_leave(uint64_t *mask)
{
	siginfo_t info;
	const uint64_t hidden = own.hidden;
	if (!own.has_joined)
		return;
	hook_own_resume(true);
	own.has_joined = false;
	own.hidden = 0;
	*mask |= hidden;
	if (take(&of_thread, &info))
		requeue(&info);
}

void hook_own_detach(void)
{
	siginfo_t info;
	is_taken = false;
	(void)NEXT(sigaction)(RUNTIME_SIGNAL, &kept[RUNTIME_SIGNAL], NULL);
	runtime_on_foreign_signal(NULL);
	if (take(&of_process, &info))
		sys_call3(SYS_rt_sigqueueinfo, sys_getpid(), RUNTIME_SIGNAL, (long)&info);
}

/* ---- start, fork and exec ---- */

void hook_own_start(const struct sigaction *inherited)
{
	hook_next_find(&next_raise);
	kept[RUNTIME_SIGNAL] = *inherited;
	own.hidden = signal_table_mask(SIG_BLOCK, 0) & OURS;
	if (own.hidden)
		of_process.is_there = take_pending(&of_process.info);
	signal_table_mask(SIG_UNBLOCK, OURS);
	runtime_on_foreign_signal(on_foreign);
}

void hook_signal_forked(void)
{
	atomic_flag_clear(&kept_lock);
	of_process.is_there = of_thread.is_there = false;
	own.kick.armed = false;
	/* the descriptors are shared with the parent, which changes their masks */
	for (unsigned i = 0; i < N_DESCRIPTORS; i++)
		if (descriptors[i].fd_plus_1)
			descriptors[i].fd_plus_1 = 0;
	if (own.is_shown)
		signal_table_mask(SIG_UNBLOCK, OURS);
	own.is_shown = false;
}

bool hook_signal_exec_begin(void)
{
	siginfo_t info;
	uint64_t blocked = hook_signal_hidden_bits();
	if (!runtime_config() || (kept[RUNTIME_SIGNAL].sa_handler != SIG_IGN && !blocked))
		return false;
	if (kept[RUNTIME_SIGNAL].sa_handler == SIG_IGN)
		signal_table_ignore();
	signal_table_mask(SIG_BLOCK, blocked);
	if ((blocked & OURS) && hook_signal_may_change() && take_any(&info))
		requeue(&info);
	return true;
}

void hook_signal_exec_failed(bool begun)
{
	if (!begun)
		return;
	if (kept[RUNTIME_SIGNAL].sa_handler == SIG_IGN)
		signal_table_restore();
	signal_table_mask(SIG_UNBLOCK, hook_signal_hidden_bits());
}
