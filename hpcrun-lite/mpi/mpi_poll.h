/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that wait actively call MPI_Test and similar functions up to fifty million times. So we
 * do not read the clock and walk the stack for every poll. One poll in 128 is timed. A poll that is
 * not timed and finds nothing is only counted, if it is short by the processor's counter of ticks.
 * If it is long, it is recorded: no estimate can stand for a few polls that take 100 times as long.
 * Each thread decides for each function. Not signal-safe. Tests: tests/unit/mpi/test_mpi_poll.c,
 * tests/cli/mpi/mpi_polls.sh.
 */
#ifndef HPCRUN_LITE_MPI_MPI_POLL_H
#define HPCRUN_LITE_MPI_MPI_POLL_H

#include "common/format/measurement_mpi.h"

#include <stdatomic.h>
#include <stdbool.h>

/* A poll that takes at least this long is worth the cost of recording it. */
#define MPI_POLL_SHORT_NS 2000u
/* All polls are timed until this many were short. */
#define MPI_POLL_ALL_TIMED 16384u
/* After that, on average one in 128 is timed. The number varies, so that loops do not alias. */
#define MPI_POLL_LEAST_SKIPPED 64u
#define MPI_POLL_MOST_SKIPPED 191u

/* For one function and thread. All zero at the start. */
struct mpi_poll {
	_Atomic uint64_t *n_calls; /* of the sum that has the last recorded poll; NULL: none */
	uint64_t last_ns;          /* end of the last timed poll */
	uint64_t room_ns;          /* between timed polls, not yet given to others */
	uint64_t base_ns, base_error_ns, base_ticks;
	uint64_t short_ticks;      /* ticks in MPI_POLL_SHORT_NS; 0: not known yet */
	uint32_t generation;       /* of the host */
	uint32_t n_short, n_skip, n_skipped, random;
};

/* The thread's states, for each call that has `found`. */
#define MPI_POLL_FIRST MPI_CALL_Iprobe
#define MPI_POLL_LAST MPI_CALL_Testsome
extern __thread struct mpi_poll mpi_polls[MPI_POLL_LAST - MPI_POLL_FIRST + 1];

/* The calling thread's state for a call that has `found`. Forgets that of another generation. */
static inline struct mpi_poll *mpi_poll_of(unsigned call, uint32_t generation)
{
	struct mpi_poll *p = &mpi_polls[call - MPI_POLL_FIRST];
	if (__builtin_expect(p->generation != generation, 0))
		*p = (struct mpi_poll){.generation = generation};
	return p;
}

/* Returns whether to time the next poll. */
static inline bool mpi_poll_is_timed(struct mpi_poll *p)
{
	if (!p->n_skip || !p->n_calls)
		return true;
	p->n_skip--;
	return false;
}

/*
 * A poll that was not timed has taken `ticks`. Returns true if a later one can stand for it: if it
 * counts, add it to n_skipped. False: record it, with the time mpi_poll_ticks_ns().
 *
 * The processors' counters need not agree, so a thread that has moved may read any difference. A
 * negative one counts as 0, and none is longer than the time since the last timed poll.
 */
static inline bool mpi_poll_is_skipped(const struct mpi_poll *p, int64_t ticks, bool has_found)
{
	return !has_found && ticks < (int64_t)p->short_ticks;
}
uint64_t mpi_poll_ticks_ns(const struct mpi_poll *p, int64_t ticks, uint64_t now_ns);

/*
 * A timed poll has ended. Returns the time to record for it: its own time and, if it was short and
 * does not stand alone, that of the skipped polls. It stands alone if it has found something, or is
 * not recorded. All these estimates together are never more than the time that has passed between
 * timed polls.
 */
uint64_t mpi_poll_ns(struct mpi_poll *p, uint64_t enter_ns, uint64_t leave_ns, bool is_alone);

/*
 * Compares the counter of ticks with the clock, after each timed poll: `ticks` was read between the
 * two times.
 */
void mpi_poll_compare(struct mpi_poll *p, uint64_t before_ns, uint64_t ticks, uint64_t after_ns);

#endif
