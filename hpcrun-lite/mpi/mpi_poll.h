/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that wait actively call MPI_Test and similar functions up to fifty million times. So we
 * do not time every poll, and a poll that is not timed and finds nothing is only counted. Each
 * thread decides for each function. Not signal-safe. Tests: tests/unit/mpi/test_mpi_poll.c,
 * tests/cli/mpi/mpi_polls.sh.
 */
#ifndef HPCRUN_LITE_MPI_MPI_POLL_H
#define HPCRUN_LITE_MPI_MPI_POLL_H

#include "common/format/measurement_mpi.h"

#include <stdatomic.h>
#include <stdbool.h>

/* A poll that takes at least this long is worth the cost of reading the clock. */
#define MPI_POLL_SHORT_NS 2000u
/* All polls are timed until this many were short. A poll of n * MPI_POLL_SHORT_NS subtracts n. */
#define MPI_POLL_ALL_TIMED 16384u
/* After that, on average one in 64 is timed. The number varies, so that loops do not alias. */
#define MPI_POLL_LEAST_SKIPPED 32u
#define MPI_POLL_MOST_SKIPPED 95u

/* For one function and thread. All zero at the start. */
struct mpi_poll {
	_Atomic uint64_t *n_calls; /* of the sum that has the last recorded poll; NULL: none */
	uint64_t last_ns;          /* end of the last timed poll */
	uint32_t generation;       /* of the host */
	uint32_t n_short, n_skip, n_skipped, random;
};

/* The calling thread's state for a call that has `found`. Forgets that of another generation. */
struct mpi_poll *mpi_poll_of(unsigned call, uint32_t generation);
/* Returns whether to time the next poll. */
bool mpi_poll_is_timed(struct mpi_poll *p);
/*
 * A timed poll has ended. Returns the time to record for it: its own time and that of the polls
 * since the last timed one. This is never more than the time that has passed since then.
 */
uint64_t mpi_poll_ns(struct mpi_poll *p, uint64_t enter_ns, uint64_t leave_ns);

#endif
