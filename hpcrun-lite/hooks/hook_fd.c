/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps close and related calls away from our descriptors; see hook_fd.h. A program that closes
 * every descriptor it did not open, like daemons and shells, gets the same results as an unmeasured
 * one. Must not lock. Test: tests/cli/sacred/sacred_fd.sh.
 */
#include "hpcrun-lite/hooks/hook_fd.h"

#include "common/safe/newer.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/hooks/hook_remove.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

HOOK_NEXT(close);
HOOK_NEXT(close_range);
HOOK_NEXT(closefrom);
HOOK_NEXT(dup);
HOOK_NEXT(dup2);
HOOK_NEXT(dup3);

static int refuse(void)
{
	errno = EBADF;
	return -1;
}

HOOK int close(int fd)
{
	if (runtime_owns_fd(fd))
		return refuse();
	hook_remove_descriptor(fd);
	return NEXT(close)(fd);
}

HOOK int dup(int fd)
{
	return runtime_owns_fd(fd) ? refuse() : NEXT(dup)(fd);
}

/* Moves our descriptor if the program wants its number. Returns false if `from` is ours. */
static bool free_number(int from, int to)
{
	if (runtime_owns_fd(from))
		return false;
	/* A child of vfork has its own table. */
	if (from != to && runtime_owns_fd(to) && runtime_is_owner()) {
		int saved = errno;
		/* If no number is free, this gives the descriptor up and counts that. */
		(void)runtime_move_fd(to);
		errno = saved;
	}
	return true;
}

HOOK int dup2(int from, int to)
{
	return free_number(from, to) ? NEXT(dup2)(from, to) : refuse();
}

HOOK int dup3(int from, int to, int flags)
{
	return free_number(from, to) ? NEXT(dup3)(from, to, flags) : refuse();
}

/*
 * Closes [first, last] except our descriptors. Passes CLOSE_RANGE_UNSHARE, which copies the table,
 * with the first call only.
 */
static int close_around(unsigned first, unsigned last, int flags)
{
	int result = 0;
	while (first <= last) {
		int ours = first > INT_MAX ? -1 : runtime_next_fd((int)first);
		if (ours < 0 || (unsigned)ours > last)
			return NEXT(close_range)(first, last, flags);
		if ((unsigned)ours > first)
			result = NEXT(close_range)(first, (unsigned)ours - 1, flags);
		else if (flags & (int)CLOSE_RANGE_UNSHARE) /* nothing to close before ours */
			result = NEXT(close_range)(UINT_MAX, UINT_MAX, flags);
		if (result != 0)
			return result;
		flags &= ~(int)CLOSE_RANGE_UNSHARE;
		first = (unsigned)ours + 1;
	}
	return result;
}

HOOK int close_range(unsigned first, unsigned last, int flags)
{
	if (!hook_next(&next_close_range)) {
		errno = ENOSYS;
		return -1;
	}
	/* The kernel refuses the range, or our descriptors are close-on-exec already. */
	if (first > last || flags & (int)CLOSE_RANGE_CLOEXEC)
		return NEXT(close_range)(first, last, flags);
	return close_around(first, last, flags);
}

HOOK void closefrom(int low)
{
	int saved = errno;
	if (low < 0)
		low = 0;
	for (int ours; (ours = runtime_next_fd(low)) >= 0; low = ours + 1) {
		/* kernels before 5.9 have no close_range */
		if (ours > low && (!hook_next(&next_close_range) ||
				   NEXT(close_range)((unsigned)low, (unsigned)ours - 1, 0) != 0))
			for (int fd = low; fd < ours; fd++)
				(void)NEXT(close)(fd);
	}
	errno = saved;
	if (hook_next(&next_closefrom))
		NEXT(closefrom)(low);
	else
		newer_close_range(low, INT_MAX);
}

void hook_fd_start(void)
{
	struct hook_next *const all[] = {&next_close, &next_close_range, &next_closefrom,
					 &next_dup,   &next_dup2,        &next_dup3};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
