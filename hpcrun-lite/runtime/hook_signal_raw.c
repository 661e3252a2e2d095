/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's signal table and mask by system calls, past libc and the hooks; see hook_signal_internal.h. Test: tests/cli/sacred_signal.sh. */
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/hook_signal_internal.h"

/* The kernel's own struct sigaction. */
struct disposition {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static struct disposition ours;

uint64_t hook_signal_raw_mask(int how, uint64_t bits)
{
	uint64_t before = 0;
	sys_call4(SYS_rt_sigprocmask, how, (long)&bits, (long)&before, sizeof bits);
	return before;
}

void hook_signal_raw_default(int sig)
{
	struct disposition by_default = {0};
	sys_call4(SYS_rt_sigaction, sig, (long)&by_default, 0, sizeof by_default.mask);
}

void hook_signal_raw_die(int sig)
{
	hook_signal_raw_default(sig);
	sys_call3(SYS_tgkill, sys_getpid(), sys_gettid(), sig);
	hook_signal_raw_mask(SIG_UNBLOCK, hook_signal_bit(sig));
}

void hook_signal_raw_ignore(void)
{
	struct disposition ignore = {.handler = (void *)SIG_IGN};
	sys_call4(SYS_rt_sigaction, RUNTIME_SIGNAL, (long)&ignore, (long)&ours, sizeof ours.mask);
}

void hook_signal_raw_restore(void)
{
	sys_call4(SYS_rt_sigaction, RUNTIME_SIGNAL, (long)&ours, 0, sizeof ours.mask);
}
