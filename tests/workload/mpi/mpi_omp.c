/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of OpenMP call MPI in a region that two functions fork in turn. The worker's own
 * stack is the same each time, and its call path is not. Usage: mpi_omp ROUNDS
 */
#include <mpi.h>
#include <stdlib.h>

static __attribute__((noinline)) void step(void)
{
#pragma omp parallel num_threads(2)
	{
		int flag;
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
}

static __attribute__((noinline)) void one(void)
{
	step();
	__asm__ volatile(""); /* no tail call */
}

static __attribute__((noinline)) void other(void)
{
	step();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int level;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	for (int i = 0; argc > 1 && i < atoi(argv[1]); i++) {
		one();
		other();
	}
	MPI_Finalize();
	return 0;
}
