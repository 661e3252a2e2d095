/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sigaction and related functions; see hook_signal.h. For the program's signals the kernel's table
 * is authoritative: only handlers are replaced by our entry function, and translated back when the
 * program asks. A child of vfork shares our memory but not the kernel's table, so it must not
 * change the tables here. Signal-safe. Test: tests/cli/sacred/sacred_signal.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/signal/hook_fatal.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define N_SIGNALS 65
#define SA_RESTORER_BIT 0x04000000 /* the kernel's; libc passes it on but does not define it */
/* The kernel removes these from a handler's mask. */
#define NEVER_BLOCKED (signal_bit(SIGKILL) | signal_bit(SIGSTOP))

HOOK_NEXT(sigaction);
HOOK_NEXT(signal);
HOOK_NEXT(sysv_signal);
HOOK_NEXT(sigset);
HOOK_NEXT(raise);

static _Atomic uint64_t protected_bits; /* our signals, bit sig - 1 */

/* The program's handlers, which enter() calls. */
static struct {
	_Atomic(void *) handler;
	_Atomic bool masks_ours; /* its sa_mask contained our signals */
	/* SA_RESETHAND: the kernel resets the action when it calls the handler */
	_Atomic bool resets;
} entries[N_SIGNALS];

/* The program's actions for our signals. */
static struct sigaction kept[N_SIGNALS];
static atomic_flag kept_lock = ATOMIC_FLAG_INIT;

/*
 * The program's action for SIGBUS. The kernel always has SA_SIGINFO, because we need the address.
 */
static struct {
	struct sigaction action; /* as passed to the kernel */
	bool asked_siginfo;
	bool was_set; /* by the program; until then it is the inherited one */
} bus;

/* Our signals that the thread has blocked, as it sees it. */
static _Thread_local volatile uint64_t hidden;
static _Thread_local volatile uint64_t hidden_pending;
/* The same for a child of vfork, which sees our memory but has a mask of its own. */
static _Thread_local struct {
	int pid;
	uint64_t hidden;
} of_child;
static _Thread_local volatile unsigned n_foreign; /* how many of our signals others sent */

uint64_t hook_signal_bits(const sigset_t *set)
{
	uint64_t bits;
	memcpy(&bits, set, sizeof bits);
	return bits;
}

void hook_signal_set_bits(sigset_t *set, uint64_t bits)
{
	memcpy(set, &bits, sizeof bits);
}

uint64_t hook_signal_protected(void)
{
	/* relaxed: set before threads exist or when a source starts; a late read does no harm */
	return atomic_load_explicit(&protected_bits, memory_order_relaxed);
}

/* ---- the program's handlers ---- */

typedef void handler_fn(int, siginfo_t *, void *);

/*
 * On x86-64 all three arguments are passed, with or without SA_SIGINFO. The last call is a tail
 * call, so our frame does not stay on the stack.
 */
static void enter(int sig, siginfo_t *info, void *context)
{
	if (__builtin_expect(hook_altstack_held & signal_bit(sig), 0))
		hook_altstack_enter();
	/* PAPI installs its handler like the program does. */
	if (!(hook_signal_protected() & signal_bit(sig)) && sig != SIGBUS)
		wait_interrupt(context);
	if (atomic_load_explicit(&entries[sig].resets, memory_order_relaxed))
		hook_fatal_adopt(sig);
	if (sig == SIGBUS && hook_signal_mends(info, context)) {
		if (bus.action.sa_flags & (int)SA_RESETHAND)
			(void)NEXT(sigaction)(SIGBUS, &bus.action, NULL);
		return;
	}
	if (sig == SIGBUS) {
		wait_interrupt(context);
		if (bus.action.sa_flags & (int)SA_RESETHAND)
			hook_signal_bus_again((unsigned)bus.action.sa_flags);
	}
	handler_fn *handler =
		(handler_fn *)atomic_load_explicit(&entries[sig].handler, memory_order_acquire);
	handler(sig, info, context);
}

