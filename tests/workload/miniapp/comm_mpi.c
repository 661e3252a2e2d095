/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks over MPI: slabs in z, neighbours below and above. Only the master thread of a team calls
 * MPI (MPI_THREAD_FUNNELED). See comm.h; the test is tests/cli/e2e/e2e_mpi.sh.
 */
#include "comm.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

void comm_start(int *argc, char ***argv)
{
	int provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
	if (provided < MPI_THREAD_FUNNELED) {
		fprintf(stderr, "melt: this MPI library does not allow threads\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
}

void comm_finish(int status)
{
	/* A rank that fails alone must not leave the others waiting. */
	if (status != 0)
		MPI_Abort(MPI_COMM_WORLD, status);
	MPI_Finalize();
}

int comm_rank(void)
{
	return rank;
}

int comm_size(void)
{
	return size;
}

void comm_exchange(const struct grid *grid, double *field)
{
#pragma omp master
	{
		const int n = (int)grid_plane(grid);
		const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
		const int above = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
		double *ghost_below = field + grid_cell(grid, 0, 0, -1);
		double *ghost_above = field + grid_cell(grid, 0, 0, grid->nz);
		double *first = field + grid_cell(grid, 0, 0, 0);
		double *last = field + grid_cell(grid, 0, 0, grid->nz - 1);

		MPI_Sendrecv(last, n, MPI_DOUBLE, above, 0, ghost_below, n, MPI_DOUBLE, below, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Sendrecv(first, n, MPI_DOUBLE, below, 1, ghost_above, n, MPI_DOUBLE, above, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
#pragma omp barrier
}

void comm_gather_planes(const struct grid *grid, double *plane)
{
	/* All ranks have the same number of planes (simulation_create sees to that), so no
	 * displacements are needed. */
#pragma omp master
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, plane, grid->nz, MPI_DOUBLE,
		      MPI_COMM_WORLD);
#pragma omp barrier
}
