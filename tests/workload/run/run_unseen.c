/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU time that a profiler in the process may miss. Usage: run_unseen MODE
 *
 *   disabled   computes a while, disables the perf events of its thread, and computes for long
 *   blocked    the same with all signals blocked by a system call, then a little after it
 *   to-end     the same, and never unblocks them
 *   handle     a thread by the pthread_create of libc's own handle computes
 *   unload     the same, and a library is unloaded meanwhile in which another thread began
 *   clone      a thread of a bare clone computes, without thread-local storage of its own
 *   populate   a long system call, after some computing
 *   threads N  N short threads, ten at a time
 *
 * Prints the CPU time of the process in ms.
 */
#include "common/machine/machine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static long cpu_ms(clockid_t clock)
{
	struct timespec t;
	syscall(SYS_clock_gettime, clock, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The factors differ, or a compiler may fold the functions into one. */
#define BURN(name, factor) \
	__attribute__((noinline)) static void name(long ms) \
	{ \
		const long end = cpu_ms(CLOCK_THREAD_CPUTIME_ID) + ms; \
		do \
			for (int i = 0; i < 100000; i++) \
				sink += (unsigned long)i * (factor); \
		while (cpu_ms(CLOCK_THREAD_CPUTIME_ID) < end); \
	}
BURN(seen, 3)
BURN(hidden, 5)

static void *thread(void *unused)
{
	(void)unused;
	hidden(400);
	return NULL;
}

static void *brief(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20000; i++)
		sink += (unsigned long)i * (unsigned long)i;
	return NULL;
}

static volatile int may_go_on;

static void *long_thread(void *unused)
{
	(void)unused;
	hidden(300);
	may_go_on = 1;
	hidden(500);
	return NULL;
}

static int by_handle(void *(*fn)(void *), pthread_t *t)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	void *libc = dlopen("libc.so.6", RTLD_NOW);
	if (!libc)
		return 3;
	*(void **)&create = dlsym(libc, "pthread_create");
	if (!create && (libc = dlopen("libpthread.so.0", RTLD_NOW))) /* glibc before 2.34 */
		*(void **)&create = dlsym(libc, "pthread_create");
	return !create || create(t, NULL, fn, NULL) ? 4 : 0;
}

static int handle(void)
{
	pthread_t t;
	const int result = by_handle(thread, &t);
	return result ? result : pthread_join(t, NULL);
}

/* The thread that is found gets what the run time had for the one that ended. */
static int unload(void)
{
	const struct timespec pause = {0, 5000000};
	pthread_t t;
	void *library = dlopen("libz.so.1", RTLD_NOW), *(*fn)(void *);
	if (!library)
		return 77;
	*(void **)&fn = dlsym(library, "zlibVersion");
	if (!fn || pthread_create(&t, NULL, fn, NULL) || pthread_join(t, NULL) ||
	    by_handle(long_thread, &t))
		return 8;
	while (!may_go_on)
		nanosleep(&pause, NULL);
	dlclose(library);
	return pthread_join(t, NULL);
}

static volatile int has_ended;

static int cloned(void *unused)
{
	/* neither errno nor any other thread-local storage: they are the first thread's */
	(void)unused;
	for (long i = 0; i < 300000000; i++)
		sink += (unsigned long)i;
	has_ended = 1;
	return 0;
}

static int by_clone(void)
{
	enum { BYTES = 256 << 10 };
	char *stack = malloc(BYTES);
	const struct timespec pause = {0, 5000000};
	if (!stack ||
	    clone(cloned, stack + BYTES,
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
		  NULL) < 0)
		return 5;
	while (!has_ended)
		nanosleep(&pause, NULL);
	return 0;
}

static int populate(void)
{
	seen(50);
	for (int i = 0; i < 2; i++) {
		const size_t n = (size_t)256 << 20;
		void *at = mmap(NULL, n, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (at == MAP_FAILED)
			return 6;
		munmap(at, n);
		seen(10);
	}
	return 0;
}

static int threads(int n)
{
	for (int i = 0; i < n; i += 10) {
		pthread_t t[10];
		for (int k = 0; k < 10; k++)
			if (pthread_create(&t[k], NULL, brief, NULL))
				return 7;
		for (int k = 0; k < 10; k++)
			pthread_join(t[k], NULL);
	}
	return 0;
}

/* A system call instruction of the program's own: nobody in front of libc sees it. */
static void set_mask(long how, const sigset_t *set)
{
	machine_call4(SYS_rt_sigprocmask, how, (long)set, 0, 8);
}

static int run(const char *mode, const char *n)
{
	sigset_t all;
	sigfillset(&all);
	if (!strcmp(mode, "handle"))
		return handle();
	if (!strcmp(mode, "unload"))
		return unload();
	if (!strcmp(mode, "clone"))
		return by_clone();
	if (!strcmp(mode, "populate"))
		return populate();
	if (!strcmp(mode, "threads"))
		return threads(n ? atoi(n) : 10);
	seen(100);
	if (!strcmp(mode, "disabled"))
		prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0);
	else
		set_mask(SIG_BLOCK, &all);
	hidden(400);
	if (!strcmp(mode, "blocked")) {
		set_mask(SIG_UNBLOCK, &all);
		seen(50);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const int status = argc > 1 ? run(argv[1], argc > 2 ? argv[2] : NULL) : 2;
	printf("%ld\n", cpu_ms(CLOCK_PROCESS_CPUTIME_ID));
	return status;
}