static bool is_function(const void *handler)
{
	return handler != (void *)SIG_DFL && handler != (void *)SIG_IGN &&
	       handler != (void *)SIG_ERR && handler != (void *)SIG_HOLD &&
	       handler != (void *)enter && handler != (void *)hook_signal_on_bus;
}

/* The handler to install instead of the program's. */
static void *wrap(int sig, void *handler)
{
	if (sig == SIGBUS && handler == (void *)SIG_DFL && runtime_config() &&
	    hook_signal_may_change())
		return (void *)hook_signal_on_bus;
	if (sig < 1 || sig >= N_SIGNALS || !is_function(handler) || !hook_signal_may_change())
		return handler;
	atomic_store_explicit(&entries[sig].handler, handler, memory_order_release);
	return (void *)enter;
}

static void *unwrap(void *known, void *handler)
{
	if (handler == (void *)enter)
		return known;
	return handler == (void *)hook_signal_on_bus
		       ? (void *)SIG_DFL
		       : (void *)hook_fatal_unwrap((__sighandler_t)handler);
}

/* ---- our signals ---- */

static uint64_t lock(void)
{
	uint64_t before = signal_table_mask(SIG_BLOCK, ~UINT64_C(0));
	while (atomic_flag_test_and_set_explicit(&kept_lock, memory_order_acquire))
		__builtin_ia32_pause();
	return before;
}

static void unlock(uint64_t before)
{
	atomic_flag_clear_explicit(&kept_lock, memory_order_release);
	signal_table_mask(SIG_SETMASK, before);
}

