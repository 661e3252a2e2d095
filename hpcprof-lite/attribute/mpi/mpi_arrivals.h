/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The collective calls of all processes, brought together: who arrived when. Two records belong to
 * one call if communicator and number are equal. Tests: tests/unit/prof_mpi/test_mpi_waits.c,
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MPI_MPI_ARRIVALS_H
#define HPCPROF_ATTRIBUTE_MPI_MPI_ARRIVALS_H

#include "common/base/vec.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"

/* One process at one collective call. */
struct mpi_arrival {
	uint64_t comm, number;       /* identity of the communicator, and of the call on it */
	int64_t enter_ns, leave_ns;  /* of its own clock, later of the common clock */
	uint32_t file, thread, node, comm_id;
	uint32_t size, rank;         /* of the communicator, in it */
	int32_t root;
	uint32_t host;               /* dense number */
	uint32_t context;            /* of the model; MODEL_NONE: unknown */
	uint16_t call;
	bool is_empty;               /* calls without data were made at this place */
};

/* Arrivals that belong to one call are neighbours, by rank. */
struct mpi_arrivals {
	VEC(struct mpi_arrival) list;
	VEC(uint64_t) hosts;         /* host ids by number */
	uint64_t thinned;            /* numbers with one of these bits were left out */
	uint64_t n_all;              /* in all parts that share the job, if some do */
};

/* More arrivals than this are thinned out: by the number of the call, so whole calls remain. */
#define MPI_MOST_ARRIVALS ((uint64_t)1 << 22)

/*
 * Zero-initialise. Parts that share the files of a job share the calls, too: each gets all arrivals
 * at some of them. Ends a step of all parts then. `where` NULL: contexts are not known yet. False
 * if memory is short.
 */
bool mpi_arrivals_collect(struct mpi_arrivals *a, const struct load_job *job,
	const struct topic_where *where);
/* True if the parts of the job share calls. */
bool mpi_arrivals_are_shared(const struct load_job *job);
/* Sets is_empty. */
bool mpi_arrivals_mark(struct mpi_arrivals *a, const struct load_job *job);
void mpi_arrivals_free(struct mpi_arrivals *a);

/* For how many calls the arrivals at call `number` stand: records are thinned out, too. */
uint64_t mpi_arrivals_weight(const struct mpi_arrivals *a, uint64_t number);
/*
 * The end of the call that begins at `first`. *is_whole: each rank of the communicator is there
 * once, and all made the same call.
 */
size_t mpi_arrivals_end(const struct mpi_arrivals *a, size_t first, bool *is_whole);

#endif
