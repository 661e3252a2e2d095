/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls that find nothing, at two places in turn, and now and then one that finds something. Prints
 * the nanoseconds of the loop. Usage: mpi_polls ROUNDS POLLS.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10, polls = argc > 2 ? atoi(argv[2]) : 10000;
	int done, x = 0, y = 0;
	MPI_Request q;
	MPI_Init(&argc, &argv);
	long long start = now();
	for (int i = 0; i < rounds; i++) {
		MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q);
		for (int k = 0; k < polls; k++) {
			MPI_Test(&q, &done, MPI_STATUS_IGNORE); /* the first place */
			MPI_Test(&q, &done, MPI_STATUS_IGNORE); /* the second place */
		}
		MPI_Iprobe(0, 2, MPI_COMM_SELF, &done, MPI_STATUS_IGNORE);
		MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
		for (done = 0; !done;)
			MPI_Test(&q, &done, MPI_STATUS_IGNORE); /* the third place */
	}
	printf("%lld\n", now() - start);
	MPI_Finalize();
	return 0;
}
