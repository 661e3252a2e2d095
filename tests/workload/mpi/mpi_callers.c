/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function that calls MPI for the whole program, as libraries have it: two callers that differ
 * at the third level, and two that differ at the seventh. Usage: mpi_callers CALLS.
 */
#include <mpi.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))
#define KEEP __asm__ volatile("" ::: "memory") /* no jump instead of the call */

static NOINLINE void reduce(int n)
{
	int x = n, y;
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	KEEP;
}

static NOINLINE void sum(int n)
{
	reduce(n);
	KEEP;
}

static NOINLINE void solve_the_system_of_equations(int n)
{
	sum(n);
	KEEP;
}

static NOINLINE void smooth(int n)
{
	sum(n);
	KEEP;
}

static NOINLINE void down(int depth)
{
	if (depth)
		down(depth - 1);
	else
		MPI_Barrier(MPI_COMM_WORLD);
	KEEP;
}

static NOINLINE void first(void)
{
	down(5);
	KEEP;
}

static NOINLINE void second(void)
{
	down(5);
	KEEP;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < n; i++) {
		solve_the_system_of_equations(i);
		smooth(i); /* from two lines of one caller: one row */
		smooth(i);
		first();
		second();
	}
	return MPI_Finalize();
}
