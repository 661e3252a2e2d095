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

/* To where a handler returns. The bytes are libc's, by which debuggers and unwinders know a signal frame. */
void hook_signal_restorer(void);
__asm__(
	".pushsection .text\n"
	".balign 16\n"
	"nop\n"
	".hidden hook_signal_restorer\n"
	".globl hook_signal_restorer\n"
	".type hook_signal_restorer, @function\n"
	"hook_signal_restorer:\n"
	"movq $15, %rax\n" /* SYS_rt_sigreturn */
	"syscall\n"
	".size hook_signal_restorer, .-hook_signal_restorer\n"
	".popsection\n");

#define SA_RESTORER 0x04000000ul /* of the kernel */

bool hook_signal_raw_install(int sig, void (*handler)(int, siginfo_t *, void *), unsigned long flags, uint64_t mask)
{
	const struct disposition d = {
		.handler = (void *)handler,
		.flags = flags | SA_RESTORER,
		.restorer = (void *)hook_signal_restorer,
		.mask = mask,
	};
	return sys_call4(SYS_rt_sigaction, sig, (long)&d, 0, sizeof d.mask) == 0;
}

uint64_t hook_signal_raw_mask(int how, uint64_t bits)
{
	uint64_t before = 0;
	sys_call4(SYS_rt_sigprocmask, how, (long)&bits, (long)&before, sizeof bits);
	return before;
}

bool hook_signal_raw_is_default(int sig)
{
	struct disposition now = {0};
	return sys_call4(SYS_rt_sigaction, sig, 0, (long)&now, sizeof now.mask) == 0 && now.handler == (void *)SIG_DFL;
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
