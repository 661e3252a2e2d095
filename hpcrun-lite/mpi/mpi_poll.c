/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_poll.h. Test: tests/unit/mpi/test_mpi_poll.c. */
#include "hpcrun-lite/mpi/mpi_poll.h"

/* The rate of ticks is that of an interval of at most this length, in which the clock is exact. */
#define MOST_NS UINT64_C(1000000000)
/* More would overflow; a processor takes a month for so many. */
#define MOST_TICKS (UINT64_MAX / MPI_POLL_SHORT_NS)
#define EXACT 1024u

__thread struct mpi_poll mpi_polls[MPI_POLL_LAST - MPI_POLL_FIRST + 1];

static uint32_t choose(struct mpi_poll *p)
{
	p->random = p->random * UINT32_C(1664525) + UINT32_C(1013904223);
	return MPI_POLL_LEAST_SKIPPED +
	       (p->random >> 16) % (MPI_POLL_MOST_SKIPPED - MPI_POLL_LEAST_SKIPPED + 1);
}

uint64_t mpi_poll_ticks_ns(const struct mpi_poll *p, int64_t ticks, uint64_t now_ns)
{
	const uint64_t n = ticks > 0 ? (uint64_t)ticks : 0, most_ns = now_ns - p->last_ns;
	/* in two steps, so that it cannot overflow */
	const uint64_t ns = n / p->short_ticks * MPI_POLL_SHORT_NS +
			    n % p->short_ticks * MPI_POLL_SHORT_NS / p->short_ticks;
	return ns < most_ns ? ns : most_ns;
}

uint64_t mpi_poll_ns(struct mpi_poll *p, uint64_t enter_ns, uint64_t leave_ns, bool is_alone)
{
	const uint64_t own = leave_ns - enter_ns;
	const bool is_short = own < MPI_POLL_SHORT_NS;
	if (p->last_ns)
		p->room_ns += enter_ns - p->last_ns;
	p->last_ns = leave_ns;
	p->n_short += is_short && p->n_short < MPI_POLL_ALL_TIMED;
	p->n_skip = p->n_short == MPI_POLL_ALL_TIMED && p->short_ticks ? choose(p) : 0;
	if (!is_short || is_alone)
		return own;
	uint64_t others = p->n_skipped * own;
	if (others > p->room_ns)
		others = p->room_ns;
	p->room_ns -= others;
	p->n_skipped = 0;
	return own + others;
}

void mpi_poll_compare(struct mpi_poll *p, uint64_t before_ns, uint64_t ticks, uint64_t after_ns)
{
	const uint64_t passed_ns = after_ns - p->base_ns, error_ns = after_ns - before_ns;
	const bool is_exact = p->base_ns && (error_ns + p->base_error_ns) * EXACT < passed_ns;
	/* a thread that has moved may read a counter that has hardly gone on, or is far ahead */
	const uint64_t passed_ticks = ticks > p->base_ticks ? ticks - p->base_ticks : 0,
		       short_ticks = is_exact && passed_ticks < MOST_TICKS
					     ? passed_ticks * MPI_POLL_SHORT_NS / passed_ns
					     : 0;
	if (short_ticks)
		p->short_ticks = short_ticks;
	/* the first reading may have been interrupted for a long time */
	if (!p->base_ns || error_ns * 8 < p->base_error_ns || (is_exact && passed_ns > MOST_NS)) {
		p->base_ns = after_ns;
		p->base_error_ns = error_ns;
		p->base_ticks = ticks;
	}
}
