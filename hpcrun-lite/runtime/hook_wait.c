/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for descriptors: poll, select, epoll; and what all hooks of waits share; see hook_wait.h. Test: tests/cli/sacred_wait.sh. */
#include "hpcrun-lite/runtime/hook_wait.h"

#include "common/safe/clock.h"
#include "hpcrun-lite/runtime/hook_next.h"
#include "hpcrun-lite/runtime/hook_signal_internal.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>

#define NS 1000000000u

HOOK_NEXT(poll);
HOOK_NEXT(ppoll);
HOOK_NEXT(select);
HOOK_NEXT(pselect);
HOOK_NEXT(epoll_wait);
HOOK_NEXT(epoll_pwait);

/* ---- shared --------------------------------------------------------------------------------------------------- */

struct wait_mark wait_mark(void)
{
	return (struct wait_mark){runtime_n_signals(), hook_signal_n_handlers()};
}

bool wait_was_ours(const struct wait_mark *mark)
{
	return errno == EINTR && mark->ours != runtime_n_signals() && mark->handlers == hook_signal_n_handlers();
}

bool wait_block(const struct wait_mark *mark, sigset_t *open)
{
	uint64_t before = hook_signal_raw_mask(SIG_BLOCK, ~UINT64_C(0));
	if (mark->handlers != hook_signal_n_handlers()) {
		hook_signal_raw_mask(SIG_SETMASK, before);
		errno = EINTR;
		return false;
	}
	sigemptyset(open);
	hook_signal_set_bits(open, before);
	return true;
}

void wait_unblock(const sigset_t *open)
{
	int saved = errno;
	hook_signal_raw_mask(SIG_SETMASK, hook_signal_bits(open));
	errno = saved;
}

uint64_t wait_deadline(const struct timespec *timeout)
{
	if (!timeout)
		return WAIT_FOREVER;
	if (timeout->tv_sec < 0 || (uint64_t)timeout->tv_sec > UINT64_MAX / NS / 4)
		return timeout->tv_sec < 0 ? 0 : WAIT_FOREVER;
	return clock_mono_ns() + (uint64_t)timeout->tv_sec * NS + (uint64_t)timeout->tv_nsec;
}

struct timespec *wait_left(uint64_t deadline_ns, struct timespec *left)
{
	if (deadline_ns == WAIT_FOREVER)
		return NULL;
	uint64_t now = clock_mono_ns(), n = now < deadline_ns ? deadline_ns - now : 0;
	*left = (struct timespec){(time_t)(n / NS), (long)(n % NS)};
	return left;
}

/* ppoll again and again, as long as only signals of ours end it. `waiting` is the mask of the wait, NULL for the thread's own. */
static int poll_on(const struct wait_mark *mark, struct pollfd *fds, nfds_t n, uint64_t deadline_ns, const sigset_t *waiting)
{
	int result = -1;
	do {
		struct timespec left;
		sigset_t open;
		if (!wait_block(mark, &open))
			return -1;
		result = NEXT(ppoll)(fds, n, wait_left(deadline_ns, &left), waiting ? waiting : &open);
		wait_unblock(&open);
	} while (result < 0 && wait_was_ours(mark));
	return result;
}

bool wait_sleep(const struct wait_mark *mark, uint64_t deadline_ns)
{
	return poll_on(mark, NULL, 0, deadline_ns, NULL) == 0;
}

/* ---- poll ------------------------------------------------------------------------------------------------------- */

static uint64_t deadline_ms(int timeout_ms)
{
	struct timespec t = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
	return wait_deadline(timeout_ms < 0 ? NULL : &t);
}

HOOK int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (timeout_ms == 0)
		return NEXT(poll)(fds, n, 0);
	struct wait_mark mark = wait_mark();
	uint64_t deadline = deadline_ms(timeout_ms);
	int result = NEXT(poll)(fds, n, timeout_ms);
	return result < 0 && wait_was_ours(&mark) ? poll_on(&mark, fds, n, deadline, NULL) : result;
}

HOOK int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *waiting)
{
	struct wait_mark mark = wait_mark();
	sigset_t copy;
	waiting = hook_signal_strip(waiting, &copy);
	uint64_t deadline = wait_deadline(timeout);
	int result = NEXT(ppoll)(fds, n, timeout, waiting);
	return result < 0 && wait_was_ours(&mark) ? poll_on(&mark, fds, n, deadline, waiting) : result;
}

/* What _FORTIFY_SOURCE makes of them. */
void __chk_fail(void) __attribute__((noreturn));
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *waiting, size_t bytes);

