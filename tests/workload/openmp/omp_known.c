/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel regions whose answers are known. Each is in a function of its own and prints one line
 *
 *	truth FUNCTION WALL WORK SHARE
 *
 * with seconds from fork to join, CPU seconds of work of all threads, and the work of the busiest
 * thread as a share of the mean of two. The argument says which regions: "regions", "teams" (a
 * short team of eight threads, then teams of two), "threads" (two threads that fork teams at the
 * same time), "nested". Used by tests/cli/openmp/omp_known.sh.
 */
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
/* At the end of a function: the call before it stays a call, and its caller a frame. */
#define STAY() __asm__ volatile("")
enum { MOST_THREADS = 64, N_ITEMS = 16 };

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static atomic_int n_threads;
static _Thread_local int self = -1;
static double work_of[MOST_THREADS]; /* in the region; each element has one writer */

/* So many milliseconds of this thread's CPU clock. */
static NOINLINE void burn(double ms)
{
	const double begin = now(CLOCK_THREAD_CPUTIME_ID), end = begin + ms * 1e-3;
	volatile double x = 1;

	if (self < 0)
		self = atomic_fetch_add(&n_threads, 1) % MOST_THREADS;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 2000; i++)
			x = x * 1.0000001 + 1e-9;
	work_of[self] += now(CLOCK_THREAD_CPUTIME_ID) - begin;
}

static void say(const char *name, double begin)
{
	const double wall = now(CLOCK_MONOTONIC) - begin;
	double sum = 0, most = 0;

	for (int i = 0; i < MOST_THREADS; i++) {
		sum += work_of[i];
		most = work_of[i] > most ? work_of[i] : most;
		work_of[i] = 0;
	}
	printf("truth %s %.6f %.6f %.3f\n", name, wall, sum, sum > 0 ? most / (sum / 2) : 0);
}

/* ---- tasks ---- */

static NOINLINE void item(double ms)
{
	burn(ms);
	STAY();
}

static NOINLINE void listed(void)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < N_ITEMS; i++) {
#pragma omp task firstprivate(i)
		{
			item(3);
			item(3 + i % 3);
		}
	}
	STAY();
}

/* The body of a task is one call, which a compiler may make a jump. */
static NOINLINE void called(void)
{
#pragma omp parallel
#pragma omp single
	for (int i = 0; i < N_ITEMS; i++) {
#pragma omp task
		item(6);
	}
	STAY();
}

static NOINLINE long fib(int n)
{
	long a, b;

	if (n <= 3) {
		item(3);
		return 1;
	}
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

static NOINLINE void recursive(void)
{
	volatile long result = 0;

#pragma omp parallel
#pragma omp single
	result = fib(10);
	(void)result;
}

static NOINLINE void grouped(void)
{
#pragma omp parallel
	{
#pragma omp single nowait
#pragma omp taskgroup
		for (int i = 0; i < N_ITEMS; i++) {
#pragma omp task
			{
				item(4);
				item(2);
			}
		}
	}
	STAY();
}

static NOINLINE void mastered(void)
{
#pragma omp parallel
	{
#pragma omp master
		for (int i = 0; i < N_ITEMS; i++) {
#pragma omp task
			{
				item(4);
				item(2);
			}
		}
	}
	STAY();
}

/* ---- one of two threads works at a time ---- */

static NOINLINE void critical(void)
{
#pragma omp parallel
	{
		for (int i = 0; i < N_ITEMS; i++) {
#pragma omp critical
			burn(3);
		}
		STAY();
	}
	STAY();
}

static NOINLINE void in_turns(void)
{
#pragma omp parallel
	{
		for (int i = 0; i < 2 * N_ITEMS; i++) {
			if (i % 2 == omp_get_thread_num())
				burn(3);
#pragma omp barrier
		}
		STAY();
	}
	STAY();
}

static NOINLINE void by_one(void)
{
#pragma omp parallel
	{
		for (int i = 0; i < 2 * N_ITEMS; i++) {
#pragma omp single
			burn(3);
		}
		STAY();
	}
	STAY();
}

/* ---- teams ---- */

static NOINLINE void team(int size, double ms)
{
#pragma omp parallel num_threads(size)
	{
		burn(ms);
		STAY();
	}
	STAY();
}

static void *forks(void *ms)
{
	for (int i = 0; i < 3; i++)
		team(2, *(double *)ms);
	return NULL;
}

static NOINLINE void inner(void)
{
#pragma omp parallel num_threads(2)
	{
		burn(60);
		STAY();
	}
	STAY();
}

static NOINLINE void outer(void)
{
#pragma omp parallel num_threads(2)
	{
		inner();
		STAY();
	}
	STAY();
}

static void regions(void)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"listed", listed},     {"called", called},     {"recursive", recursive},
		   {"grouped", grouped},   {"mastered", mastered}, {"critical", critical},
		   {"in_turns", in_turns}, {"by_one", by_one}};

	team(2, 40); /* the threads have begun */
	say("team", 0);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const double begin = now(CLOCK_MONOTONIC);

		all[i].run();
		say(all[i].name, begin);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "regions";
	const double begin = now(CLOCK_MONOTONIC);
	double ms = 60;
	pthread_t threads[2];

	omp_set_dynamic(0);
	if (strcmp(what, "regions") == 0)
		regions();
	if (strcmp(what, "teams") == 0) {
		team(8, 0.1);
		for (int i = 0; i < 10; i++)
			team(2, 40);
		say("team", begin);
	}
	if (strcmp(what, "threads") == 0) {
		for (int i = 0; i < 2; i++)
			pthread_create(&threads[i], NULL, forks, &ms);
		for (int i = 0; i < 2; i++)
			pthread_join(threads[i], NULL);
		say("team", begin);
	}
	if (strcmp(what, "nested") == 0) {
		omp_set_max_active_levels(2);
		for (int i = 0; i < 3; i++)
			outer();
		say("outer", begin);
	}
	return 0;
}
