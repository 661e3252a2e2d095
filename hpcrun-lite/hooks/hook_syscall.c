/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syscall() and prctl(), for the few calls that affect the measurement: exec (the new program is
 * measured, too), a fork that bypasses libc, the end of the process, our signal, alternate signal
 * stacks, and disabling rdtsc. A filter on system calls (seccomp) or their dispatch to the program
 * could kill the program when we make our own calls. All other calls pass through with their
 * arguments untouched. Test: tests/cli/sacred/sacred_syscall.sh.
 */
#include "hpcrun-lite/hooks/hook_syscall.h"

#include "common/safe/clock.h"
#include "common/safe/load.h"
#include "common/safe/newer.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long syscall_fn(long, long, long, long, long, long);
typedef int prctl_fn(int, long, long, long, long);

static struct hook_next next_prctl = {"prctl", NULL};

/* ---- filters ---- */

/* libseccomp probes the kernel with calls that it refuses; these install no filter. */
static bool is_filter(uintptr_t program)
{
	struct sock_fprog p;
	return load_guarded(&p, program, sizeof p) == sizeof p && p.len > 0 &&
	       p.len <= BPF_MAXINSNS;
}

/* Call directly before the system call. `mode` is the argument of prctl. */
static void before_filter(long mode, long program)
{
	if (mode == SECCOMP_MODE_STRICT ||
	    (mode == SECCOMP_MODE_FILTER && is_filter((uintptr_t)program)))
		runtime_withdraw("the program restricts its system calls (seccomp), under which it "
				 "cannot be measured: measurement ends there");
}

/* ---- prctl ---- */

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

/*
 * From here on the thread's system calls raise SIGSYS unless they are made in code that the program
 * names. That includes our calls and the return from our handler. First tries whether the kernel
 * supports it, with a selector byte that allows all calls. Returns false, with errno set, if it
 * does not.
 */
static bool before_dispatch(long mode, long from, long n_bytes)
{
	static const char allow;
	prctl_fn *const next = (prctl_fn *)hook_next(&next_prctl);
	if (mode == 0)
		return true;
	if (next(PR_SET_SYSCALL_USER_DISPATCH, mode, from, n_bytes, (long)&allow) != 0)
		return false;
	runtime_thread_leaves("a thread handles its own system calls (syscall user dispatch), "
			      "under which it cannot be measured: its measurement ends there");
	return true;
}

/* Returns true if the call has failed, with errno set. */
static bool before_prctl(int option, long a, long b, long c)
{
	switch (option) {
	case PR_SET_SECCOMP: before_filter(a, b); break;
	case PR_SET_TSC:
		if (a == PR_TSC_SIGSEGV)
			clock_without_tsc();
		break;
	case PR_SET_SYSCALL_USER_DISPATCH: return !before_dispatch(a, b, c);
	default: break;
	}
	return false;
}

/* ---- hooks ---- */

struct hook_next hook_syscall_next = {"syscall", NULL};
const unsigned char hook_syscall_is_special[MACHINE_SPECIAL_CALLS] = {
	[SYS_execve] = 1,         [SYS_execveat] = 1,         [SYS_exit_group] = 1,
	[SYS_prctl] = 1,          [SYS_seccomp] = 1,          [SYS_rt_sigaction] = 1,
	[SYS_rt_sigprocmask] = 1, [SYS_rt_sigpending] = 1,    [SYS_rt_sigtimedwait] = 1,
	[SYS_rt_sigsuspend] = 1,  [SYS_signalfd4] = 1,        [SYS_sigaltstack] = 1,
	[SYS_setuid] = 1,         [SYS_setreuid] = 1,         [SYS_setresuid] = 1,
	[SYS_setfsuid] = 1,       [SYS_capset] = 1,           [SYS_chroot] = 1,
	[SYS_clone] = 1,          MACHINE_OLDER_SPECIAL_CALLS};
_Static_assert(offsetof(struct hook_next, function) == 8 && offsetof(struct wait_noted, value) == 8,
	       "as in the assembly");
MACHINE_HOOK_SYSCALL;

