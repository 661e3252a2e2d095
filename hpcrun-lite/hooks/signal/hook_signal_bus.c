/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGBUS. If another process truncates the measurement file, a write beyond its end raises this
 * signal. We repair this fault and end the measurement; every other SIGBUS is the program's. While
 * the program leaves SIGBUS at its default action, hook_signal_on_bus() is the handler. Otherwise
 * hook_signal.c calls hook_signal_mends() before the program's handler. Signal-safe. Test:
 * tests/cli/sacred/sacred_file.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/signal/hook_signal_internal.h"
#include "hpcrun-lite/runtime/runtime.h"

/*
 * Blocks the signal and sends it again. The kernel may not show whether it was sent to the thread
 * or the process (Linux 6.18 gives SI_USER for both); most are sent to the process. If we pass the
 * thread's own id, the kernel accepts any si_code, and rt_sigqueueinfo still sends to the process.
 */
static void resend_blocked(siginfo_t *info, ucontext_t *context)
{
	const uint64_t mask = hook_signal_bits(&context->uc_sigmask);
	hook_signal_set_bits(&context->uc_sigmask, mask | signal_bit(SIGBUS));
	if (info->si_code == SI_TKILL)
		sys_call4(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), SIGBUS, (long)info);
	else
		sys_call3(SYS_rt_sigqueueinfo, sys_gettid(), SIGBUS, (long)info);
}

bool hook_signal_mends(siginfo_t *info, ucontext_t *context)
{
	if (info->si_code > 0)
		return runtime_mend_file(info->si_addr);
	if (!runtime_is_inside() && !file_fault_is_open())
		return false;
	resend_blocked(info, context);
	return true;
}

static unsigned long flags_again;

void hook_signal_bus_again(unsigned long flags)
{
	flags_again = flags;
	signal_table_install(SIGBUS, hook_signal_on_bus, flags, 0);
}

static bool is_raised_by_instruction(const siginfo_t *info)
{
	return info->si_code >= BUS_ADRALN && info->si_code <= BUS_MCEERR_AR;
}

void hook_signal_on_bus(int sig, siginfo_t *info, void *context)
{
	if (hook_signal_mends(info, context)) {
		if (flags_again & SA_RESETHAND)
			hook_signal_bus_again(flags_again);
		return;
	}
	runtime_fatal_signal(sig);
	if (is_raised_by_instruction(info))
		signal_table_default(sig); /* the instruction faults again and ends the process */
	else
		signal_table_die(sig);
}

void hook_signal_bus_end(void)
{
	if (signal_table_calls(SIGBUS, hook_signal_on_bus))
		signal_table_default(SIGBUS);
}

void hook_signal_bus_start(void)
{
	if (signal_table_is_default(SIGBUS))
		signal_table_install(SIGBUS, hook_signal_on_bus, SA_SIGINFO, 0);
}
