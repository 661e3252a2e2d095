/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many threads: offcpu_threads sleep N: N threads that sleep for two seconds. offcpu_threads share:
 * two threads that compute on one processor; prints the time in which they did not run, in ns. Run
 * by tests/cli/offcpu/offcpu_threads.sh.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 256

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Atomic uint64_t off_ns;

static void *compute(void *arg)
{
	const uint64_t wall = now_ns(CLOCK_MONOTONIC), cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < cpu + 500000000)
		for (volatile int i = 0; i < 1000; i++)
			;
	const uint64_t used = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	atomic_fetch_add(&off_ns, now_ns(CLOCK_MONOTONIC) - wall - used);
	return arg;
}

static void *sleep_long(void *arg)
{
	nanosleep(&(struct timespec){2, 0}, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	const int shares = argc > 1 && strcmp(argv[1], "share") == 0,
		  n = shares ? 2 : argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[MOST];
	cpu_set_t one;
	if (n < 1 || n > MOST)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (shares)
		sched_setaffinity(0, sizeof one, &one);
	for (int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, shares ? compute : sleep_long, NULL);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	if (shares)
		printf("%llu\n", (unsigned long long)atomic_load(&off_ns));
	return 0;
}
