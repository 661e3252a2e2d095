/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sigaction and related functions; see hook_signal.h. For the program's signals the kernel's table
 * is authoritative: we only replace handlers by our entry function, and translate them back when
 * the program asks. A child of vfork shares our memory but not the kernel's table, so it must not
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

#define SA_RESTORER_BIT 0x04000000 /* the kernel's; libc passes it on but does not define it */

HOOK_NEXT(sigaction);
HOOK_NEXT(signal);
HOOK_NEXT(sysv_signal);
HOOK_NEXT(sigset);
HOOK_NEXT(siginterrupt);

static _Atomic uint64_t protected_bits; /* our signals, bit sig - 1 */

/* The program's handlers, which hook_signal_handle() calls. */
static struct {
	_Atomic(void *) handler;
	_Atomic bool masks_ours; /* its sa_mask contained our signals */
	/* SA_RESETHAND: the kernel resets the action when it calls the handler */
	_Atomic bool resets;
	_Atomic bool interrupts; /* no SA_RESTART */
} entries[N_SIGNALS];

/*
 * The program's action for SIGBUS. The kernel always has SA_SIGINFO, because we need the address.
 */
static struct {
	struct sigaction action; /* as passed to the kernel */
	bool asked_siginfo;
	bool was_set; /* by the program; until then the action is the inherited one */
} bus;

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

void hook_signal_protect(int sig)
{
	atomic_fetch_or_explicit(&protected_bits, signal_bit(sig), memory_order_relaxed);
}

uint64_t hook_signal_protected(void)
{
	/* relaxed: set before threads exist or when a source starts; a late read does no harm */
	return atomic_load_explicit(&protected_bits, memory_order_relaxed);
}

/* ---- the program's handlers ---- */

void hook_signal_enter(int sig, siginfo_t *info, void *context);
void hook_signal_handle(int sig, siginfo_t *info, void *context);
MACHINE_HANDLER(hook_signal_enter, hook_signal_handle);

/* The last call is a tail call, so our frame does not stay on the stack. */
__attribute__((used)) void hook_signal_handle(int sig, siginfo_t *info, void *context)
{
	if (__builtin_expect(hook_altstack_held & signal_bit(sig), 0))
		hook_altstack_enter();
	/* PAPI installs its handler like the program does. */
	if (!(hook_signal_protected() & signal_bit(sig)) && sig != SIGBUS) {
		wait_interrupt(context);
		/* an earlier sample may have set up a restart of the call */
		if (atomic_load_explicit(&entries[sig].interrupts, memory_order_relaxed))
			wait_end_restarted(context);
	}
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
	hook_signal_handler *handler = (hook_signal_handler *)atomic_load_explicit(
		&entries[sig].handler, memory_order_acquire);
	handler(sig, info, context);
}

static bool is_programs(const void *handler)
{
	return hook_signal_is_function(handler) && handler != (void *)hook_signal_enter &&
	       handler != (void *)hook_signal_on_bus;
}

/* The handler to install instead of the program's. */
static void *wrap(int sig, void *handler)
{
	if (sig == SIGBUS && handler == (void *)SIG_DFL && runtime_config() &&
	    hook_signal_may_change())
		return (void *)hook_signal_on_bus;
	if (sig < 1 || sig >= N_SIGNALS || !is_programs(handler) || !hook_signal_may_change())
		return handler;
	atomic_store_explicit(&entries[sig].handler, handler, memory_order_release);
	return (void *)hook_signal_enter;
}

static void *unwrap(void *known, void *handler)
{
	if (handler == (void *)hook_signal_enter)
		return known;
	return handler == (void *)hook_signal_on_bus
		       ? (void *)SIG_DFL
		       : (void *)hook_fatal_unwrap((__sighandler_t)handler);
}

/* ---- hooks: dispositions ---- */

static void keep_flags(int sig, int flags)
{
	entries[sig].resets = flags & (int)SA_RESETHAND;
	entries[sig].interrupts = !(flags & SA_RESTART);
}

HOOK int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	uint64_t ours = hook_signal_protected();
	if (ours & signal_bit(sig))
		return hook_own_keep(sig, act, old);
	if (sig < 1 || sig >= N_SIGNALS)
		return NEXT(sigaction)(sig, act, old);
	void *known = atomic_load_explicit(&entries[sig].handler, memory_order_acquire);
	bool masked = entries[sig].masks_ours;
	struct sigaction changed, was;
	uint64_t asked = act ? hook_signal_bits(&act->sa_mask)
			     : 0; /* before old is written: both may be the same object */
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
		keep_flags(sig, changed.sa_flags);
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

