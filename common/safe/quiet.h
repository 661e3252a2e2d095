/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks signals while the tool changes what a signal handler of the program, which may jump out of
 * it or end the thread, must not leave half done. SIGBUS stays open: blocked, a fault of the
 * measurement file would end the process. Signal-safe, may be nested. Test:
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
