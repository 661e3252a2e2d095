/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the oldest headers that we build with (glibc 2.28, Linux 4.18) lack: numbers of the kernel,
 * and declarations of functions of libc that our hooks stand in front of. The kernel may lack them,
 * too: ENOSYS or EINVAL is an expected answer. Test: tests/lint/symbols.sh, where it is built with
 * old headers.
 */
#ifndef COMMON_SAFE_NEWER_H
#define COMMON_SAFE_NEWER_H

#include "common/safe/sys.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426 /* Linux 5.1 */
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* 5.3 */
#endif
#ifndef SYS_clone3
#define SYS_clone3 435 /* 5.3 */
#endif
#ifndef SYS_close_range
#define SYS_close_range 436 /* 5.9 */
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 /* 5.11 */
#endif
#ifndef IORING_ENTER_EXT_ARG
#define IORING_ENTER_EXT_ARG (1U << 3) /* 5.11 */
#endif
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* 5.14 */
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* 5.14 */
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1) /* 5.9 */
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2) /* 5.11 */
#endif

/* glibc 2.30 */
int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
		  const struct timespec *restrict until);
int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
			    const struct timespec *restrict until);
/* glibc 2.34; epoll_pwait2 2.35. Only hooks define and call them. */
int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int low);
int epoll_pwait2(int epoll, struct epoll_event *events, int max, const struct timespec *timeout,
		 const sigset_t *waiting);

/* Closes [first, last]. */
static inline void newer_close_range(int first, int last)
{
	enum { CLOSED_SINGLY_MOST = 1024 }; /* before Linux 5.9 */
	if (sys_call3(SYS_close_range, first, last, 0) == 0)
		return;
	for (int fd = first; fd <= last && fd < CLOSED_SINGLY_MOST; fd++)
		sys_close(fd);
}

#endif
