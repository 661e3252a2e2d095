/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls on an intercommunicator between rank 0 and the others. Arguments that MPI
 * ignores there are wrong, and arrays are at the end of a page, behind which nothing is.
 */
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

static int *array_of(int n, int value)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(at + page, page);
	int *array = (int *)(at + page) - n;
	for (int i = 0; i < n; i++)
		array[i] = value;
	return array;
}

int main(int argc, char **argv)
{
	int rank, n_remote, from[16] = {0}, to[16];
	const int at[] = {0, 1, 2, 3};
	MPI_Comm local, inter;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	const int is_first = rank == 0;
	MPI_Comm_split(MPI_COMM_WORLD, is_first, rank, &local);
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, is_first, 7, &inter);
	MPI_Gather(&rank, 1, MPI_INT, to, 1, is_first ? MPI_INT : MPI_DATATYPE_NULL,
		   is_first ? MPI_ROOT : 0, inter);
	MPI_Comm_remote_size(inter, &n_remote);
	const int *counts = array_of(n_remote, 1);
	MPI_Alltoallv(from, counts, at, MPI_INT, to, counts, at, MPI_INT, inter);
	MPI_Allgather(&rank, 1, MPI_INT, to, 1, MPI_INT, inter);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&local);
	MPI_Finalize();
	return 0;
}
