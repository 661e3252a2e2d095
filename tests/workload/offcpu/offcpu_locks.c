/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that hold locks for which others wait. Prints "<function> <ns>": the time in which a
 * thread waited for the lock that this function held, by the clocks of the waiting thread. Run by
 * tests/cli/offcpu/offcpu_blame.sh.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define HELD_NS 500000000u

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER,
		       brief = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool is_over;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t is_held;

/* After the last call of a function: keeps the compiler from making it a jump. */
static void stay(void)
{
	__asm__ volatile("");
}

NOINLINE static void work_ms(unsigned ms)
{
	const uint64_t end = now_ns(CLOCK_MONOTONIC) + ms * 1000000u;
	while (now_ns(CLOCK_MONOTONIC) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

NOINLINE static void work(void)
{
	work_ms(HELD_NS / 1000000);
	stay();
}

NOINLINE static void hold_working(void)
{
	pthread_mutex_lock(&mutex);
	sem_post(&is_held);
	work();
	pthread_mutex_unlock(&mutex);
	stay();
}

NOINLINE static void hold_asleep(void)
{
	pthread_mutex_lock(&other);
	sem_post(&is_held);
	nanosleep(&(struct timespec){0, HELD_NS}, NULL);
	pthread_mutex_unlock(&other);
	stay();
}

NOINLINE static void hold_writing(void)
{
	pthread_rwlock_wrlock(&rwlock);
	sem_post(&is_held);
	work();
	pthread_rwlock_unlock(&rwlock);
	stay();
}

/* Holds the lock a third of the time, for less than a period of the samples. */
NOINLINE static void hold_shortly(void)
{
	pthread_mutex_lock(&brief);
	work_ms(2);
	pthread_mutex_unlock(&brief);
	stay();
}

NOINLINE static void hold_often(void)
{
	sem_post(&is_held);
	for (int i = 0; i < 150; i++) {
		hold_shortly();
		work_ms(4);
	}
	atomic_store(&is_over, true);
}

NOINLINE static void want_often(void)
{
	while (!atomic_load(&is_over)) {
		pthread_mutex_lock(&brief);
		pthread_mutex_unlock(&brief);
		nanosleep(&(struct timespec){0, 100000}, NULL);
	}
}

/* Nobody is to blame for a condition that does not come. */
NOINLINE static void hold_nothing(void)
{
	sem_post(&is_held);
	work();
	stay();
}

NOINLINE static void want_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	stay();
}

NOINLINE static void want_other(void)
{
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	stay();
}

NOINLINE static void want_rwlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	stay();
}

NOINLINE static void want_condition(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += HELD_NS;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&never, &mutex, &t);
	pthread_mutex_unlock(&mutex);
	stay();
}

static const struct pair {
	const char *name;
	void (*hold)(void), (*want)(void);
} pairs[] = {{"hold_working", hold_working, want_mutex},
	     {"hold_asleep", hold_asleep, want_other},
	     {"hold_writing", hold_writing, want_rwlock},
	     {"hold_often", hold_often, want_often},
	     {"hold_nothing", hold_nothing, want_condition}};

static void *run_holder(void *pair)
{
	((const struct pair *)pair)->hold();
	return NULL;
}

int main(void)
{
	sem_init(&is_held, 0, 0);
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		pthread_t t;
		pthread_create(&t, NULL, run_holder, (void *)&pairs[i]);
		sem_wait(&is_held);
		const uint64_t wall = now_ns(CLOCK_MONOTONIC),
			       cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
		pairs[i].want();
		const uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu,
			       passed = now_ns(CLOCK_MONOTONIC) - wall;
		printf("%s %llu\n", pairs[i].name,
		       (unsigned long long)(passed > used ? passed - used : 0));
		pthread_join(t, NULL);
	}
	return 0;
}
