/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that libc has since 2.34, for test programs that are built on an older system: as
 * system calls, which is what theirs do there.
 */
#ifndef TESTS_WORKLOAD_OLDER_H
#define TESTS_WORKLOAD_OLDER_H

#include "common/safe/newer.h"

#include <features.h>
#include <limits.h>
#include <sys/types.h>

#if !__GLIBC_PREREQ(2, 34)
/* Not by syscall(), where hpcrun-lite has a hook: _Fork has none. */
static inline pid_t older_fork(void)
{
	return (pid_t)sys_call6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
}

static inline int older_execveat(int fd, const char *path, char *const argv[], char *const envp[],
				 int flags)
{
	return (int)syscall(SYS_execveat, fd, path, argv, envp, flags);
}

static inline int older_close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

#define _Fork older_fork
#define execveat older_execveat
#define close_range older_close_range
#define closefrom(low) ((void)older_close_range(low, UINT_MAX, 0))
#endif

#endif
