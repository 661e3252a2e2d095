/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * close and its kin around our descriptors; see hook_fd.h. A program that closes everything it did
 * not open, as daemons and shells do, gets the results it would get without us. Must not: lock.
 * Test: tests/cli/sacred/sacred_fd.sh.
 */
#include "hpcrun-lite/hooks/hook_fd.h"

#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

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
	return runtime_owns_fd(fd) ? refuse() : NEXT(close)(fd);
}

HOOK int dup(int fd)
{
	return runtime_owns_fd(fd) ? refuse() : NEXT(dup)(fd);
}

/* The number is the program's to choose: ours goes elsewhere. Both descriptors the same changes
 * nothing. */
static bool make_way(int from, int to)
{
	if (runtime_owns_fd(from))
		return false;
	if (from != to && runtime_owns_fd(to) &&
	    runtime_is_owner()) { /* a child of vfork has a table of its own */
		int saved = errno;
		(void)runtime_move_fd(
			to); /* where no number is left ours is given up, and counted */
		errno = saved;
	}
	return true;
}

HOOK int dup2(int from, int to)
{
	return make_way(from, to) ? NEXT(dup2)(from, to) : refuse();
}

HOOK int dup3(int from, int to, int flags)
{
	return make_way(from, to) ? NEXT(dup3)(from, to, flags) : refuse();
}

/* Closes [first, last] except ours; the flag that splits the table off from other tasks is for the
 * first call. */
static int close_around(unsigned first, unsigned last, int flags)
{
	int result = 0;
	while (first <= last) {
		int ours = first > INT_MAX ? -1 : runtime_next_fd((int)first);
		if (ours < 0 || (unsigned)ours > last)
			return NEXT(close_range)(first, last, flags);
		if ((unsigned)ours > first)
			result = NEXT(close_range)(first, (unsigned)ours - 1, flags);
		else if (flags & (int)CLOSE_RANGE_UNSHARE) /* nothing to close in front of ours */
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
	if (first > last || flags & (int)CLOSE_RANGE_CLOEXEC) /* the kernel refuses; or ours are so
								 marked already */
		return NEXT(close_range)(first, last, flags);
	return close_around(first, last, flags);
}

HOOK void closefrom(int low)
{
	int saved = errno;
	if (low < 0)
		low = 0;
	for (int ours; (ours = runtime_next_fd(low)) >= 0; low = ours + 1) {
		/* a kernel older than 5.9 has no close_range */
		if (ours > low && (!hook_next(&next_close_range) ||
				   NEXT(close_range)((unsigned)low, (unsigned)ours - 1, 0) != 0))
			for (int fd = low; fd < ours; fd++)
				(void)NEXT(close)(fd);
	}
	errno = saved;
	if (hook_next(&next_closefrom))
		NEXT(closefrom)(low);
}

void hook_fd_start(void)
{
	struct hook_next *const all[] = {&next_close, &next_close_range, &next_closefrom,
					 &next_dup,   &next_dup2,        &next_dup3};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		hook_next_find(all[i]);
}
