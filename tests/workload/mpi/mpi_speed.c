/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long calls of MPI take that have nothing to do: one rank, messages to itself. Prints lines
 * "what nanoseconds-a-call". Usage: mpi_speed CALLS.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The same calls below eight more functions. */
static __attribute__((noinline)) void deep(int depth, int n)
{
	int x = 0, y = 0;
	if (depth) {
		deep(depth - 1, n);
		__asm__ volatile("");
		return;
	}
	for (int i = 0; i < n; i++)
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

/*
 * One call at each of 16 places below twelve more functions, as programs do whose paths are deep.
 */
static __attribute__((noinline)) void many(int depth, unsigned path)
{
	int x = 0, y = 0;
	if (depth == 0)
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
	else if (path & 1)
		many(depth - 1, path >> 1);
	else
		many(depth - 1, path >> 1);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000000, done, x = 0, y = 0;
	MPI_Request q;
	MPI_Init(&argc, &argv);
	MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q);
	double start = now();
	for (int i = 0; i < n; i++)
		MPI_Test(&q, &done, MPI_STATUS_IGNORE);
	printf("MPI_Test %.1f\n", (now() - start) / n);
	MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	start = now();
	deep(8, n);
	printf("MPI_Allreduce %.1f\n", (now() - start) / n);
	start = now();
	for (int i = 0; i < n; i++) {
		MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q);
		MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
	printf("Irecv+Send+Wait %.1f\n", (now() - start) / n / 3);
	start = now();
	for (int i = 0; i < n; i++)
		many(12, (unsigned)i & 15);
	printf("places %.1f\n", (now() - start) / n);
	MPI_Finalize();
	return 0;
}
