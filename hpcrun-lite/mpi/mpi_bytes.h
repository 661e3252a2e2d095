/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes how many bytes the arguments of a call send, and how many they have room for. Not
 * signal-safe. Test: tests/unit/mpi/test_mpi_bytes.c.
 */
#ifndef HPCRUN_LITE_MPI_MPI_BYTES_H
#define HPCRUN_LITE_MPI_MPI_BYTES_H

#include "hpcrun-lite/mpi/mpi_objects.h"

/* A call that succeeded. */
struct mpi_arguments {
	const struct mpi_library *library;
	const struct mpi_call_form *form;
	const uintptr_t *a;                /* a[1] is the first */
	bool is_large;                     /* counts are MPI_Count, displacements MPI_Aint */
	const struct mpi_object_entry *on; /* NULL: unknown */
};

/*
 * Returns the rank of the other side, or of the root. MSR_MPI_ANY_PEER: MPI_ANY_SOURCE.
 * MSR_MPI_NO_PEER: there is none, or it is MPI_PROC_NULL, in which case *is_null is set.
 */
int32_t mpi_bytes_peer(const struct mpi_arguments *c, unsigned position, bool *is_null);

/*
 * Asks MPI for the sizes of datatypes, which is an error for a datatype that does not exist. So the
 * call must have succeeded. Ignores the arguments that MPI ignores.
 */
void mpi_bytes_of(const struct mpi_arguments *c, uint64_t *sent, uint64_t *received);

#endif
