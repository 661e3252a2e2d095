/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks in nanoseconds. Signal-safe, errno untouched (clock_gettime on these clocks cannot fail). Test: tests/unit/test_safe.c.
 */
#ifndef COMMON_SAFE_CLOCK_H
#define COMMON_SAFE_CLOCK_H

#include "common/safe/sys.h"

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

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
