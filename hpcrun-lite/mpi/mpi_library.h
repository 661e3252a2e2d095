/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI library of the process, without its header: where its functions are, the form of its
 * handles and constants, and the few of its functions that we call. Not signal-safe. Tests:
 * tests/cli/mpi/mpi_truth.sh, tests/cli/mpi/mpi_python.sh.
 */
#ifndef HPCRUN_LITE_MPI_MPI_LIBRARY_H
#define HPCRUN_LITE_MPI_MPI_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

enum mpi_abi {
	MPI_ABI_UNKNOWN, /* calls are counted and timed; bytes and communicators stay unknown */
	MPI_ABI_OPEN,    /* Open MPI and its relatives: handles are pointers */
	MPI_ABI_MPICH    /* MPICH and its relatives: handles are int, except files */
};

/* All functions return 0 on success. Handles are passed as words, whatever their size. */
struct mpi_library {
	enum mpi_abi abi;
	uintptr_t world, self, null, in_place; /* three communicators, and MPI_IN_PLACE */
	uintptr_t null_request;
	int proc_null, any_source;
	int (*type_size)(uintptr_t type, int64_t *size);
	int (*comm_size)(uintptr_t comm, int *size);
	int (*comm_rank)(uintptr_t comm, int *rank);
	int (*comm_test_inter)(uintptr_t comm, int *is_inter);
	int (*comm_group)(uintptr_t comm, uintptr_t *group);
	int (*group_free)(uintptr_t *group);
	int (*translate)(uintptr_t from, int n, const int *ranks, uintptr_t to, int *result);
	int (*cart_dimensions)(uintptr_t comm, int *n);
	int (*graph_degree)(uintptr_t comm, int rank, int *n);
	int (*dist_graph_degrees)(uintptr_t comm, int *in, int *out, int *weighted);
};

/*
 * Returns the function `name` that `caller` would call without us: the next definition, or one that
 * only the caller's library can see (Python loads MPI without making its names global). If the
 * caller cannot see any, which happens after a tail call, takes that of any library. NULL: none.
 */
void *mpi_library_find(const char *name, const void *caller);

/*
 * The library that holds `function`. The first call examines it. Never NULL; the ABI is unknown
 * while another thread examines it.
 */
const struct mpi_library *mpi_library(const void *function);

/* The value of a handle that was passed as an argument, or to which an argument points. */
static inline uintptr_t mpi_handle(const struct mpi_library *l, bool is_file, uintptr_t word)
{
	return l->abi == MPI_ABI_MPICH && !is_file ? (uint32_t)word : word;
}
static inline uintptr_t mpi_handle_at(const struct mpi_library *l, bool is_file, uintptr_t pointer)
{
	if (!pointer)
		return 0;
	return l->abi == MPI_ABI_MPICH && !is_file ? *(const uint32_t *)pointer
						   : *(const uintptr_t *)pointer;
}

#endif
