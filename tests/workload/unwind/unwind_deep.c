/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unwind_deep DEPTH MS THREAD [TURNS]: computes for MS ms of CPU time at the end of a mutual
 * recursion of DEPTH frames, in main or, if THREAD is 1, in a thread; or in so many turns, of which
 * every other one has 10 frames. Needs a stack of 100 bytes a frame.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static long depth, ms;
static int turns = 1;

static long cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

__attribute__((noinline)) static void deep_leaf(long us)
{
	const long end = cpu_us() + us;
	while (cpu_us() < end)
		for (unsigned i = 0; i < 10000; i++)
			sink = sink + i;
}

static int odd(long n);

__attribute__((noinline)) static int even(long n)
{
	if (n <= 0) {
		deep_leaf(ms * 1000 / turns);
		return 0;
	}
	const int result = odd(n - 1);
	__asm__ volatile("");
	return result + 1;
}

__attribute__((noinline)) static int odd(long n)
{
	const int result = even(n - 1);
	__asm__ volatile("");
	return result + 2;
}

__attribute__((noinline)) static void *deep_root(void *unused)
{
	for (int i = 0; i < turns; i++)
		sink = sink + (unsigned long)even(i & 1 ? 10 : depth);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_attr_t attr;
	pthread_t thread;
	if (argc < 4)
		return 2;
	depth = atol(argv[1]) & ~1L;
	ms = atol(argv[2]);
	turns = argc > 4 ? atoi(argv[4]) : 1;
	if (atoi(argv[3])) {
		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, (size_t)depth * 100 + 65536);
		pthread_create(&thread, &attr, deep_root, NULL);
		pthread_join(thread, NULL);
	} else {
		deep_root(NULL);
	}
	return 0;
}
