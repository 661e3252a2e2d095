/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A clock in nanoseconds, for the tools; common/safe/clock.h is for the measured process. Test:
 * tests/cli/live/live_run.sh.
 */
#ifndef COMMON_BASE_NOW_H
#define COMMON_BASE_NOW_H

#include <stdint.h>
#include <time.h>

/* For clocks that cannot fail, such as CLOCK_MONOTONIC. */
static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_mono_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

#endif