/* Implements all flavours of signal(); `flags` are what the flavour passes to sigaction. */
static __sighandler_t set_handler(signal_fn *next, int sig, __sighandler_t handler, int flags)
{
	if (hook_signal_protected() & signal_bit(sig)) {
		struct sigaction act = {.sa_handler = handler, .sa_flags = flags}, old;
		if (handler == SIG_ERR) {
			errno = EINVAL;
			return SIG_ERR;
		}
		hook_signal_set_bits(&act.sa_mask, bsd_mask(sig, flags));
		hook_own_keep(sig, &act, &old);
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
		keep_flags(sig, flags);
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

/* Not in <signal.h> of newer standards. */
__sighandler_t bsd_signal(int sig, __sighandler_t handler);
HOOK __sighandler_t bsd_signal(int sig, __sighandler_t handler)
{
	return signal(sig, handler);
}

HOOK __sighandler_t ssignal(int sig, __sighandler_t handler)
{
	return signal(sig, handler);
}

HOOK int sigignore(int sig)
{
	const struct sigaction act = {.sa_handler = SIG_IGN};
	return sigaction(sig, &act, NULL);
}

typedef int interrupt_fn(int, int);

HOOK int siginterrupt(int sig, int interrupts)
{
	struct sigaction act;
	if (!(hook_signal_protected() & signal_bit(sig))) {
		const int result = NEXT_AS(interrupt_fn, siginterrupt)(sig, interrupts);
		if (result == 0 && hook_signal_may_change())
			entries[sig].interrupts = interrupts;
		return result;
	}
	hook_own_keep(sig, NULL, &act);
	act.sa_flags = (act.sa_flags & ~SA_RESTART) | (interrupts ? 0 : SA_RESTART);
	return hook_own_keep(sig, &act, NULL);
}

static int change_mask(int how, int sig)
{
	sigset_t set = {0};
	if (!signal_bit(sig)) {
		errno = EINVAL;
		return -1;
	}
	hook_signal_set_bits(&set, signal_bit(sig));
	return sigprocmask(how, &set, NULL);
}

HOOK int sighold(int sig)
{
	return change_mask(SIG_BLOCK, sig);
}

HOOK int sigrelse(int sig)
{
	return change_mask(SIG_UNBLOCK, sig);
}

/* Implements sigset for one of our signals: blocks it, or sets its action and unblocks it. */
static __sighandler_t set_own(int sig, __sighandler_t handler)
{
	const bool was_blocked = hook_signal_hidden_bits() & signal_bit(sig);
	struct sigaction act = {.sa_handler = handler}, old;
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	hook_own_keep(sig, handler == SIG_HOLD ? NULL : &act, &old);
	change_mask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, sig);
	return was_blocked ? SIG_HOLD : old.sa_handler;
}

HOOK __sighandler_t sigset(int sig, __sighandler_t handler)
{
	if (hook_signal_protected() & signal_bit(sig))
		return set_own(sig, handler);
	return set_handler(NEXT_AS(signal_fn, sigset), sig, handler, 0);
}

/* ---- start and exec ---- */

static void find_functions(void)
{
	struct hook_next *const all[] = {&next_sigaction, &next_signal, &next_sysv_signal,
					 &next_sigset,    &next_siginterrupt};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
	hook_jump_start();
	hook_mask_start();
	hook_altstack_start();
}

void hook_signal_start(void)
{
	find_functions();
	struct sigaction inherited;
	(void)NEXT(sigaction)(RUNTIME_SIGNAL, NULL, &inherited);
	if (inherited.sa_handler == (__sighandler_t)(void *)hook_signal_enter)
		inherited.sa_handler =
			(__sighandler_t)atomic_load(&entries[RUNTIME_SIGNAL].handler);
	hook_signal_protect(RUNTIME_SIGNAL);
	hook_own_start(&inherited);
}

/* ---- a process that was running ---- */

void hook_signal_attach(void)
{
	struct sigaction now;
	find_functions();
	(void)NEXT(sigaction)(RUNTIME_SIGNAL, NULL, &now);
	hook_own_attach(&now);
	hook_signal_protect(RUNTIME_SIGNAL);
}

void hook_signal_join(bool has_blocked)
{
	hook_own_join(has_blocked);
}

void hook_signal_leave(uint64_t *mask)
{
	hook_own_leave(mask);
}

/*
 * The handlers that the program installed while it was measured begin with hook_signal_enter(). No
 * system call for the others: each child of an attached process comes here.
 */
static void give_back_handlers(void)
{
	for (int sig = 1; sig < N_SIGNALS; sig++) {
		struct sigaction now;
		if (!atomic_load_explicit(&entries[sig].handler, memory_order_acquire) ||
		    NEXT(sigaction)(sig, NULL, &now) != 0 ||
		    now.sa_handler != (__sighandler_t)(void *)hook_signal_enter)
			continue;
		now.sa_handler = (__sighandler_t)atomic_load(&entries[sig].handler);
		if (entries[sig].masks_ours)
			hook_signal_set_bits(&now.sa_mask, hook_signal_bits(&now.sa_mask) |
								   signal_bit(RUNTIME_SIGNAL));
		if (sig == SIGBUS && !bus.asked_siginfo)
			now.sa_flags &= ~SA_SIGINFO;
		(void)NEXT(sigaction)(sig, &now, NULL);
	}
}

void hook_signal_detach(void)
{
	atomic_fetch_and_explicit(&protected_bits, ~signal_bit(RUNTIME_SIGNAL),
				  memory_order_relaxed);
	hook_own_detach();
	give_back_handlers();
	hook_signal_bus_end();
}
