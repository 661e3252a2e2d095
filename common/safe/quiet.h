/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks signals while we change something that must not stay half done: a signal handler of the
 * program may jump out of the change or end the thread. SIGBUS stays unblocked, because with it
 * blocked a fault in the measurement file would end the process. Signal-safe, may be nested. Test:
 * tests/cli/gpu/gpu_core.sh ("threads end out of launches").
 */
#ifndef COMMON_SAFE_QUIET_H
#define COMMON_SAFE_QUIET_H

#include "common/safe/sys.h"

#include <signal.h>
#include <stdint.h>

/* Returns the mask for quiet_end(). */
static inline uint64_t quiet_begin(void)
{
	const uint64_t all_but_bus = ~(UINT64_C(1) << (SIGBUS - 1));
	uint64_t old = 0;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all_but_bus, (long)&old, sizeof old);
	return old;
}

static inline void quiet_end(uint64_t old)
{
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old);
}

#endif
