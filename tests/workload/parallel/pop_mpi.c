/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks whose efficiencies are known. Usage: pop_mpi late|always|large|root|hybrid ROUNDS.
 * late: rank 0 works for 20 ms, then rank 1, and each waits for the other's message meanwhile; a
 * second message comes at once. always: the same without the second message. root: the same with
 * broadcasts. large: both work for 20 ms and exchange 32 MB. hybrid: as late, with two threads that
 * work, in a phase that the program marks. Rank 0 prints "elapsed work transfer outside": seconds
 * from MPI_Init to MPI_Finalize, most CPU time of a rank's work, time of `large` in the shortest
 * exchange, times their number, and of `hybrid` the mean time outside of MPI in phases.
 */
#include "hpcrun-lite/api/hpctoolkit.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LARGE (32 << 20)

static int rank;
static double worked, shortest = 1e9, outside;
static volatile double sink;

static double seconds(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(void)
{
	double begin = seconds(CLOCK_THREAD_CPUTIME_ID), took, x = 1;
	do
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 0.5;
	while ((took = seconds(CLOCK_THREAD_CPUTIME_ID) - begin) < 0.02);
	sink = x;
#pragma omp atomic
	worked += took;
}

static void message(int from, int n)
{
	int x[2] = {0};
	for (int i = 0; i < n; i++)
		if (rank == from)
			MPI_Send(&x[i], 1, MPI_INT, 1 - from, 1, MPI_COMM_WORLD);
		else
			MPI_Recv(&x[i], 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One rank works and the other waits. */
static void in_turn(const char *how)
{
	for (int from = 0; from < 2; from++) {
		int x = 0;
		if (rank == from)
			work();
		if (strcmp(how, "root") == 0)
			MPI_Bcast(&x, 1, MPI_INT, from, MPI_COMM_WORLD);
		else
			message(from, strcmp(how, "late") == 0 ? 2 : 1);
	}
}

static void hybrid(void)
{
	hpctoolkit_sampling_start();
	double begin = seconds(CLOCK_MONOTONIC), in_mpi = 0;
	for (int from = 0; from < 2; from++) {
		if (rank == from) {
#pragma omp parallel num_threads(2)
			work();
		}
		double at = seconds(CLOCK_MONOTONIC);
		message(from, 1);
		in_mpi += seconds(CLOCK_MONOTONIC) - at;
	}
	outside += seconds(CLOCK_MONOTONIC) - begin - in_mpi;
	hpctoolkit_sampling_stop();
}

static void exchange(char *out, char *in)
{
	work();
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = seconds(CLOCK_MONOTONIC);
	MPI_Sendrecv(out, LARGE, MPI_CHAR, 1 - rank, 1, in, LARGE, MPI_CHAR, 1 - rank, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	double took = seconds(CLOCK_MONOTONIC) - begin;
	shortest = took < shortest ? took : shortest;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "late";
	const int rounds = argc > 2 ? atoi(argv[2]) : 20;
	char *out = calloc(1, LARGE), *in = calloc(1, LARGE);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	double begin = seconds(CLOCK_MONOTONIC), most, elapsed, all_outside;
	for (int i = 0; i < rounds; i++)
		if (strcmp(how, "large") == 0)
			exchange(out, in);
		else if (strcmp(how, "hybrid") == 0)
			hybrid();
		else
			in_turn(how);
	elapsed = seconds(CLOCK_MONOTONIC) - begin;
	MPI_Reduce(&worked, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(&outside, &all_outside, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.6f %.6f %.6f %.6f\n", elapsed, most,
		       shortest < 1e9 ? shortest * rounds : 0, all_outside / 2);
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
