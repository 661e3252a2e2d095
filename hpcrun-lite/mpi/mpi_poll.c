/* SPDX-License-Identifier: BSD-3-Clause */
/* See mpi_poll.h. Test: tests/unit/mpi/test_mpi_poll.c. */
#include "hpcrun-lite/mpi/mpi_poll.h"

#define FIRST MPI_CALL_Iprobe
#define LAST MPI_CALL_Testsome

static __thread struct mpi_poll polls[LAST - FIRST + 1];

struct mpi_poll *mpi_poll_of(unsigned call, uint32_t generation)
{
	struct mpi_poll *p = &polls[call - FIRST];
	if (__builtin_expect(p->generation != generation, 0))
		*p = (struct mpi_poll){.generation = generation};
	return p;
}

bool mpi_poll_is_timed(struct mpi_poll *p)
{
	if (!p->n_skip || !p->n_calls)
		return true;
	p->n_skip--;
	p->n_skipped++;
	return false;
}

static uint32_t choose(struct mpi_poll *p)
{
	p->random = p->random * UINT32_C(1664525) + UINT32_C(1013904223);
	return MPI_POLL_LEAST_SKIPPED +
	       (p->random >> 16) % (MPI_POLL_MOST_SKIPPED - MPI_POLL_LEAST_SKIPPED + 1);
}

uint64_t mpi_poll_ns(struct mpi_poll *p, uint64_t enter_ns, uint64_t leave_ns)
{
	const uint64_t own = leave_ns - enter_ns, room = enter_ns - p->last_ns;
	const uint64_t others =
		p->n_skipped * (own < MPI_POLL_SHORT_NS ? own : MPI_POLL_SHORT_NS);
	const uint64_t cost = own / MPI_POLL_SHORT_NS;
	if (!cost)
		p->n_short += p->n_short < MPI_POLL_ALL_TIMED;
	else
		p->n_short -= cost < p->n_short ? (uint32_t)cost : p->n_short;
	p->n_skip = p->n_short == MPI_POLL_ALL_TIMED ? choose(p) : 0;
	p->n_skipped = 0;
	p->last_ns = leave_ns;
	return own + (others < room ? others : room);
}
