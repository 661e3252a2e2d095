/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known waits. In each round, one rank sleeps before a barrier, the root sleeps before a broadcast,
 * and every second message is late. Each rank notes when it arrives, before the call and inside of
 * it (mpi_arrive.c), so it knows bounds of every wait that hold on the busiest machine. Rank 0
 * prints lines "what least most": nanoseconds that all ranks waited for a late rank, a late root
 * and a late sender, and the number of broadcasts in which a rank waited for the root. Usage:
 * mpi_late ROUNDS MICROSECONDS CLOCK-ERROR. The last is for that number: by how many microseconds
 * the clocks of two hosts may be compared wrongly. CLOCK_AHEAD_S says by how many seconds the clock
 * of a process is ahead of that of the others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern double inside_ns[2]; /* of mpi_arrive.c */

static int rank, size;
static double ahead_ns; /* of the clock of this process */
static double clock_error_ns;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec - ahead_ns;
}

struct bounds {
	double least, most;
};

static void add(struct bounds *b, double least, double most)
{
	b->least += least > 0 ? least : 0;
	b->most += most > 0 ? most : 0;
}

/* When each rank arrived at the last call. */
static struct bounds *arrivals(double before)
{
	struct bounds own = {before, inside_ns[0] - ahead_ns};
	struct bounds *all = calloc((size_t)size, sizeof *all);
	if (!all)
		exit(2);
	MPI_Gather(&own, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	return all;
}

static void late_barrier(int late, useconds_t us, struct bounds *waited)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == late)
		usleep(us);
	double at = now();
	MPI_Barrier(MPI_COMM_WORLD); // late
	struct bounds *all = arrivals(at), last = all[0];
	for (int i = 1; i < size; i++) {
		last.least = all[i].least > last.least ? all[i].least : last.least;
		last.most = all[i].most > last.most ? all[i].most : last.most;
	}
	for (int i = 0; i < size; i++)
		add(waited, last.least - all[i].most, last.most - all[i].least);
	free(all);
}

static void late_root(int root, useconds_t us, struct bounds *waited, struct bounds *awaited)
{
	int x = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == root)
		usleep(us);
	double at = now();
	MPI_Bcast(&x, 1, MPI_INT, root, MPI_COMM_WORLD);
	struct bounds *all = arrivals(at), longest = {0, -1e30};
	for (int i = 0; i < size; i++) {
		double least = all[root].least - all[i].most, most = all[root].most - all[i].least;
		if (i == root)
			continue;
		add(waited, least, most);
		longest.least = least > longest.least ? least : longest.least;
		longest.most = most > longest.most ? most : longest.most;
	}
	add(awaited, longest.least > clock_error_ns, longest.most > -clock_error_ns);
	free(all);
}

/* Calls of MPI_Recv on rank 0. */
static struct bounds received, shortest = {1e30, 1e30};
static int n_received;

static void late_sender(useconds_t us)
{
	int x = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1) {
		usleep(us);
		MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	} else if (rank == 0) {
		double at = now();
		MPI_Recv(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		double most = now() - at, least = inside_ns[1] - inside_ns[0];
		add(&received, least, most);
		shortest.least = least < shortest.least ? least : shortest.least;
		shortest.most = most < shortest.most ? most : shortest.most;
		n_received++;
	}
}

static void print(const char *what, const struct bounds *b)
{
	printf("%s %.0f %.0f\n", what, b->least, b->most);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	useconds_t us = (useconds_t)(argc > 2 ? atoi(argv[2]) : 20000);
	struct bounds barrier = {0}, root = {0}, awaited = {0};
	const char *ahead = getenv("CLOCK_AHEAD_S");
	ahead_ns = ahead ? atof(ahead) * 1e9 : 0;
	clock_error_ns = argc > 3 ? atof(argv[3]) * 1e3 : 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < rounds; i++) {
		late_barrier(1, us, &barrier);
		late_root(1, us, &root, &awaited);
		late_sender(0);
		late_sender(us);
	}
	if (rank == 0) {
		print("barrier", &barrier);
		print("root", &root);
		/*
		 * What the shortest took is transfer, but no more than a slow network takes for 4
		 * bytes: 100 us and 10 ns a byte.
		 */
		const double slow_ns = 1e5 + 4 * 10;
		shortest.least = shortest.least < slow_ns ? shortest.least : slow_ns;
		shortest.most = shortest.most < slow_ns ? shortest.most : slow_ns;
		print("sender", &(struct bounds){received.least - n_received * shortest.most,
						 received.most - n_received * shortest.least});
		print("awaited", &awaited);
	}
	MPI_Finalize();
	return 0;
}
