/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other side of nonblocking calls, by the handle of their request, so that a wait that does not
 * end can name it. A table of fixed size: a request replaces another one that has the same slot.
 * Nothing is removed when a request is complete. MPI may use its handle again, and then one of the
 * calls that make requests replaces or removes the entry, or MPI_Start does.
 *
 * Any thread may call these functions at any time; no locks, no malloc. Not signal-safe. Tests:
 * tests/unit/mpi/test_mpi_bytes.c, tests/cli/mpi/mpi_hang.sh.
 */
#ifndef HPCRUN_LITE_MPI_MPI_REQUESTS_H
#define HPCRUN_LITE_MPI_MPI_REQUESTS_H

#include "hpcrun-lite/mpi/mpi_library.h"

#define MPI_REQUESTS 4096u

/* What a request waits for. */
struct mpi_other_side {
	uint32_t comm; /* id in the file */
	int32_t peer;  /* rank in it, or MSR_MPI_ANY_PEER */
	uint32_t way;  /* MSR_MPI_WAY_* */
};

void mpi_requests_add(uintptr_t handle, const struct mpi_other_side *to);
/* The handle belongs to a request of another kind now. */
void mpi_requests_remove(uintptr_t handle);
/* Returns false if the request is unknown. */
bool mpi_requests_find(uintptr_t handle, struct mpi_other_side *to);

/* The requests of a call: `n` at `at`. */
struct mpi_request_array {
	const struct mpi_library *library;
	uintptr_t at; /* address; 0: none */
	int n;
};
/* Returns true if all of them that are still there have the same other side, for a few at most. */
bool mpi_requests_agree(const struct mpi_request_array *r, struct mpi_other_side *on);
void mpi_requests_remove_all(const struct mpi_request_array *r);

/* Forgets all requests, in a forked child. */
void mpi_requests_reset(void);

#endif
