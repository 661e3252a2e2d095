/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of the kept measurements; README.md has the commands. Built with MPI and OpenMP, with
 * OpenMP alone, or with neither. `kept hang`: rounds are phases, what tidies up between them is not
 * measured, and in the third one rank 1 waits for a message that nobody sends.
 */
#ifdef WITH_MPI
#include <hpctoolkit.h>
#include <mpi.h>
#endif
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4, PIECES = 12 };

static volatile double sink;

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void work(double seconds)
{
	double x = 1;
	for (double end = cpu_s() + seconds; cpu_s() < end;)
		for (int i = 0; i < 1000; i++)
			x = x * 1.0000001 + 0.5;
	sink = x;
}

/* The first thread has more to do. */
static void solve(int rank)
{
#pragma omp parallel for num_threads(2) schedule(static)
	for (int i = 0; i < PIECES; i++)
		work(i < PIECES / 2 ? 0.003 + 0.002 * rank : 0.001);
}

static void tidy(void)
{
#pragma omp parallel num_threads(2)
#pragma omp critical
	work(0.002);
	usleep(3000);
}

#ifdef WITH_MPI
static void exchange(int rank, int size)
{
	double x[1000] = {0}, sum;
	if (rank == 0)
		for (int i = 1; i < size; i++)
			MPI_Send(x, 100 * i, MPI_DOUBLE, i, 1, MPI_COMM_WORLD);
	else
		MPI_Recv(x, 1000, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void hang(int rank)
{
	double x;
	if (rank == 1)
		MPI_Recv(&x, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}
#endif

static void begin_phase(int is_wanted)
{
#ifdef WITH_MPI
	if (is_wanted)
		hpctoolkit_sampling_start();
#endif
	(void)is_wanted;
}

static void end_phase(int is_wanted)
{
#ifdef WITH_MPI
	if (is_wanted)
		hpctoolkit_sampling_stop();
#endif
	(void)is_wanted;
}

int main(int argc, char **argv)
{
	int rank = 0;
#ifdef WITH_MPI
	int size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
#endif
	for (int i = 0; i < ROUNDS; i++) {
		begin_phase(argc > 1);
		solve(rank);
#ifdef WITH_MPI
		exchange(rank, size);
		if (argc > 1 && i == 2)
			hang(rank);
#endif
		end_phase(argc > 1);
		tidy();
	}
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	(void)argv;
	return 0;
}
