/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that wait actively call MPI_Test and its kin up to fifty million times. So not every
 * poll is timed, and a poll that is not timed and finds nothing is only counted. Each thread
 * decides for each function. Not signal-safe. Tests: tests/unit/mpi/test_mpi_poll.c,
 * tests/cli/mpi/mpi_polls.sh.
 */
#ifndef HPCRUN_LITE_MPI_MPI_POLL_H
#define HPCRUN_LITE_MPI_MPI_POLL_H

#include "common/format/measurement_mpi.h"

#include <stdatomic.h>
#include <stdbool.h>

/* A poll that takes as long as this is worth its clocks. */
#define MPI_POLL_SHORT_NS 2000u
/* All polls are timed until so many were short; one of n * MPI_POLL_SHORT_NS takes n away. */
#define MPI_POLL_ALL_TIMED 16384u
/* Then one of so many is timed: on average one in 64. The number varies, or loops would alias. */
#define MPI_POLL_LEAST_SKIPPED 32u
#define MPI_POLL_MOST_SKIPPED 95u

/* Of one function and thread. All zero at the start. */
struct mpi_poll {
	_Atomic uint64_t *n_calls; /* of the sum that has the last recorded poll; NULL: none */
	uint64_t last_ns;          /* end of the last timed poll */
	uint32_t generation;       /* of the host */
	uint32_t n_short, n_skip, n_skipped, random;
};

/* The calling thread's state of a call that has `found`; forgets that of another generation. */
struct mpi_poll *mpi_poll_of(unsigned call, uint32_t generation);
/* Whether the poll that comes next is timed. */
bool mpi_poll_is_timed(struct mpi_poll *p);
/*
 * A timed poll has ended. Returns the time that it stands for, which is its own and that of the
 * polls since the last timed one. This is never more than has passed since then.
 */
uint64_t mpi_poll_ns(struct mpi_poll *p, uint64_t enter_ns, uint64_t leave_ns);

#endif