/* The kernel's struct sigaction. */
struct disposition {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/*
 * Sets the disposition of the sampling signal. It must not reach the kernel, or sampling would end.
 */
static long set_disposition(const struct disposition *act, struct disposition *old)
{
	struct disposition d;
	struct sigaction now = {0}, was;
	if (act && load_guarded(&d, (uintptr_t)act, sizeof d) != sizeof d) {
		errno = EFAULT;
		return -1;
	}
	if (act) {
		now.sa_handler = (__sighandler_t)d.handler;
		now.sa_flags = (int)d.flags;
		hook_signal_set_bits(&now.sa_mask, d.mask);
	}
	if (sigaction(RUNTIME_SIGNAL, act ? &now : NULL, &was) != 0)
		return -1;
	if (old)
		*old = (struct disposition){(void *)was.sa_handler, (unsigned)was.sa_flags, NULL,
					    hook_signal_bits(&was.sa_mask)};
	return 0;
}

/* Returns the argument of a signal call that is the size of its set; 0 for another call. */
static long set_bytes(long number, long b, long c, long d)
{
	switch (number) {
	case SYS_rt_sigprocmask:
	case SYS_rt_sigtimedwait: return d;
	case SYS_rt_sigpending:
	case SYS_rt_sigsuspend: return b;
	case SYS_signalfd:
	case SYS_signalfd4: return c;
	default: return 0;
	}
}

static long signal_call(long number, long a, long b, long c, long d)
{
	sigset_t set = {0};
	uint64_t bits = 0;
	const bool is_descriptor = number == SYS_signalfd || number == SYS_signalfd4;
	if (number == SYS_rt_sigprocmask)
		return hook_mask_by_number((int)a, (const uint64_t *)b, (uint64_t *)c);
	if (load_guarded(&bits, (uintptr_t)(is_descriptor ? b : a), sizeof bits) != sizeof bits) {
		errno = EFAULT;
		return -1;
	}
	hook_signal_set_bits(&set, bits);
	switch (number) {
	case SYS_rt_sigpending:
		if (sigpending(&set) != 0)
			return -1;
		*(uint64_t *)a = hook_signal_bits(&set);
		return 0;
	case SYS_rt_sigtimedwait:
		return sigtimedwait(&set, (siginfo_t *)b, (const struct timespec *)c);
	case SYS_rt_sigsuspend: return sigsuspend(&set);
	default: return signalfd((int)a, &set, number == SYS_signalfd4 ? (int)d : 0);
	}
}

/* All calls that are handled here have at most five arguments. */
syscall_fn hook_syscall_special;
long hook_syscall_special(long number, long a, long b, long c, long d, long e)
{
	bool is_ours = runtime_config() != NULL;
	if (is_ours && set_bytes(number, b, c, d) == (long)sizeof(uint64_t))
		return signal_call(number, a, b, c, d);
	switch (is_ours ? number : -1) {
	case SYS_execve: return execve((const char *)a, (char *const *)b, (char *const *)c);
	case SYS_execveat:
		return execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d,
				(int)e);
	case SYS_exit_group: _exit((int)a);
	case SYS_rt_sigaction:
		if (a == RUNTIME_SIGNAL && d == (long)sizeof(uint64_t))
			return set_disposition((const struct disposition *)b,
					       (struct disposition *)c);
		break;
	case SYS_sigaltstack: return sigaltstack((const stack_t *)a, (stack_t *)b);
	case SYS_prctl:
		if (before_prctl((int)a, b, c, d))
			return -1;
		break;
	case SYS_setuid:
	case SYS_setreuid:
	case SYS_setresuid:
	case SYS_setfsuid:
	case SYS_capset:
	case SYS_chroot: runtime_need_file(); break; /* see hook_user.c */
	case SYS_seccomp: /* libseccomp probes with other flags */
		if (a == SECCOMP_SET_MODE_FILTER ||
		    (b == 0 && c == 0 && a == SECCOMP_SET_MODE_STRICT))
			before_filter(a == SECCOMP_SET_MODE_FILTER ? SECCOMP_MODE_FILTER
								   : SECCOMP_MODE_STRICT,
				      c);
		break;
	case SYS_fork:
	case SYS_clone: runtime_fork_begins(); break;
	default: break;
	}
	long result = ((syscall_fn *)hook_next(&hook_syscall_next))(number, a, b, c, d, e);
	if (is_ours && (number == SYS_fork || number == SYS_clone))
		runtime_fork_ends(result == 0);
	return result;
}

/* <sys/prctl.h> declares it with variable arguments, which are in the same registers. */
prctl_fn prctl_of_four __asm__("prctl");
HOOK int prctl_of_four(int option, long a, long b, long c, long d)
{
	if (runtime_config() && before_prctl(option, a, b, c))
		return -1;
	return ((prctl_fn *)hook_next(&next_prctl))(option, a, b, c, d);
}

void hook_syscall_start(void)
{
	hook_next_find(&hook_syscall_next);
	hook_next_find(&next_prctl);
}
