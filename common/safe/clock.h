/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks in nanoseconds. Signal-safe, errno untouched. They call the kernel's vDSO, or the kernel, and never libc's clock_gettime: the program or another
 * preloaded library (libfaketime, ThreadSanitizer) may have put its own in front, which can lock or lie. Test: tests/unit/test_safe.c.
 */
#ifndef COMMON_SAFE_CLOCK_H
#define COMMON_SAFE_CLOCK_H

#include "common/safe/sys.h"

#include <stdint.h>
#include <time.h>

/* Any clock that cannot fail: CLOCK_MONOTONIC, CLOCK_REALTIME and the like. */
uint64_t clock_ns(clockid_t clock);

/* All times in the measurement file are of this clock; 22 ns through the vdso. */
static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread; a system call of about 250 ns. */
static inline uint64_t clock_thread_cpu_ns(void)
{
	return sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* CPU time of another thread of this process, by tid; 0 when it is gone. */
static inline uint64_t clock_other_cpu_ns(int tid)
{
	/* CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED: the kernel's encoding, as in clock_getcpuclockid(3) */
	return sys_clock_ns((int)(~(unsigned)tid << 3 | 4u | 2u));
}

#endif
