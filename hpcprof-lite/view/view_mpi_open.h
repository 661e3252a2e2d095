/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI that threads were in at their end, as in a job that hung until it was killed.
 * Test: tests/unit/prof_mpi/test_mpi_model.c, tests/cli/mpi/mpi_hang.sh.
 */
#ifndef HPCPROF_VIEW_VIEW_MPI_OPEN_H
#define HPCPROF_VIEW_VIEW_MPI_OPEN_H

#include "hpcprof-lite/model/model.h"

/* Threads that were in the same function at the same place. */
struct view_mpi_open {
	const struct model_mpi_call *longest; /* of the thread that was in it for longest */
	uint32_t n_threads;
};

/*
 * Sets *open to `*n` of them, by falling time of the longest; the caller frees it. NULL and 0:
 * there is none. False if memory is short.
 */
bool view_mpi_open_make(const struct model *m, struct view_mpi_open **open, size_t *n);

/* "MPI_Recv from rank 3"; the other side only of a single thread. Returns `name`. */
enum { VIEW_MPI_CALL = 96 };
const char *view_mpi_open_name(const struct view_mpi_open *o, char name[VIEW_MPI_CALL]);

#endif
