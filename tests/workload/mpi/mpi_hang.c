/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that hangs: after some work rank 1 waits for a message that nobody sends. Rank 0 waits for
 * one from rank 1, by a request, and rank 2 at a barrier. Rank 3 waits for a persistent request,
 * whose handle was that of an earlier request. Used by tests/cli/mpi/mpi_hang.sh, which kills the
 * job.
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
	double x = 0, y = 0;
	MPI_Request q, old;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	work();
	MPI_Irecv(&x, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &q);
	old = q;
	MPI_Send(&y, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	for (int i = 0; rank == 3 && i < 100 && q != old; i++)
		MPI_Recv_init(&x, 1, MPI_DOUBLE, 2, 97, MPI_COMM_WORLD, &q);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Irecv(&x, 1, MPI_DOUBLE, 1, 98, MPI_COMM_WORLD, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE); /* waits for a request */
	}
	if (rank == 1)
		MPI_Recv(&x, 1, MPI_DOUBLE, 2, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* hangs */
	if (rank == 3) {
		MPI_Start(&q);
		MPI_Wait(&q, MPI_STATUS_IGNORE); /* waits for a persistent request */
	}
	MPI_Barrier(MPI_COMM_WORLD); /* waits */
	MPI_Finalize();
	return 0;
}
