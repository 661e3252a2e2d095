/* SPDX-License-Identifier: BSD-3-Clause */
/* See waits.h. Test: tests/unit/prof/test_expand.c. */
#include "hpcprof-lite/attribute/expand/waits.h"

uint8_t waits_placeholder(uint64_t synthetic)
{
	uint64_t wait = synthetic - MSR_WAIT;
	return wait < MSR_N_WAITS ? (uint8_t)(1 + wait) : MODEL_WAIT_UNKNOWN;
}

const char *waits_name(uint8_t wait)
{
	static const char *const names[MSR_N_WAITS] = {
		[MSR_WAIT_OMP_END] = "<waits at the end of the region>",
		[MSR_WAIT_FUTEX] = "<blocked: futex>",
		[MSR_WAIT_SLEEP] = "<blocked: sleep>",
		[MSR_WAIT_POLL] = "<blocked: poll>",
		[MSR_WAIT_FILE] = "<blocked: file>",
		[MSR_WAIT_SOCKET] = "<blocked: socket>",
		[MSR_WAIT_PIPE] = "<blocked: pipe or terminal>",
		[MSR_WAIT_CHILD] = "<blocked: child process>",
		[MSR_WAIT_SIGNAL] = "<blocked: signal>",
		[MSR_WAIT_SYNC] = "<blocked: write to disk>",
		[MSR_WAIT_DEVICE] = "<blocked: device>",
		[MSR_WAIT_OTHER] = "<blocked: other system call>",
		[MSR_WAIT_RUN_QUEUE] = "<ready, no processor>",
		[MSR_WAIT_MEMORY] = "<blocked: page fault>",
		[MSR_WAIT_STOPPED] = "<stopped>",
		[MSR_WAIT_QUEUE] = "<blocked: message queue>",
		[MSR_WAIT_SEMAPHORE] = "<blocked: semaphore>",
		[MSR_WAIT_IO_URING] = "<blocked: io_uring>",
		[MSR_WAIT_THREAD] = "<blocked: another thread>",
	};
	return wait <= MSR_N_WAITS ? names[wait - 1] : "<blocked: unknown cause>";
}
