/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that block often, for bench_switches.sh. Usage: blockers pipes N (two threads pass a
 * byte there and back N times), blockers lock THREADS N US (each thread takes one lock N times for
 * some US microseconds of work), blockers server THREADS MS (threads that wait for 1 ms, for a
 * condition that does not come). Prints the CPU time in ms and the elapsed time in ms.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 256 };

static int n_times, work_us, there[2], back[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static _Atomic int is_over;

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(void)
{
	for (volatile int i = 0; i < work_us * 2000; i++)
		;
}

static void *answer(void *unused)
{
	char byte;
	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return unused;
}

static void *take_lock(void *unused)
{
	for (int i = 0; i < n_times; i++) {
		pthread_mutex_lock(&lock);
		work();
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *serve(void *unused)
{
	while (!atomic_load(&is_over)) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_mutex_lock(&lock);
		pthread_cond_timedwait(&condition, &lock, &until);
		pthread_mutex_unlock(&lock);
		work();
	}
	return unused;
}

static void pass_bytes(void)
{
	char byte = 'x';
	for (int i = 0; i < n_times; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			break;
	close(there[1]);
}

int main(int argc, char **argv)
{
	static pthread_t thread[THREADS_MOST];
	const int n_args = argc > 2 ? argc : 0;
	if (n_args == 0)
		return 1;
	const int is_pipes = !strcmp(argv[1], "pipes"), is_lock = !strcmp(argv[1], "lock"),
		  n = is_pipes ? 1 : atoi(argv[2]) < THREADS_MOST ? atoi(argv[2]) : THREADS_MOST;
	n_times = atoi(argv[is_pipes ? 2 : 3]);
	work_us = is_lock ? atoi(argv[4]) : 20;
	if (pipe(there) || pipe(back))
		return 1;
	const double wall = seconds(CLOCK_MONOTONIC);
	for (int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, is_pipes ? answer : is_lock ? take_lock : serve,
			       NULL);
	if (is_pipes)
		pass_bytes();
	else if (!is_lock)
		usleep((unsigned)n_times * 1000);
	atomic_store(&is_over, 1);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	printf("%.1f %.1f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) * 1e3,
	       (seconds(CLOCK_MONOTONIC) - wall) * 1e3);
	return 0;
}
