/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nanosleep and related functions, which libc implements with clock_nanosleep. Our handler restarts
 * it with the remaining time that the kernel writes, so we always pass a buffer for it; see
 * hook_wait.h. We write the program's own buffer if the sleep ends early. Test:
 * tests/cli/sacred/sacred_wait.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/hooks/wait/hook_wait_number.h"
#include "hpcrun-lite/runtime/next.h"

#include <errno.h>
#include <stdbool.h>
#include <threads.h>
#include <unistd.h>

HOOK_NEXT(clock_nanosleep);
HOOK_NEXT(sleep);
HOOK_NEXT(thrd_sleep);

/* Returns the error instead of setting errno. */
HOOK int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
			 struct timespec *rest)
{
	struct timespec left;
	const bool absolute = flags & TIMER_ABSTIME;
	wait_begin(SYS_clock_nanosleep, false, clock);
	int result = NEXT(clock_nanosleep)(clock, flags, wanted, absolute ? NULL : &left);
	wait_end();
	if (result == EINTR && rest && !absolute)
		*rest = left;
	return result;
}

/* As in libc since 2.31. Earlier versions made the nanosleep system call. */
HOOK int nanosleep(const struct timespec *wanted, struct timespec *rest)
{
	int error = clock_nanosleep(CLOCK_REALTIME, 0, wanted, rest);
	if (error)
		errno = error;
	return error ? -1 : 0;
}

HOOK unsigned sleep(unsigned seconds)
{
	wait_begin(SYS_clock_nanosleep, false, CLOCK_REALTIME);
	unsigned left = NEXT(sleep)(seconds);
	wait_end();
	return left;
}

/* Like libc's, which does not ask the kernel for the remaining time. */
HOOK int usleep(useconds_t us)
{
	return nanosleep(&(struct timespec){us / 1000000, (long)(us % 1000000) * 1000}, NULL);
}

HOOK int thrd_sleep(const struct timespec *wanted, struct timespec *rest)
{
	struct timespec left;
	wait_begin(SYS_clock_nanosleep, false, CLOCK_REALTIME);
	int result = NEXT(thrd_sleep)(wanted, &left);
	wait_end();
	if (result == -1 && rest) /* interrupted */
		*rest = left;
	return result;
}

void hook_wait_start(void)
{
	struct hook_next *const all[] = {&next_clock_nanosleep, &next_sleep, &next_thrd_sleep};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
	wait_number_start();
}
