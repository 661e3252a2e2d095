/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping: nanosleep and its kin go on when only a signal of ours woke them; see hook_wait.h. Test: tests/cli/sacred_wait.sh. */
#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/hook_next.h"
#include "hpcrun-lite/runtime/hook_wait.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <threads.h>
#include <unistd.h>

HOOK_NEXT(nanosleep);
HOOK_NEXT(clock_nanosleep);
HOOK_NEXT(sleep);
HOOK_NEXT(usleep);
HOOK_NEXT(thrd_sleep);

/* Sleeps on; -1 with errno EINTR and what is left in *rest (may be NULL) when a handler of the program's ran. */
static int sleep_on(const struct wait_mark *mark, uint64_t deadline, struct timespec *rest)
{
	if (wait_sleep(mark, deadline))
		return 0;
	if (rest)
		wait_left(deadline, rest);
	return -1;
}

HOOK int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
	struct wait_mark mark = wait_mark();
	uint64_t deadline = wait_deadline(wanted);
	struct timespec now_rest; /* the program's is written for an end that it sees */
	int result = NEXT(nanosleep)(wanted, &now_rest);
	if (result < 0 && wait_was_ours(&mark))
		return sleep_on(&mark, deadline, rest);
	if (result < 0 && errno == EINTR && rest)
		*rest = now_rest;
	return result;
}

/* A point in time of `clock` as one of CLOCK_MONOTONIC; later changes of that clock are not followed. */
static uint64_t absolute_deadline(clockid_t clock, const struct timespec *when)
{
	struct timespec now;
	clock_gettime(clock, &now);
	int64_t left_ns = (int64_t)(when->tv_sec - now.tv_sec) * 1000000000 + (when->tv_nsec - now.tv_nsec);
	return clock_mono_ns() + (left_ns > 0 ? (uint64_t)left_ns : 0);
}

/* Returns the error instead of setting errno. */
HOOK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *rest)
{
	struct wait_mark mark = wait_mark();
	bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI;
	uint64_t deadline = !known ? 0 : flags & TIMER_ABSTIME ? absolute_deadline(clock, wanted) : wait_deadline(wanted);
	int saved = errno;
	struct timespec now_rest;
	bool absolute = flags & TIMER_ABSTIME;
	int result = NEXT(clock_nanosleep)(clock, flags, wanted, absolute ? NULL : &now_rest);
	errno = result;
	if (known && result == EINTR && wait_was_ours(&mark))
		result = sleep_on(&mark, deadline, absolute ? NULL : rest) == 0 ? 0 : EINTR;
	else if (result == EINTR && rest && !absolute)
		*rest = now_rest;
	errno = saved;
	return result;
}

/* libc tells the whole seconds that are left: 0 may still be an early end. */
HOOK unsigned sleep(unsigned seconds)
{
	struct wait_mark mark = wait_mark();
	struct timespec wanted = {(time_t)seconds, 0}, left;
	uint64_t deadline = wait_deadline(&wanted);
	int saved = errno;
	unsigned result = NEXT(sleep)(seconds);
	wait_left(deadline, &left);
	if (left.tv_sec == 0 && left.tv_nsec == 0)
		return result;
	errno = EINTR;
	if (!wait_was_ours(&mark))
		return result;
	if (wait_sleep(&mark, deadline)) {
		errno = saved;
		return 0;
	}
	wait_left(deadline, &left);
	return (unsigned)left.tv_sec;
}

HOOK int usleep(useconds_t us)
{
	struct wait_mark mark = wait_mark();
	struct timespec wanted = {us / 1000000, (long)(us % 1000000) * 1000};
	uint64_t deadline = wait_deadline(&wanted);
	int result = NEXT(usleep)(us);
	return result < 0 && wait_was_ours(&mark) ? sleep_on(&mark, deadline, NULL) : result;
}

HOOK int thrd_sleep(const struct timespec *wanted, struct timespec *rest)
{
	struct wait_mark mark = wait_mark();
	uint64_t deadline = wait_deadline(wanted);
	struct timespec now_rest;
	int result = NEXT(thrd_sleep)(wanted, &now_rest);
	if (result != -1) /* -1: interrupted */
		return result;
	int saved = errno;
	errno = EINTR;
	if (wait_was_ours(&mark))
		result = sleep_on(&mark, deadline, rest);
	else if (rest)
		*rest = now_rest;
	errno = saved;
	return result;
}

void hook_sleep_start(void)
{
	struct hook_next *const all[] = {&next_nanosleep, &next_clock_nanosleep, &next_sleep, &next_usleep, &next_thrd_sleep};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
