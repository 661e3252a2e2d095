/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for descriptors: poll, select, epoll. Test: tests/cli/sacred/sacred_wait.sh. */
#include "hpcrun-lite/hooks/hook_poll.h"

#include "common/safe/newer.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/signal/hook_signal.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"
#include "hpcrun-lite/runtime/next.h"

#include <poll.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>

HOOK_NEXT(poll);
HOOK_NEXT(ppoll);
HOOK_NEXT(select);
HOOK_NEXT(pselect);
HOOK_NEXT(epoll_wait);
HOOK_NEXT(epoll_pwait);
HOOK_NEXT(epoll_pwait2);

/* ---- poll ---- */

HOOK int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	hook_signal_look();
	wait_begin(SYS_poll, timeout_ms > 0, (long)fds);
	int result = NEXT(poll)(fds, n, timeout_ms);
	wait_end();
	return result;
}

HOOK int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	       const sigset_t *waiting)
{
	struct signal_wait w;
	if (!hook_signal_wait_begin(&w, waiting))
		return -1;
	wait_begin(SYS_ppoll, false, (long)fds);
	int result = NEXT(ppoll)(fds, n, timeout, w.set);
	wait_end();
	hook_signal_wait_end(&w);
	return result;
}

/* _FORTIFY_SOURCE calls these instead of poll and ppoll. */
void __chk_fail(void) __attribute__((noreturn));
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *waiting, size_t bytes);

HOOK int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t bytes)
{
	if (bytes / sizeof *fds < n)
		__chk_fail();
	return poll(fds, n, timeout_ms);
}

HOOK int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		     const sigset_t *waiting, size_t bytes)
{
	if (bytes / sizeof *fds < n)
		__chk_fail();
	return ppoll(fds, n, timeout, waiting);
}

/* ---- select ---- */

/* Since glibc 2.34 libc calls pselect6, with a copy of the timeout. */
HOOK int select(int n, fd_set *read, fd_set *write, fd_set *except, struct timeval *timeout)
{
	hook_signal_look();
	wait_begin(SYS_pselect6, false, n);
	int result = NEXT(select)(n, read, write, except, timeout);
	wait_end();
	return result;
}

HOOK int pselect(int n, fd_set *read, fd_set *write, fd_set *except, const struct timespec *timeout,
		 const sigset_t *waiting)
{
	struct signal_wait w;
	if (!hook_signal_wait_begin(&w, waiting))
		return -1;
	wait_begin(SYS_pselect6, false, n);
	int result = NEXT(pselect)(n, read, write, except, timeout, w.set);
	wait_end();
	hook_signal_wait_end(&w);
	return result;
}

/* ---- epoll ---- */

HOOK int epoll_wait(int epoll, struct epoll_event *events, int max, int timeout_ms)
{
	hook_signal_look();
	wait_begin(SYS_epoll_wait, timeout_ms > 0, epoll);
	int result = NEXT(epoll_wait)(epoll, events, max, timeout_ms);
	wait_end();
	return result;
}

HOOK int epoll_pwait(int epoll, struct epoll_event *events, int max, int timeout_ms,
		     const sigset_t *waiting)
{
	struct signal_wait w;
	if (!hook_signal_wait_begin(&w, waiting))
		return -1;
	wait_begin(SYS_epoll_pwait, timeout_ms > 0, epoll);
	int result = NEXT(epoll_pwait)(epoll, events, max, timeout_ms, w.set);
	wait_end();
	hook_signal_wait_end(&w);
	return result;
}

HOOK int epoll_pwait2(int epoll, struct epoll_event *events, int max,
		      const struct timespec *timeout, const sigset_t *waiting)
{
	struct signal_wait w;
	if (!hook_signal_wait_begin(&w, waiting))
		return -1;
	wait_begin(SYS_epoll_pwait2, timeout != NULL, epoll);
	int result = NEXT(epoll_pwait2)(epoll, events, max, timeout, w.set);
	wait_end();
	hook_signal_wait_end(&w);
	return result;
}

void hook_poll_start(void)
{
	struct hook_next *const all[] = {&next_poll,        &next_ppoll,      &next_select,
					 &next_pselect,     &next_epoll_wait, &next_epoll_pwait,
					 &next_epoll_pwait2};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
