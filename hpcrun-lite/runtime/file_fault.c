/* SPDX-License-Identifier: BSD-3-Clause */
/* See file_fault.h. Test: tests/cli/sacred/sacred_file.sh. */
#include "hpcrun-lite/runtime/file_fault.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/signal_table.h"

/* The program has blocked SIGBUS in this thread, and we have unblocked it. */
static _Thread_local volatile bool is_opened;

/*
 * Stays closed if a SIGBUS is pending: it would arrive at once, and we could not tell whether it
 * was sent to the thread or to the process.
 */
bool file_fault_open(void)
{
	const uint64_t bus = signal_bit(SIGBUS);
	uint64_t pending = 0;
	if (!(signal_table_mask(SIG_BLOCK, 0) & bus)
	    || sys_call3(SYS_rt_sigpending, (long)&pending, sizeof pending, 0) != 0
	    || (pending & bus))
		return false;
	is_opened = true;
	signal_table_mask(SIG_UNBLOCK, bus);
	return true;
}

void file_fault_close(bool opened)
{
	if (!opened)
		return;
	signal_table_mask(SIG_BLOCK, signal_bit(SIGBUS));
	is_opened = false;
}

bool file_fault_is_open(void)
{
	return is_opened;
}
