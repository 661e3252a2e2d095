/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For mpi_late.c: a tool on the profiling interface that notes when its process was inside a call.
 * It is linked into the program, so hpcrun-lite's functions call these. Whatever takes the
 * processor away, our times are between the program's clock outside and this one inside.
 */
#include <mpi.h>
#include <time.h>

double inside_ns[2]; /* start and end of the last call */

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int MPI_Barrier(MPI_Comm comm)
{
	inside_ns[0] = now();
	return PMPI_Barrier(comm);
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
	inside_ns[0] = now();
	return PMPI_Bcast(data, n, type, root, comm);
}

int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	     MPI_Status *status)
{
	inside_ns[0] = now();
	int error = PMPI_Recv(data, n, type, from, tag, comm, status);
	inside_ns[1] = now();
	return error;
}
