/* SPDX-License-Identifier: BSD-3-Clause */
/* See signal_table.h. Test: tests/cli/sacred/sacred_signal.sh. */
#include "hpcrun-lite/runtime/signal_table.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/runtime.h"

/* The kernel's own struct sigaction. */
struct disposition {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

static struct disposition ours;

/* The code to which a handler returns. */
void signal_table_restorer(void);
MACHINE_RESTORER(signal_table_restorer);

#define SA_RESTORER 0x04000000ul /* the kernel's flag */

bool signal_table_install(int sig, void (*handler)(int, siginfo_t *, void *), unsigned long flags,
			  uint64_t mask)
{
	const struct disposition d = {
		.handler = (void *)handler,
		.flags = flags | SA_RESTORER,
		.restorer = (void *)signal_table_restorer,
		.mask = mask,
	};
	return sys_call4(SYS_rt_sigaction, sig, (long)&d, 0, sizeof d.mask) == 0;
}

static bool read_on_stack(int sig, struct disposition *now)
{
	return sys_call4(SYS_rt_sigaction, sig, 0, (long)now, sizeof now->mask) == 0 &&
	       now->handler != (void *)SIG_DFL && now->handler != (void *)SIG_IGN &&
	       (now->flags & SA_ONSTACK);
}

void *signal_table_on_stack(int sig)
{
	struct disposition now;
	return read_on_stack(sig, &now) ? now.handler : NULL;
}

void signal_table_change(int sig, uint64_t mask, unsigned long flags)
{
	struct disposition now;
	if (!read_on_stack(sig, &now))
		return;
	now.mask |= mask;
	now.flags &= ~flags;
	sys_call4(SYS_rt_sigaction, sig, (long)&now, 0, sizeof now.mask);
}

uint64_t signal_table_mask(int how, uint64_t bits)
{
	uint64_t before = 0;
	sys_call4(SYS_rt_sigprocmask, how, (long)&bits, (long)&before, sizeof bits);
	return before;
}

uint64_t signal_table_block_own(void)
{
	return signal_table_mask(SIG_BLOCK, signal_bit(RUNTIME_SIGNAL));
}

bool signal_table_calls(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct disposition now = {0};
	return sys_call4(SYS_rt_sigaction, sig, 0, (long)&now, sizeof now.mask) != 0 ||
	       now.handler == (void *)handler;
}

bool signal_table_is_default(int sig)
{
	struct disposition now = {0};
	return sys_call4(SYS_rt_sigaction, sig, 0, (long)&now, sizeof now.mask) == 0 &&
	       now.handler == (void *)SIG_DFL;
}

void signal_table_default(int sig)
{
	struct disposition by_default = {0};
	sys_call4(SYS_rt_sigaction, sig, (long)&by_default, 0, sizeof by_default.mask);
}

void signal_table_die(int sig)
{
	signal_table_default(sig);
	sys_call3(SYS_tgkill, sys_getpid(), sys_gettid(), sig);
	signal_table_mask(SIG_UNBLOCK, signal_bit(sig));
}

void signal_table_ignore(void)
{
	struct disposition ignore = {.handler = (void *)SIG_IGN};
	sys_call4(SYS_rt_sigaction, RUNTIME_SIGNAL, (long)&ignore, (long)&ours, sizeof ours.mask);
}

void signal_table_restore(void)
{
	sys_call4(SYS_rt_sigaction, RUNTIME_SIGNAL, (long)&ours, 0, sizeof ours.mask);
}
