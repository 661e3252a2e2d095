/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths in OpenMP, with known shares of work: one kind a run. Usage: omp_paths KIND [ROUNDS
 * [THREADS]].
 *
 *	sites    a function with two regions, called from two places
 *	nested   two levels of regions
 *	teams    one region after the other, with more and fewer threads
 *	fib      a tree of tasks, as for Fibonacci's numbers
 *	loop     a taskloop
 *	untied   untied tasks that are suspended and go on elsewhere
 *	chain    a deep path before the region and within it
 *	one      regions with one thread: `if (0)`, and num_threads(1)
 *
 * Each kind of work is a function of its own. Used by tests/cli/openmp/omp_paths.sh.
 */
#include "omp_truth.h"

#include <omp.h>

enum { FIRST, SECOND, THIRD, OUTER, INNER, LEAF, ITEM };
static const char *const names[] = {"first_work", "second_work", "third_work", "outer_work",
				    "inner_work", "leaf_work",   "item_work",  NULL};

static int n_threads;

#define WORK(function, what)                                  \
	NOINLINE static void function(int row, double amount) \
	{                                                     \
		struct truth_span s = truth_now();            \
                                                              \
		truth_burn(row, amount);                      \
		truth_add(row, what, &s);                     \
	}
WORK(first_work, FIRST)
WORK(second_work, SECOND)
WORK(third_work, THIRD)
WORK(outer_work, OUTER)
WORK(inner_work, INNER)
WORK(leaf_work, LEAF)
WORK(item_work, ITEM)

/* ---- sites ---- */

NOINLINE static void two_regions(double amount)
{
#pragma omp parallel num_threads(n_threads)
	{
		first_work(omp_get_thread_num(), amount);
		STAY();
	}
#pragma omp parallel num_threads(n_threads)
	{
		second_work(omp_get_thread_num(), amount / 2);
		STAY();
	}
	STAY();
}

NOINLINE static void site_a(void)
{
	two_regions(1);
	STAY();
}

NOINLINE static void site_b(void)
{
	two_regions(3);
	STAY();
}

NOINLINE static void do_sites(void)
{
	site_a();
	site_b();
	STAY();
}

/* ---- nested ---- */

NOINLINE static void inner_region(int outer)
{
#pragma omp parallel num_threads(2)
	{
		inner_work(2 * outer + omp_get_thread_num(), 1);
		STAY();
	}
	STAY();
}

NOINLINE static void do_nested(void)
{
#pragma omp parallel num_threads(n_threads)
	{
		const int row = omp_get_thread_num();

		outer_work(2 * row, 1);
		inner_region(row);
		STAY();
	}
	STAY();
}

/* ---- teams ---- */

NOINLINE static void do_teams(void)
{
#pragma omp parallel num_threads(n_threads)
	{
		first_work(omp_get_thread_num(), 0.5);
		STAY();
	}
	omp_set_num_threads(2 * n_threads);
#pragma omp parallel
	{
		second_work(omp_get_thread_num(), 0.5);
		STAY();
	}
	omp_set_num_threads(1);
#pragma omp parallel
	{
		third_work(omp_get_thread_num(), 2);
		STAY();
	}
	STAY();
}

/* ---- tasks ---- */

NOINLINE static void fib(int n)
{
	if (n < 2) {
		leaf_work(omp_get_thread_num(), 0.25);
		return;
	}
#pragma omp task
	{
		fib(n - 1);
		STAY();
	}
#pragma omp task
	{
		fib(n - 2);
		STAY();
	}
#pragma omp taskwait
	STAY();
}

NOINLINE static void do_fib(void)
{
#pragma omp parallel num_threads(n_threads)
	{
#pragma omp single
		{
			fib(5);
			STAY();
		}
		STAY();
	}
	STAY();
}

NOINLINE static void do_loop(void)
{
#pragma omp parallel num_threads(n_threads)
	{
#pragma omp single
#pragma omp taskloop grainsize(1)
		for (int i = 0; i < 8; i++) {
			item_work(omp_get_thread_num(), 0.5);
			STAY();
		}
		STAY();
	}
	STAY();
}

NOINLINE static void do_untied(void)
{
#pragma omp parallel num_threads(n_threads)
	{
#pragma omp single
		for (int i = 0; i < 4; i++) {
#pragma omp task untied
			{
				first_work(omp_get_thread_num(), 0.5);
#pragma omp task
				{
					leaf_work(omp_get_thread_num(), 0.5);
					STAY();
				}
#pragma omp taskyield
				second_work(omp_get_thread_num(), 0.5);
#pragma omp taskwait
				third_work(omp_get_thread_num(), 0.5);
				STAY();
			}
		}
		STAY();
	}
	STAY();
}

/* ---- chain ---- */

NOINLINE static void inside(int depth)
{
	if (depth)
		inside(depth - 1);
	else
		inner_work(omp_get_thread_num(), 1);
	STAY();
}

NOINLINE static void outside(int depth)
{
	if (depth) {
		outside(depth - 1);
	} else {
#pragma omp parallel num_threads(n_threads)
		{
			inside(20);
			STAY();
		}
	}
	STAY();
}

NOINLINE static void do_chain(void)
{
	outside(30);
	STAY();
}

/* ---- one ---- */

NOINLINE static void do_one(void)
{
#pragma omp parallel if (0)
	{
		first_work(omp_get_thread_num(), 1);
		STAY();
	}
#pragma omp parallel num_threads(1)
	{
		second_work(omp_get_thread_num(), 1);
		STAY();
	}
	STAY();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} kind[] = {
		{"sites", do_sites}, {"nested", do_nested}, {"teams", do_teams}, {"fib", do_fib},
		{"loop", do_loop},   {"untied", do_untied}, {"chain", do_chain}, {"one", do_one},
	};
	const int rounds = argc > 2 ? atoi(argv[2]) : 50;

	n_threads = argc > 3 ? atoi(argv[3]) : 2;
	omp_set_max_active_levels(2);
	truth_start();
	for (unsigned i = 0; i < sizeof kind / sizeof *kind; i++) {
		if (argc < 2 || strcmp(argv[1], kind[i].name) != 0)
			continue;
		for (int round = 0; round < rounds; round++)
			kind[i].run();
		truth_print(names);
		return 0;
	}
	fprintf(stderr, "usage: %s KIND [ROUNDS [THREADS]]\n", argv[0]);
	return 2;
}
