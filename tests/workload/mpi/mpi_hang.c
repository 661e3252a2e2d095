/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that hangs: after some work rank 1 waits for a message that nobody sends, and the others
 * wait for it at a barrier. Used by tests/cli/mpi/mpi_hang.sh, which kills it.
 */
#include <mpi.h>
#include <time.h>

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void work(void)
{
	volatile double x = 1;

	for (double end = cpu_s() + 0.1; cpu_s() < end;)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 1e-9;
}

int main(int argc, char **argv)
{
	int rank;
	double x = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	work();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		MPI_Recv(&x, 1, MPI_DOUBLE, 2, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* hangs */
	MPI_Barrier(MPI_COMM_WORLD); /* waits */
	MPI_Finalize();
	return 0;
}
