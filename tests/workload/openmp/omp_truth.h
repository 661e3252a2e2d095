/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the OpenMP workloads share: work whose amount is known, and clocks. Each thread adds the
 * times of its spans up, by name. At the end the program prints for each name one line
 *
 *	truth NAME WALL CPU COUNT
 *
 * if there was any, with sums over all threads: seconds on CLOCK_MONOTONIC, seconds of CPU time of
 * the threads, and the number of spans. Lengths are random, so that no period of the program meets
 * the period of the sampling. Used by tests/cli/openmp/omp_*.sh.
 */
#ifndef OMP_TRUTH_H
#define OMP_TRUTH_H

#include "../e2e/shares.h"

#include <string.h>

enum { TRUTH_THREADS = 64, TRUTH_NAMES = 16 };

struct truth_sum {
	double wall_s, cpu_s;
	uint64_t n;
};

/* At the end of a function or region: the call before it stays a call, and its caller a frame. */
#define STAY() __asm__ volatile("")

/* One row a thread, so that no line of memory is shared. */
static struct truth_row {
	struct truth_sum sum[TRUTH_NAMES];
	uint64_t seed;
	char pad[64];
} truth_rows[TRUTH_THREADS];

struct truth_span {
	double wall_s, cpu_s;
};

/* Not inline: instructions of its callers would be between its own, and so on its lines. */
NOINLINE __attribute__((unused)) static double truth_wall_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/*
 * TRUTH_WALL_ONLY: without CPU time. Its clock is a system call, after which a busy kernel likes to
 * run other threads: outside of the span for the program, inside for the samples.
 */
static inline struct truth_span truth_now(void)
{
#ifdef TRUTH_WALL_ONLY
	return (struct truth_span){truth_wall_s(), 0};
#else
	return (struct truth_span){truth_wall_s(), shares_thread_cpu_s()};
#endif
}

/* Adds the time since *from to `what` of the thread's row, and sets *from to now. */
static inline void truth_add(int row, int what, struct truth_span *from)
{
	const struct truth_span now = truth_now();
	struct truth_sum *sum = &truth_rows[row].sum[what];

	sum->wall_s += now.wall_s - from->wall_s;
	sum->cpu_s += now.cpu_s - from->cpu_s;
	sum->n++;
	*from = now;
}

/* The same where only the wall clock is known. */
static inline void truth_add_wall(int row, int what, double wall_s)
{
	truth_rows[row].sum[what].wall_s += wall_s;
	truth_rows[row].sum[what].n++;
}

static inline void truth_print(const char *const *name)
{
	for (int what = 0; name[what]; what++) {
		struct truth_sum all = {0, 0, 0};

		for (int row = 0; row < TRUTH_THREADS; row++) {
			all.wall_s += truth_rows[row].sum[what].wall_s;
			all.cpu_s += truth_rows[row].sum[what].cpu_s;
			all.n += truth_rows[row].sum[what].n;
		}
		if (!all.n)
			continue;
		printf("truth %s %.9f %.9f %llu\n", name[what], all.wall_s, all.cpu_s,
		       (unsigned long long)all.n);
	}
}

/* `amount` times about a millisecond of work, half to one and a half of that at random. */
static inline __attribute__((always_inline)) void truth_burn(int row, double amount)
{
	uint64_t x = 1;
	const uint64_t n = (uint64_t)((double)shares_length(&truth_rows[row].seed) * 16 * amount);

	for (uint64_t i = 0; i < n; i++)
		UNIT(x);
}

/* The lengths of a thread's spans are its own. Call it once, before any other. */
static inline void truth_start(void)
{
	for (int row = 0; row < TRUTH_THREADS; row++)
		truth_rows[row].seed = (uint64_t)row * 977 + 1;
}

#endif
