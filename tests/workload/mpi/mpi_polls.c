/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polls that find nothing, at two places in turn, and now and then one that finds something. In
 * each round measurement stops for OFF polls. Prints nanoseconds and CPU time of the polls that
 * were measured, and how many these were. Usage: mpi_polls ROUNDS POLLS [OFF].
 */
#include "hpcrun-lite/api/hpctoolkit.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10, polls = argc > 2 ? atoi(argv[2]) : 10000;
	int off = argc > 3 ? atoi(argv[3]) : 0, done, x = 0, y = 0;
	long long ns = 0, cpu_ns = 0, n_tests = 0;
	MPI_Request q;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < rounds; i++) {
		MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &q);
		ns -= now(CLOCK_MONOTONIC);
		cpu_ns -= now(CLOCK_THREAD_CPUTIME_ID);
		for (int k = 0; k < polls; k++) {
			MPI_Test(&q, &done, MPI_STATUS_IGNORE); /* the first place */
			MPI_Test(&q, &done, MPI_STATUS_IGNORE); /* the second place */
		}
		cpu_ns += now(CLOCK_THREAD_CPUTIME_ID);
		ns += now(CLOCK_MONOTONIC);
		if (off)
			hpctoolkit_sampling_stop();
		for (int k = 0; k < off; k++)
			MPI_Test(&q, &done, MPI_STATUS_IGNORE);
		if (off)
			hpctoolkit_sampling_start();
		MPI_Iprobe(0, 2, MPI_COMM_SELF, &done, MPI_STATUS_IGNORE);
		MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
		ns -= now(CLOCK_MONOTONIC);
		cpu_ns -= now(CLOCK_THREAD_CPUTIME_ID);
		for (done = 0; !done; n_tests++)
			MPI_Test(&q, &done, MPI_STATUS_IGNORE); /* the third place */
		n_tests += 2 * polls;
		cpu_ns += now(CLOCK_THREAD_CPUTIME_ID);
		ns += now(CLOCK_MONOTONIC);
	}
	printf("%lld %lld %lld\n", ns, cpu_ns, n_tests);
	MPI_Finalize();
	return 0;
}
