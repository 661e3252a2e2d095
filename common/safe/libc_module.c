/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Like libc.c, for functions that the preloaded library replaces. Our modules must call the
 * replacement, so they look where the program would find it. Not linked into the preloaded library.
 * Test: tests/lint/symbols.sh.
 */
#include "common/safe/libc.h"
#include "common/safe/newer.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

static void *find(_Atomic(void *) *kept, const char *name)
{
	/* Relaxed: the pointer is to code that existed before us. */
	void *function = atomic_load_explicit(kept, memory_order_relaxed);
	if (!function) {
		function = dlsym(RTLD_DEFAULT, name);
		atomic_store_explicit(kept, function, memory_order_relaxed);
	}
	return function;
}

#define FOUND(name) ((__typeof__(&name))find(&kept, #name))

int dlclose(void *handle)
{
	static _Atomic(void *) kept;
	return FOUND(dlclose) ? FOUND(dlclose)(handle) : -1;
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
		   void *(*fn)(void *), void *restrict argument)
{
	static _Atomic(void *) kept;
	return FOUND(pthread_create) ? FOUND(pthread_create)(thread, attr, fn, argument) : ENOSYS;
}

int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	static _Atomic(void *) kept;
	return FOUND(pthread_sigmask) ? FOUND(pthread_sigmask)(how, set, old) : ENOSYS;
}

/* Only ever called for CLOCK_MONOTONIC. */
int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until)
{
	(void)clock;
	return libc_sem_wait_until(semaphore, until);
}

int pthread_mutex_clocklock(pthread_mutex_t *restrict mutex, clockid_t clock,
			    const struct timespec *restrict until)
{
	(void)clock;
	return libc_mutex_lock_until(mutex, until);
}
