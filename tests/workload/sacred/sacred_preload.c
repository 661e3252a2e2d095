/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that a user preloads. It also looks from inside: calls of malloc, of locks and of the
 * loader's walk that are made while the sampling signal is blocked come from our handler, as
 * nothing else can block it; they are counted, and written to the file that SACRED_PURITY names at
 * the end. Used by tests/cli/sacred/sacred_env.sh and tests/cli/sacred/sacred_purity.sh.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long n_inside, n_calls;

static void look(void)
{
	uint64_t mask = 0;
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
	atomic_fetch_add(&n_calls, 1);
	/* All signals are blocked in the handler; in a thread that ends, its own alone. */
	if (mask >> (SIGWINCH - 1) & mask >> (SIGUSR2 - 1) & 1)
		atomic_fetch_add(&n_inside, 1);
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

void *malloc(size_t n)
{
	look();
	return __libc_malloc(n);
}
void *calloc(size_t n, size_t m)
{
	look();
	return __libc_calloc(n, m);
}
void *realloc(void *p, size_t n)
{
	look();
	return __libc_realloc(p, n);
}
void free(void *p)
{
	look();
	__libc_free(p);
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
	static int (*next)(pthread_mutex_t *);
	look();
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
	return next(m);
}
int dl_iterate_phdr(int (*fn)(struct dl_phdr_info *, size_t, void *), void *arg)
{
	static int (*next)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
	look();
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	return next(fn, arg);
}

__attribute__((destructor)) static void report(void)
{
	char line[100];
	const char *file = getenv("SACRED_PURITY");
	int fd = file ? open(file, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
	int n = snprintf(line, sizeof line, "%ld of some calls inside\n", atomic_load(&n_inside));
	if (fd >= 0 && atomic_load(&n_calls) > 1000 && write(fd, line, (size_t)n) == n)
		close(fd);
}
