/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many short threads, by each way to start one. Usage: sacred_threads KIND N
 *
 *   joined detached c11   as programs do, ten at a time
 *   handle                by the pthread_create of libc's own handle, past all hooks
 *   deep                  by that which a library sees that is opened with RTLD_DEEPBIND (this
 *                         program opens libm so, and asks the handle)
 *   space                 by that of a C library in a name space of its own
 *   timer                 threads of timers with SIGEV_THREAD
 *   clone                 bare ones, without thread-local storage of their own
 *
 * Prints how many ran, and a sum that does not depend on time. Run by
 * tests/cli/sacred/sacred_storm.sh.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 10, STACK_BYTES = 64 << 10 };

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int join_fn(pthread_t, void **);

static atomic_long n_ran, sum;
static sem_t has_ended;

static void work(long i)
{
	volatile double x = 1;
	for (int k = 0; k < 5000; k++)
		x = x * 1.0000001;
	atomic_fetch_add(&n_ran, 1);
	atomic_fetch_add(&sum, i % 1000);
}

static void *joined(void *arg)
{
	work((long)arg);
	return NULL;
}

static void *detached(void *arg)
{
	work((long)arg);
	sem_post(&has_ended);
	return NULL;
}

static int standard(void *arg)
{
	work((long)arg);
	return 0;
}

static void expired(union sigval value)
{
	work(value.sival_int);
	sem_post(&has_ended);
}

static void wait_for(int n)
{
	while (n > 0)
		if (sem_wait(&has_ended) == 0)
			n--;
}

static void must(int ok, const char *what)
{
	if (!ok) {
		printf("%s failed\n", what);
		exit(2);
	}
}

static void by(create_fn *create, join_fn *join, long first)
{
	pthread_t t[AT_ONCE];
	for (long k = 0; k < AT_ONCE; k++)
		must(create(&t[k], NULL, joined, (void *)(first + k)) == 0, "pthread_create");
	for (int k = 0; k < AT_ONCE; k++)
		must(join(t[k], NULL) == 0, "pthread_join");
}

static void by_detached(long first)
{
	pthread_attr_t attr;
	pthread_t t;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (long k = 0; k < AT_ONCE; k++)
		must(pthread_create(&t, &attr, detached, (void *)(first + k)) == 0,
		     "pthread_create");
	pthread_attr_destroy(&attr);
	wait_for(AT_ONCE);
}

static void by_c11(long first)
{
	thrd_t t[AT_ONCE];
	for (long k = 0; k < AT_ONCE; k++)
		must(thrd_create(&t[k], standard, (void *)(first + k)) == thrd_success,
		     "thrd_create");
	for (int k = 0; k < AT_ONCE; k++)
		thrd_join(t[k], NULL);
}

static void by_timer(long first)
{
	timer_t t[AT_ONCE];
	const struct itimerspec soon = {.it_value.tv_nsec = 1000};
	for (int k = 0; k < AT_ONCE; k++) {
		struct sigevent e = {.sigev_notify = SIGEV_THREAD,
				     .sigev_value.sival_int = (int)first + k,
				     .sigev_notify_function = expired};
		must(timer_create(CLOCK_MONOTONIC, &e, &t[k]) == 0, "timer_create");
		timer_settime(t[k], 0, &soon, NULL);
	}
	wait_for(AT_ONCE);
	for (int k = 0; k < AT_ONCE; k++)
		timer_delete(t[k]);
}

/* Neither errno nor any other thread-local storage: they are the first thread's. */
static int bare(void *arg)
{
	work((long)arg);
	return 0;
}

static void by_clone(long first)
{
	static char stacks[AT_ONCE][STACK_BYTES] __attribute__((aligned(16)));
	static atomic_int tids[AT_ONCE];
	for (long k = 0; k < AT_ONCE; k++) {
		atomic_store(&tids[k], 1);
		must(clone(bare, stacks[k] + STACK_BYTES,
			   CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				   CLONE_SYSVSEM | CLONE_CHILD_CLEARTID,
			   (void *)(first + k), NULL, NULL, &tids[k]) > 0,
		     "clone");
	}
	for (int k = 0; k < AT_ONCE; k++)
		while (atomic_load(&tids[k]))
			sched_yield();
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	const long n = argc > 2 ? atol(argv[2]) : 0;
	void *handle = NULL;
	create_fn *create = pthread_create;
	join_fn *join = pthread_join;
	sem_init(&has_ended, 0, 0);
	if (!strcmp(kind, "handle"))
		handle = dlopen("libc.so.6", RTLD_NOW);
	else if (!strcmp(kind, "deep"))
		handle = dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND);
	else if (!strcmp(kind, "space"))
		handle = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	if (handle) {
		*(void **)&create = dlsym(handle, "pthread_create");
		*(void **)&join = dlsym(handle, "pthread_join");
		must(create && join, "dlsym");
	}
	for (long i = 0; i < n; i += AT_ONCE)
		if (!strcmp(kind, "detached"))
			by_detached(i);
		else if (!strcmp(kind, "c11"))
			by_c11(i);
		else if (!strcmp(kind, "timer"))
			by_timer(i);
		else if (!strcmp(kind, "clone"))
			by_clone(i);
		else
			by(create, join, i);
	printf("%s: %ld ran, %ld\n", kind, (long)n_ran, (long)sum);
	return 12;
}
