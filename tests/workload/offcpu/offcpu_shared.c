/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits, and lacks a processor, in turn: two threads that compute share its one processor. Prints
 * "<function> <ns blocked> <ns ready>", by clocks around each wait. What passed elsewhere and was
 * no CPU time is time in the run queue. Run by tests/cli/offcpu/offcpu_shared.sh.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static _Atomic int is_over;
static unsigned n_others = 2;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *compute(void *unused)
{
	while (!atomic_load(&is_over))
		;
	return unused;
}

static void work_us(unsigned us)
{
	const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000u;
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

/* Works and sleeps in turn, and says how long it was blocked, and ready. */
static void take_turns(const char *name, unsigned work, unsigned sleep, unsigned total_ms)
{
	const uint64_t start = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID),
		       end = start + total_ms * 1000000u;
	uint64_t blocked = 0;
	while (now_ns(CLOCK_MONOTONIC) < end) {
		work_us(work);
		const uint64_t wall = now_ns(CLOCK_MONOTONIC),
			       used = now_ns(CLOCK_THREAD_CPUTIME_ID);
		nanosleep(&(struct timespec){0, sleep * 1000}, NULL);
		blocked += now_ns(CLOCK_MONOTONIC) - wall -
			   (now_ns(CLOCK_THREAD_CPUTIME_ID) - used);
	}
	const uint64_t off = now_ns(CLOCK_MONOTONIC) - start -
			     (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	printf("%s %llu %llu\n", name, (unsigned long long)blocked,
	       (unsigned long long)(off - blocked));
}

NOINLINE static void turn_brief(void)
{
	take_turns("turn_brief", 500, 1000, 2000);
	__asm__ volatile("");
}

/* Both in each period: the switches alone do not say which it was. */
NOINLINE static void turn_short(void)
{
	take_turns("turn_short", 1000, 100, 2000);
	__asm__ volatile("");
}

NOINLINE static void turn_even(void)
{
	take_turns("turn_even", 5000, 5000, 2000);
	__asm__ volatile("");
}

NOINLINE static void turn_long(void)
{
	take_turns("turn_long", 30000, 100000, 1000);
	__asm__ volatile("");
}

NOINLINE static void turn_never(void)
{
	take_turns("turn_never", 1000000, 1, 500);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	cpu_set_t all, one;
	pthread_t other[16];
	if (argc > 1)
		n_others = (unsigned)atoi(argv[1]);
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof one, &one);
	for (unsigned i = 0; i < n_others; i++)
		pthread_create(&other[i], NULL, compute, NULL);
	turn_brief();
	turn_short();
	turn_even();
	turn_long();
	turn_never();
	atomic_store(&is_over, 1);
	for (unsigned i = 0; i < n_others; i++)
		pthread_join(other[i], NULL);
	return 0;
}
