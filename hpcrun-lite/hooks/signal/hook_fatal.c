/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records a fatal signal; see hook_fatal.h. The handler writes only 24 bytes, with a system call,
 * because the file and our memory may be damaged. Then it restores the default action and sends the
 * signal again with its data, so that the parent, the core file and a debugger see the original. If
 * the handler cannot run (stack overflow, signal blocked), the kernel takes the default action
 * itself. Test: tests/cli/run/run_ends.sh.
 */
#include "hpcrun-lite/hooks/signal/hook_fatal.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <stdatomic.h>

static struct hook_next next_sigaction = {"sigaction", NULL};
#define NEXT_SIGACTION ((__typeof__(&sigaction))hook_next(&next_sigaction))

#define N_CLASSIC 32

/*
 * Signals with which users, shells and batch systems end programs, and with which programs end
 * themselves. We leave SIGTRAP and SIGSYS to debuggers and filters. hook_signal_bus.c handles
 * SIGBUS.
 */
static const uint8_t fatal[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGFPE, SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE,
	SIGALRM, SIGTERM, SIGXCPU, SIGXFSZ,
};

static _Atomic bool active;

/* The program's action for each signal for which the kernel has our handler. */
static struct sigaction view[N_CLASSIC];

static bool is_fatal(int sig)
{
	for (size_t i = 0; i < sizeof fatal; i++)
		if (fatal[i] == sig)
			return true;
	return false;
}

static void on_fatal(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	(void)context;
	runtime_fatal_signal(sig);
	signal_table_default(sig);
	if (sys_call4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), sig, (long)info) != 0)
		sys_call3(SYS_tgkill, sys_getpid(), sys_gettid(), sig);
	/* The signal is delivered when the mask is restored: directly after this handler. */
	errno = saved;
}

static bool is_ours(const struct sigaction *act)
{
	return act->sa_flags & SA_SIGINFO && act->sa_sigaction == on_fatal;
}

void hook_fatal_adopt(int sig)
{
	struct sigaction was, old, ours = {
		.sa_sigaction = on_fatal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	if (!atomic_load_explicit(&active, memory_order_relaxed) || !is_fatal(sig)
	    || !hook_signal_may_change() || NEXT_SIGACTION(sig, NULL, &was) != 0
	    || was.sa_handler != SIG_DFL)
		return;
	view[sig] = was;
	/* Do not block faults in the handler itself. */
	hook_signal_set_bits(&ours.sa_mask, ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS)));
	if (NEXT_SIGACTION(sig, &ours, &old) == 0 && old.sa_handler != SIG_DFL && !is_ours(&old))
		/* another thread installed a handler first: keep it */
		NEXT_SIGACTION(sig, &old, NULL);
}

void hook_fatal_show(int sig, struct sigaction *act)
{
	if (sig > 0 && sig < N_CLASSIC && is_ours(act))
		*act = view[sig];
}

__sighandler_t hook_fatal_unwrap(__sighandler_t handler)
{
	return handler == (__sighandler_t)(void *)on_fatal ? SIG_DFL : handler;
}

void hook_fatal_start(void)
{
	/*
	 * The kernel does not send the first process of a container any signal that has its default
	 * action.
	 */
	if (sys_getpid() == 1)
		return;
	hook_next_find(&next_sigaction);
	atomic_store_explicit(&active, true, memory_order_relaxed);
	for (size_t i = 0; i < sizeof fatal; i++)
		hook_fatal_adopt(fatal[i]);
}

void hook_fatal_end(void)
{
	struct sigaction now;
	if (!atomic_exchange_explicit(&active, false, memory_order_relaxed))
		return;
	for (size_t i = 0; i < sizeof fatal; i++)
		if (NEXT_SIGACTION(fatal[i], NULL, &now) == 0 && is_ours(&now))
			NEXT_SIGACTION(fatal[i], &view[fatal[i]], NULL);
}
