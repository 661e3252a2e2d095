/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with functions of its own in front of libc's, each behind one lock, in which it is
 * nearly always: a handler that calls one of them waits for ever. Run by
 * tests/cli/sacred/sacred_clock.sh.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long n;

static void work(void)
{
	for (int i = 0; i < 50; i++)
		n++;
}

static long call(long number, long a, long b, long c, long d, long e, long f)
{
	pthread_mutex_lock(&lock);
	work();
	long result = syscall(number, a, b, c, d, e, f);
	work();
	pthread_mutex_unlock(&lock);
	return result;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
	return (int)call(SYS_clock_gettime, clock, (long)t, 0, 0, 0, 0);
}
#if __GLIBC_PREREQ(2, 31)
typedef void zone_type;
#else
typedef struct timezone zone_type;
#endif
int gettimeofday(struct timeval *restrict t, zone_type *restrict zone)
{
	return (int)call(SYS_gettimeofday, (long)t, (long)zone, 0, 0, 0, 0);
}
ssize_t read(int fd, void *to, size_t size)
{
	return call(SYS_read, fd, (long)to, (long)size, 0, 0, 0);
}
int close(int fd) { return (int)call(SYS_close, fd, 0, 0, 0, 0, 0); }
void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	return (void *)call(SYS_mmap, (long)at, (long)size, prot, flags, fd, offset);
}
int munmap(void *at, size_t size)
{
	return (int)call(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

/* Strings and memory under the same lock, as a checker's may be. */
#define LOCKED(result, expression) \
	do { \
		pthread_mutex_lock(&lock); \
		result = expression; \
		pthread_mutex_unlock(&lock); \
	} while (0)

static void *copy(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile char *)to)[i] = ((const volatile char *)from)[i];
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	void *result;
	LOCKED(result, copy(to, from, size));
	return result;
}

static size_t length(const volatile char *s)
{
	size_t i = 0;
	while (s[i])
		i++;
	return i;
}

size_t strlen(const char *s)
{
	size_t result;
	LOCKED(result, length(s));
	return result;
}

int main(void)
{
	static char a[256] = "some text", b[256];
	for (int i = 0; i < 150000; i++) {
		struct timespec t;
		struct timeval v;
		clock_gettime(CLOCK_MONOTONIC, &t);
		gettimeofday(&v, NULL);
		if (i % 4 == 0) {
			close(-1);
			read(-1, &t, 1);
			munmap(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			       4096);
			memcpy(b, a, sizeof b);
			n += strlen(b);
		}
	}
	puts("done");
	return 0;
}