/* sigaction of one of our signals. The kernel is not called. */
static int keep(int sig, const struct sigaction *act, struct sigaction *old)
{
	struct sigaction now = {0};
	if (act)
		now = *act; /* read before the lock: the pointer may be bad */
	if (act && hook_signal_may_change() && is_function((void *)now.sa_handler))
		runtime_note(sig == RUNTIME_SIGNAL
				     ? "the program handles SIGSTKFLT, the signal that samples "
				       "use; its own deliveries are passed on"
				     : "the program handles the signal that PAPI's samples use; "
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

/*
 * Handles a sampling signal that we did not send, with the program's own disposition. Runs in our
 * handler with all signals blocked.
 */
static void on_foreign(int sig, siginfo_t *info, void *context)
{
	n_foreign++;
	if (hidden & signal_bit(sig)) {
		hidden_pending |= signal_bit(sig);
		return;
	}
	while (atomic_flag_test_and_set_explicit(&kept_lock, memory_order_acquire))
		__builtin_ia32_pause();
	struct sigaction act = kept[sig];
	if (act.sa_flags & (int)SA_RESETHAND)
		kept[sig].sa_handler = SIG_DFL;
	atomic_flag_clear_explicit(&kept_lock, memory_order_release);
	if (act.sa_handler == SIG_IGN)
		return;
	if (act.sa_handler == SIG_DFL) {
		signal_table_die(sig);
		return;
	}
	/*
	 * Block as the kernel would, because the program may jump out. This handler has no samples.
	 */
	uint64_t during = hook_signal_bits(&((const ucontext_t *)context)->uc_sigmask) |
			  hook_signal_bits(&act.sa_mask);
	if (!(act.sa_flags & SA_NODEFER))
		during |= signal_bit(sig);
	wait_interrupt(context);
	signal_table_mask(SIG_SETMASK, during);
	((handler_fn *)(void *)act.sa_sigaction)(sig, info, context);
	signal_table_mask(SIG_SETMASK, ~UINT64_C(0));
}

void hook_signal_protect(int sig)
{
	atomic_fetch_or_explicit(&protected_bits, signal_bit(sig), memory_order_relaxed);
}

/* ---- hooks: dispositions ---- */

HOOK int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	uint64_t ours = hook_signal_protected();
	if (ours & signal_bit(sig))
		return keep(sig, act, old);
	if (sig < 1 || sig >= N_SIGNALS)
		return NEXT(sigaction)(sig, act, old);
	void *known = atomic_load_explicit(&entries[sig].handler, memory_order_acquire);
	bool masked = entries[sig].masks_ours;
	struct sigaction changed, was;
	uint64_t asked = act ? hook_signal_bits(&act->sa_mask)
			     : 0; /* before old is written: they may be one */
	if (act) {
		changed = *act;
		changed.sa_handler = (__sighandler_t)wrap(sig, (void *)act->sa_handler);
		hook_signal_set_bits(&changed.sa_mask,
				     (asked & ~ours) | hook_altstack_mask(sig, act->sa_flags));
	}
	const bool asked_siginfo = bus.asked_siginfo, was_set = bus.was_set;
	if (act && sig == SIGBUS && hook_signal_may_change()) {
		bus.was_set = true;
		bus.asked_siginfo = changed.sa_flags & SA_SIGINFO;
		changed.sa_flags |= SA_SIGINFO;
		bus.action = changed;
	}
	int result = NEXT(sigaction)(sig, act ? &changed : NULL, &was);
	if (result != 0)
		return result;
	hook_fatal_show(sig, &was);
	if (act && hook_signal_may_change())
		entries[sig].resets = changed.sa_flags & (int)SA_RESETHAND;
	if (act && changed.sa_handler == SIG_DFL)
		hook_fatal_adopt(sig);
	if (act && (bool)(asked & ours) != masked && hook_signal_may_change())
		entries[sig].masks_ours = (asked & ours) != 0;
	if (old) {
		*old = was;
		old->sa_handler = (__sighandler_t)unwrap(known, (void *)was.sa_handler);
		if (sig == SIGBUS && !asked_siginfo)
			old->sa_flags &= ~SA_SIGINFO;
		if (sig == SIGBUS && !was_set)
			old->sa_flags &= ~SA_RESTORER_BIT; /* belongs to our handler */
		hook_signal_set_bits(&old->sa_mask, (hook_signal_bits(&old->sa_mask) & ~ours) |
							    (masked ? ours : 0));
	}
	return 0;
}

typedef __sighandler_t signal_fn(int, __sighandler_t);

/* The BSD flavour of signal() blocks the signal in its own handler. */
static uint64_t bsd_mask(int sig, int flags)
{
	return flags & SA_RESTART ? signal_bit(sig) : 0;
}

/* All flavours of signal(); `flags` are those that the flavour passes to sigaction. */
static __sighandler_t set_handler(signal_fn *next, int sig, __sighandler_t handler, int flags)
{
	if (hook_signal_protected() & signal_bit(sig)) {
		struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
		if (handler == SIG_ERR) {
			errno = EINVAL;
			return SIG_ERR;
		}
		hook_signal_set_bits(&act.sa_mask, bsd_mask(sig, flags));
		keep(sig, &act, &old);
		return old.sa_handler;
	}
	if (sig < 1 || sig >= N_SIGNALS)
		return next(sig, handler);
	if (sig == SIGBUS && handler != SIG_ERR && handler != SIG_HOLD) {
		struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
		hook_signal_set_bits(&act.sa_mask, bsd_mask(sig, flags));
		return sigaction(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
	}
	void *known = atomic_load_explicit(&entries[sig].handler, memory_order_acquire);
	__sighandler_t was = next(sig, (__sighandler_t)wrap(sig, (void *)handler));
	if (was != SIG_ERR && handler != SIG_HOLD && entries[sig].masks_ours &&
	    hook_signal_may_change())
		entries[sig].masks_ours = false;
	if (was != SIG_ERR && handler != SIG_HOLD && hook_signal_may_change())
		entries[sig].resets = flags & (int)SA_RESETHAND;
	if (was != SIG_ERR && handler == SIG_DFL)
		hook_fatal_adopt(sig);
	return (__sighandler_t)unwrap(known, (void *)was);
}

HOOK __sighandler_t signal(int sig, __sighandler_t handler)
{
	return set_handler(NEXT(signal), sig, handler, SA_RESTART);
}

HOOK __sighandler_t sysv_signal(int sig, __sighandler_t handler)
{
	return set_handler(NEXT(sysv_signal), sig, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

HOOK __sighandler_t __sysv_signal(int sig, __sighandler_t handler)
{
	return set_handler(NEXT(sysv_signal), sig, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

HOOK __sighandler_t sigset(int sig, __sighandler_t handler)
{
	return set_handler(NEXT_AS(signal_fn, sigset), sig, handler, 0);
}

/* ---- hidden masks ---- */

uint64_t hook_signal_hidden_bits(void)
{
	if ((hidden | of_child.hidden) == 0 || hook_signal_may_change())
		return hidden;
	return of_child.pid == sys_getpid() ? of_child.hidden : hidden;
}

/*
 * At most one signal of this kind is pending, so ours is lost if a sample is pending. Repeat until
 * it arrives.
 */
static int raise_ours(int sig)
{
	unsigned before = n_foreign;
	long result = 0;
	for (int i = 0; i < 1000 && result == 0 && n_foreign == before; i++)
		result = sys_call3(SYS_tgkill, sys_getpid(), sys_gettid(), sig);
	return (int)result;
}

HOOK int raise(int sig)
{
	hook_fatal_adopt(sig);
	if (sig != RUNTIME_SIGNAL || !runtime_config())
		return NEXT(raise)(sig);
	int result = raise_ours(sig);
	if (result == 0)
		return 0;
	errno = -result;
	return -1;
}

void hook_signal_set_hidden(uint64_t bits)
{
	if (bits == hidden && of_child.hidden == 0)
		return;
	if (!hook_signal_may_change()) {
		of_child.pid = sys_getpid();
		of_child.hidden = bits;
		return;
	}
	hidden = bits;
	of_child.hidden = 0;
	uint64_t now = hidden_pending & ~bits;
	if (!now)
		return;
	hidden_pending &= bits;
	for (int sig = 1; sig < N_SIGNALS; sig++)
		if (now & signal_bit(sig)) /* on_foreign() handles it, now unblocked */
			raise_ours(sig);
}

uint64_t hook_signal_hidden_pending(void)
{
	return hidden_pending;
}

unsigned long hook_signal_hidden(void)
{
	return hidden;
}

void hook_signal_inherit(unsigned long bits)
{
	hidden = bits;
}

const sigset_t *hook_signal_strip(const sigset_t *set, sigset_t *copy)
{
	uint64_t ours = hook_signal_protected();
	if (!set || !(hook_signal_bits(set) & ours))
		return set;
	*copy = *set;
	hook_signal_set_bits(copy, hook_signal_bits(set) & ~ours);
	return copy;
}

/* ---- start and exec ---- */

void hook_signal_start(void)
{
	struct hook_next *const all[] = {&next_sigaction, &next_signal, &next_sysv_signal,
					 &next_sigset, &next_raise};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
	hook_mask_start();
	hook_altstack_start();
	(void)NEXT(sigaction)(RUNTIME_SIGNAL, NULL, &kept[RUNTIME_SIGNAL]);
	if (kept[RUNTIME_SIGNAL].sa_handler == (__sighandler_t)(void *)enter)
		kept[RUNTIME_SIGNAL].sa_handler =
			(__sighandler_t)atomic_load(&entries[RUNTIME_SIGNAL].handler);
	hook_signal_protect(RUNTIME_SIGNAL);
	uint64_t ours = signal_bit(RUNTIME_SIGNAL);
	hidden = signal_table_mask(SIG_UNBLOCK, ours) & ours;
	runtime_on_foreign_signal(on_foreign);
}

void hook_signal_forked(void)
{
	atomic_flag_clear(&kept_lock);
}

bool hook_signal_exec_begin(void)
{
	uint64_t blocked = hook_signal_hidden_bits();
	if (!runtime_config() || (kept[RUNTIME_SIGNAL].sa_handler != SIG_IGN && !blocked))
		return false;
	if (kept[RUNTIME_SIGNAL].sa_handler == SIG_IGN)
		signal_table_ignore();
	signal_table_mask(SIG_BLOCK, blocked);
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
