/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads and two phases that the program marks (hpctoolkit.h), in which the threads have known
 * work. It says what its own clocks say, as "NAME elapsed ns, useful ns": the time from start to
 * stop, and the CPU time of the work of both threads. Usage: phases once|again|fork|many.
 * once: each phase twice, one after the other, with work between them that is not measured.
 * again: no stop, so the start of a phase ends the one before. fork: a child goes on in a phase.
 * many: once, then MANY phases more than are recorded.
 */
#include "hpcrun-lite/api/hpctoolkit.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 2, MANY = 10, RECORDED = 65536 };

struct truth {
	const char *name;
	uint64_t elapsed_ns, useful_ns;
};

static volatile double sink;
static pthread_barrier_t meet;
static unsigned other_ms; /* what the second thread has to do; 0: to end */
static uint64_t other_ns;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t burn(unsigned ms)
{
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID), took;
	double x = 1;
	do
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 0.5;
	while ((took = now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) < ms * UINT64_C(1000000));
	sink = x;
	return took;
}

static void *other(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&meet);
		if (!other_ms)
			return arg;
		other_ns = burn(other_ms);
		pthread_barrier_wait(&meet);
	}
}

/* Returns the CPU time of both threads. */
static uint64_t both(unsigned main_ms, unsigned second_ms)
{
	other_ms = second_ms;
	pthread_barrier_wait(&meet);
	uint64_t took = burn(main_ms);
	pthread_barrier_wait(&meet);
	return took + other_ns;
}

static void assemble(struct truth *t, int stops)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC);
	hpctoolkit_sampling_start(); /* assemble */
	t->useful_ns += both(50, 50);
	if (stops)
		hpctoolkit_sampling_stop();
	t->elapsed_ns += now_ns(CLOCK_MONOTONIC) - begin;
}

static void solve(struct truth *t, int stops)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC);
	hpctoolkit_sampling_start(); /* solve */
	t->useful_ns += both(100, 25);
	if (stops)
		hpctoolkit_sampling_stop();
	t->elapsed_ns += now_ns(CLOCK_MONOTONIC) - begin;
}

int main(int argc, char **argv)
{
	struct truth a = {.name = "assemble"}, s = {.name = "solve"};
	const char *what = argc > 1 ? argv[1] : "once";
	const int stops = strcmp(what, "again") != 0;
	pthread_t thread;
	pthread_barrier_init(&meet, NULL, 2);
	pthread_create(&thread, NULL, other, NULL);
	if (stops)
		hpctoolkit_sampling_stop();
	for (int i = 0; i < ROUNDS; i++) {
		assemble(&a, stops);
		if (stops)
			both(25, 25);
		solve(&s, stops);
	}
	if (strcmp(what, "fork") == 0) {
		hpctoolkit_sampling_start();
		pid_t child = fork();
		if (child == 0) {
			burn(50);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	for (int i = 2 * ROUNDS; strcmp(what, "many") == 0 && i < RECORDED + MANY; i++)
		hpctoolkit_sampling_start();
	other_ms = 0;
	pthread_barrier_wait(&meet);
	pthread_join(thread, NULL);
	printf("%s %llu %llu\n%s %llu %llu\n", a.name, (unsigned long long)a.elapsed_ns,
	       (unsigned long long)a.useful_ns, s.name, (unsigned long long)s.elapsed_ns,
	       (unsigned long long)s.useful_ns);
	return 0;
}