HOOK int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t bytes)
{
	if (bytes / sizeof *fds < n)
		__chk_fail();
	return poll(fds, n, timeout_ms);
}

HOOK int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *waiting, size_t bytes)
{
	if (bytes / sizeof *fds < n)
		__chk_fail();
	return ppoll(fds, n, timeout, waiting);
}

/* ---- select -------------------------------------------------------------------------------------------------------- */

static int select_on(const struct wait_mark *mark, int n, fd_set *read, fd_set *write, fd_set *except, uint64_t deadline_ns,
                     const sigset_t *waiting)
{
	int result = -1;
	do {
		struct timespec left;
		sigset_t open;
		if (!wait_block(mark, &open))
			return -1;
		result = NEXT(pselect)(n, read, write, except, wait_left(deadline_ns, &left), waiting ? waiting : &open);
		wait_unblock(&open);
	} while (result < 0 && wait_was_ours(mark));
	return result;
}

/* The kernel leaves the sets alone when it is interrupted, and writes what is left into the timeout. */
HOOK int select(int n, fd_set *read, fd_set *write, fd_set *except, struct timeval *timeout)
{
	struct wait_mark mark = wait_mark();
	struct timespec t = timeout ? (struct timespec){timeout->tv_sec, timeout->tv_usec * 1000} : (struct timespec){0};
	uint64_t deadline = wait_deadline(timeout ? &t : NULL);
	int result = NEXT(select)(n, read, write, except, timeout);
	if (result >= 0 || !wait_was_ours(&mark))
		return result;
	result = select_on(&mark, n, read, write, except, deadline, NULL);
	if (timeout && wait_left(deadline, &t))
		*timeout = (struct timeval){t.tv_sec, t.tv_nsec / 1000};
	return result;
}

HOOK int pselect(int n, fd_set *read, fd_set *write, fd_set *except, const struct timespec *timeout, const sigset_t *waiting)
{
	struct wait_mark mark = wait_mark();
	sigset_t copy;
	waiting = hook_signal_strip(waiting, &copy);
	uint64_t deadline = wait_deadline(timeout);
	int result = NEXT(pselect)(n, read, write, except, timeout, waiting);
	return result < 0 && wait_was_ours(&mark) ? select_on(&mark, n, read, write, except, deadline, waiting) : result;
}

/* ---- epoll ------------------------------------------------------------------------------------------------------------ */

static int epoll_on(const struct wait_mark *mark, int epoll, struct epoll_event *events, int max, uint64_t deadline_ns,
                    const sigset_t *waiting)
{
	int result = -1;
	do {
		struct timespec left;
		sigset_t open;
		if (!wait_block(mark, &open))
			return -1;
		/* rounded up, as a wait must not end early */
		bool timed = wait_left(deadline_ns, &left) != NULL;
		int64_t ms = timed ? (int64_t)left.tv_sec * 1000 + (left.tv_nsec + 999999) / 1000000 : -1;
		result = NEXT(epoll_pwait)(epoll, events, max, ms > INT_MAX ? INT_MAX : (int)ms, waiting ? waiting : &open);
		wait_unblock(&open);
	} while (result < 0 && wait_was_ours(mark));
	return result;
}

HOOK int epoll_wait(int epoll, struct epoll_event *events, int max, int timeout_ms)
{
	if (timeout_ms == 0)
		return NEXT(epoll_wait)(epoll, events, max, 0);
	struct wait_mark mark = wait_mark();
	uint64_t deadline = deadline_ms(timeout_ms);
	int result = NEXT(epoll_wait)(epoll, events, max, timeout_ms);
	return result < 0 && wait_was_ours(&mark) ? epoll_on(&mark, epoll, events, max, deadline, NULL) : result;
}

HOOK int epoll_pwait(int epoll, struct epoll_event *events, int max, int timeout_ms, const sigset_t *waiting)
{
	struct wait_mark mark = wait_mark();
	sigset_t copy;
	waiting = hook_signal_strip(waiting, &copy);
	uint64_t deadline = deadline_ms(timeout_ms);
	int result = NEXT(epoll_pwait)(epoll, events, max, timeout_ms, waiting);
	return result < 0 && wait_was_ours(&mark) ? epoll_on(&mark, epoll, events, max, deadline, waiting) : result;
}

void hook_wait_start(void)
{
	struct hook_next *const all[] = {&next_poll, &next_ppoll, &next_select, &next_pselect, &next_epoll_wait, &next_epoll_pwait};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
