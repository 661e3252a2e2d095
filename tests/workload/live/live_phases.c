/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes in a function that the test chooses: assemble_phase() until SIGUSR1 comes, then
 * solve_phase() until it comes again. Usage: live_phases THREADS [wide]. wide: by thousands of call
 * paths. It writes its process id.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static atomic_int phase;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&phase, 1);
}

NOINLINE static void assemble_phase(void)
{
	for (volatile int i = 0; i < 20000; i++)
		;
}

NOINLINE static void solve_phase(void)
{
	for (volatile int i = 30000; i > 0; i--) /* not the same code, which could be shared */
		;
}

/* One of 2^depth call paths. */
NOINLINE static int descend(unsigned path, unsigned depth)
{
	if (depth == 0)
		assemble_phase();
	else if (path & 1)
		return descend(path >> 1, depth - 1) + 1;
	else
		return descend(path >> 1, depth - 1) + 2;
	return 0;
}

static bool is_wide;

static void *work(void *arg)
{
	unsigned path = 1 + (unsigned)(uintptr_t)arg;
	while (atomic_load(&phase) == 0) {
		path = path * 1103515245u + 12345u;
		descend(path >> 8, is_wide ? 12 : 0);
	}
	while (atomic_load(&phase) == 1)
		solve_phase();
	return NULL;
}

int main(int argc, char **argv)
{
	enum { MOST = 64 };
	pthread_t threads[MOST];
	const int n = argc > 1 ? atoi(argv[1]) : 1;
	is_wide = argc > 2;
	signal(SIGUSR1, on_signal);
	printf("%ld\n", (long)getpid());
	fflush(stdout);
	for (int i = 1; i < n && i < MOST; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
			return 1;
	work(NULL);
	for (int i = 1; i < n && i < MOST; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
