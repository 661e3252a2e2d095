/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known waits. In each round, one rank sleeps before a barrier, the root sleeps before a broadcast,
 * and every second message is late. Each rank notes when it arrives; rank 0 prints what the ranks
 * waited, as lines "what nanoseconds": for the sender, the time in all receives, and in the
 * shortest of them. And in how many broadcasts a rank waited for the root: for more than a
 * millisecond, and perhaps. Usage: mpi_late ROUNDS MICROSECONDS. CLOCK_AHEAD_S says by how many
 * seconds the clock of a process is ahead of that of the others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static double ahead_ns; /* of the clock of this process */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec - ahead_ns;
}

/* Rounds in which a rank came before the root. On a busy machine all may come after it. */
static int root_awaited, root_perhaps;

/* The sum over ranks of the time from their arrival to the last one, or to that of `root`. */
static double waited(double arrival, int root)
{
	double *all = calloc((size_t)size, sizeof *all), last = 0, sum = 0, first = 1e30;
	MPI_Gather(&arrival, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		last = i == root || (root < 0 && all[i] > last) ? all[i] : last;
	for (int i = 0; i < size; i++)
		sum += all[i] < last ? last - all[i] : 0;
	for (int i = 0; i < size; i++)
		first = i != root && all[i] < first ? all[i] : first;
	root_awaited += root >= 0 && last - first > 1e6;
	root_perhaps += root >= 0 && last - first > -1e6;
	free(all);
	return sum;
}

static double late_barrier(int late, useconds_t us)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == late)
		usleep(us);
	double at = now();
	MPI_Barrier(MPI_COMM_WORLD); // late
	return waited(at, -1);
}

static double late_root(int root, useconds_t us)
{
	int x = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == root)
		usleep(us);
	double at = now();
	MPI_Bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD);
	return waited(at, root);
}

/* What rank 0 spent in receiving a message that rank 1 sends `us` after a barrier. */
static double shortest = 1e18;

static double late_sender(useconds_t us)
{
	int x = 0;
	double took = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		usleep(us);
		MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	} else if (rank == 0) {
		double at = now();
		MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		took = now() - at;
		shortest = took < shortest ? took : shortest;
	}
	return took;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	useconds_t us = (useconds_t)(argc > 2 ? atoi(argv[2]) : 20000);
	double barrier = 0, root = 0, sender = 0;
	const char *ahead = getenv("CLOCK_AHEAD_S");
	ahead_ns = ahead ? atof(ahead) * 1e9 : 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < rounds; i++) {
		barrier += late_barrier(1, us);
		root += late_root(1, us);
		sender += late_sender(0);
		sender += late_sender(us);
	}
	if (rank == 0)
		printf("barrier %.0f\nroot %.0f\nsender %.0f\nshortest %.0f\nawaited %d\n"
		       "perhaps %d\n",
		       barrier, root, sender, shortest, root_awaited, root_perhaps);
	MPI_Finalize();
	return 0;
}
