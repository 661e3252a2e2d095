/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of known length in OpenMP: one construct a run, whose threads work and wait as the clocks
 * that they read say. Usage: omp_waits CONSTRUCT [ROUNDS [THREADS [RATIO]]]. In `static`, `dynamic`
 * and `barrier` the last thread has RATIO times the work of each other. Used by
 * tests/cli/openmp/omp_waits.sh.
 */
#define TRUTH_WALL_ONLY
#include "omp_truth.h"

#include <omp.h>

enum { WORK, WAIT, HOLD, SERIAL, IDLE, REGION };
static const char *const names[] = {"work", "wait", "hold", "serial", "idle", "region", NULL};

static int n_threads;
static double ratio;
static double end_s[TRUTH_THREADS];

static double amount_of(int row)
{
	return row == n_threads - 1 ? ratio : 1;
}

NOINLINE static void work(int row, double amount)
{
	struct truth_span s = truth_now();

	truth_burn(row, amount);
	truth_add(row, WORK, &s);
}

/* What a thread waits from its own end to the end of the region. */
static void add_waits(double begin_s)
{
	const double now_s = truth_wall_s();

	for (int row = 0; row < n_threads; row++)
		truth_add_wall(row, WAIT, now_s - end_s[row]);
	truth_add_wall(0, REGION, now_s - begin_s);
}

NOINLINE static void do_static(void)
{
	const double begin_s = truth_wall_s();

#pragma omp parallel for schedule(static) num_threads(n_threads)
	for (int i = 0; i < 4 * n_threads; i++) {
		const int row = omp_get_thread_num();

		work(row, amount_of(row));
		end_s[row] = truth_wall_s();
	}
	add_waits(begin_s);
}

NOINLINE static void do_dynamic(void)
{
	const double begin_s = truth_wall_s();

	for (int row = 0; row < n_threads; row++)
		end_s[row] = begin_s;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
	for (int i = 0; i < 4 * n_threads; i++) {
		const int row = omp_get_thread_num();

		work(row, i == 4 * n_threads - 1 ? 4 * ratio : 1);
		end_s[row] = truth_wall_s();
	}
	add_waits(begin_s);
}

NOINLINE static void do_barrier(void)
{
#pragma omp parallel num_threads(n_threads)
	{
		const int row = omp_get_thread_num();

		for (int i = 0; i < 4; i++) {
			work(row, amount_of(row));
			struct truth_span s = truth_now();
#pragma omp barrier
			truth_add(row, WAIT, &s);
		}
	}
	STAY();
}

NOINLINE static void hold(int row)
{
	struct truth_span s = truth_now();

	truth_burn(row, 1);
	truth_add(row, HOLD, &s);
}

NOINLINE static void do_critical(void)
{
#pragma omp parallel num_threads(n_threads)
	{
		const int row = omp_get_thread_num();

		for (int i = 0; i < 4; i++) {
			work(row, 0.25);
			struct truth_span s = truth_now();
#pragma omp critical
			{
				truth_add(row, WAIT, &s);
				hold(row);
			}
		}
	}
	STAY();
}

NOINLINE static void do_lock(void)
{
	static omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel num_threads(n_threads)
	{
		const int row = omp_get_thread_num();

		for (int i = 0; i < 4; i++) {
			work(row, 0.25);
			struct truth_span s = truth_now();
			omp_set_lock(&lock);
			truth_add(row, WAIT, &s);
			hold(row);
			omp_unset_lock(&lock);
		}
	}
	omp_destroy_lock(&lock);
}

NOINLINE static void do_ordered(void)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(n_threads)
	for (int i = 0; i < 4 * n_threads; i++) {
		const int row = omp_get_thread_num();
		struct truth_span s;

		work(row, 0.25);
		s = truth_now();
#pragma omp ordered
		{
			truth_add(row, WAIT, &s);
			hold(row);
		}
	}
	STAY();
}

NOINLINE static void serial(void)
{
	struct truth_span s = truth_now();

	truth_burn(0, 4);
	truth_add(0, SERIAL, &s);
}

/* The workers are idle from the end of a region to their begin of the next. */
NOINLINE static void do_serial(void)
{
	static double region_end_s;

	serial();
#pragma omp parallel num_threads(n_threads)
	{
		const int row = omp_get_thread_num();

		if (row && region_end_s > 0)
			truth_add_wall(row, IDLE, truth_wall_s() - region_end_s);
		work(row, 1);
		STAY();
	}
	region_end_s = truth_wall_s();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} construct[] = {
		{"static", do_static},     {"dynamic", do_dynamic}, {"barrier", do_barrier},
		{"critical", do_critical}, {"lock", do_lock},       {"ordered", do_ordered},
		{"serial", do_serial},
	};
	const int rounds = argc > 2 ? atoi(argv[2]) : 50;

	n_threads = argc > 3 ? atoi(argv[3]) : 2;
	ratio = argc > 4 ? atof(argv[4]) : 3;
	truth_start();
	for (unsigned i = 0; i < sizeof construct / sizeof *construct; i++) {
		if (argc < 2 || strcmp(argv[1], construct[i].name) != 0)
			continue;
		for (int round = 0; round < rounds; round++)
			construct[i].run();
		truth_print(names);
		return 0;
	}
	fprintf(stderr, "usage: %s CONSTRUCT [ROUNDS [THREADS [RATIO]]]\n", argv[0]);
	return 2;
}
