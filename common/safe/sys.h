/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls without libc. They do not touch errno, they bypass every function that the hooks or
 * the program put in front of libc, and they are not cancellation points. Each returns what the
 * kernel returns: the result, or -errno. They never retry. Signal-safe. Test:
 * tests/unit/common/test_safe.c.
 */
#ifndef COMMON_SAFE_SYS_H
#define COMMON_SAFE_SYS_H

#include "common/machine/machine.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline long sys_call3(long n, long a, long b, long c)
{
	return machine_call3(n, a, b, c);
}
static inline long sys_call4(long n, long a, long b, long c, long d)
{
	return machine_call4(n, a, b, c, d);
}
static inline long sys_call6(long n, long a, long b, long c, long d, long e, long f)
{
	return machine_call6(n, a, b, c, d, e, f);
}

/* True if `result` of sys_mmap() is an error. The value is then -errno. */
static inline int sys_is_error(long result)
{
	return (unsigned long)result > -4096UL;
}

static inline int sys_open(const char *path, int flags, int mode)
{
	return (int)sys_call4(SYS_openat, -100 /* AT_FDCWD */, (long)path, flags, mode);
}
struct stat;
static inline int sys_stat(const char *path, struct stat *st)
{
	return (int)sys_call4(SYS_newfstatat, -100 /* AT_FDCWD */, (long)path, (long)st, 0);
}
/* `mode` as in access(2); the rights of the real user, as there. */
static inline int sys_access(const char *path, int mode)
{
	return (int)sys_call3(SYS_faccessat, -100 /* AT_FDCWD */, (long)path, mode);
}
static inline int sys_close(int fd)
{
	return (int)sys_call3(SYS_close, fd, 0, 0);
}
static inline long sys_read(int fd, void *to, size_t n)
{
	return sys_call3(SYS_read, fd, (long)to, (long)n);
}
static inline long sys_pread(int fd, void *to, size_t n, uint64_t at)
{
	return sys_call4(SYS_pread64, fd, (long)to, (long)n, (long)at);
}
static inline long sys_write(int fd, const void *from, size_t n)
{
	return sys_call3(SYS_write, fd, (long)from, (long)n);
}
static inline long sys_pwrite(int fd, const void *from, size_t n, uint64_t at)
{
	return sys_call4(SYS_pwrite64, fd, (long)from, (long)n, (long)at);
}
static inline long sys_mmap(void *at, size_t n, int prot, int flags, int fd, uint64_t offset)
{
	return sys_call6(SYS_mmap, (long)at, (long)n, prot, flags, fd, (long)offset);
}
static inline int sys_munmap(void *at, size_t n)
{
	return (int)sys_call3(SYS_munmap, (long)at, (long)n, 0);
}
static inline int sys_madvise(void *at, size_t n, int advice)
{
	return (int)sys_call3(SYS_madvise, (long)at, (long)n, advice);
}
static inline int sys_fallocate(int fd, int mode, uint64_t at, uint64_t n)
{
	return (int)sys_call4(SYS_fallocate, fd, mode, (long)at, (long)n);
}
static inline int sys_ftruncate(int fd, uint64_t n)
{
	return (int)sys_call3(SYS_ftruncate, fd, (long)n, 0);
}
static inline int sys_fcntl(int fd, int command, long argument)
{
	return (int)sys_call3(SYS_fcntl, fd, command, argument);
}
static inline int sys_ioctl(int fd, unsigned long request, long argument)
{
	return (int)sys_call3(SYS_ioctl, fd, (long)request, argument);
}
static inline int sys_getpid(void)
{
	return (int)sys_call3(SYS_getpid, 0, 0, 0);
}
static inline int sys_gettid(void)
{
	return (int)sys_call3(SYS_gettid, 0, 0, 0);
}

/*
 * Returns the clock in nanoseconds, or 0 if it cannot be read. clock_ns() is cheaper for the clocks
 * of the vDSO.
 */
static inline uint64_t sys_clock_ns(int clock)
{
	struct timespec t;
	if (sys_call3(SYS_clock_gettime, clock, (long)&t, 0) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Sleeps less than a second. nanosleep(2) would forget the call that a signal or a debugger has
 * interrupted in this thread, which could not go on with the rest of its time-out
 * (restart_syscall(2)).
 */
static inline void sys_pause(long ns)
{
	struct timespec t = {0, ns};
	sys_call6(SYS_pselect6, 0, 0, 0, 0, (long)&t, 0);
}

/* An entry of getdents64(2). */
struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

#endif
