/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clocks in nanoseconds. Signal-safe; errno is unchanged. Test: tests/unit/common/test_safe.c.
 *
 * They call the vDSO or the kernel, never libc's clock_gettime. The program or another preloaded
 * library (libfaketime, ThreadSanitizer) may have replaced that with a version that takes a lock or
 * returns another time.
 */
#ifndef COMMON_SAFE_CLOCK_H
#define COMMON_SAFE_CLOCK_H

#include "common/safe/sys.h"

#include <stdint.h>
#include <time.h>

/* For clocks that cannot fail, such as CLOCK_MONOTONIC and CLOCK_REALTIME. */
uint64_t clock_ns(clockid_t clock);

/* From now on clock_ns() makes system calls: the vDSO's rdtsc would raise SIGSEGV. */
void clock_without_tsc(void);

/* The clock of all times in the measurement file. Takes 22 ns through the vDSO. */
static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/*
 * A counter that runs at a constant rate, for short times. Takes 4 to 10 ns, as the processor does
 * not wait for the instructions before it.
 */
static inline uint64_t clock_ticks(void)
{
	return machine_ticks();
}

/* CPU time of the calling thread. A system call of about 250 ns. */
static inline uint64_t clock_thread_cpu_ns(void)
{
	return sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* CPU time of another thread of this process, by tid. Returns 0 if the thread has ended. */
static inline uint64_t clock_other_cpu_ns(int tid)
{
	/* CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED, as the kernel encodes the clock */
	return sys_clock_ns((int)(~(unsigned)tid << 3 | 4u | 2u));
}

#endif
