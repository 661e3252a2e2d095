/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collects the collective calls of all processes: who arrived when. Two records belong to one call
 * if communicator and number are equal. Tests: tests/unit/prof_mpi/test_mpi_waits.c,
 * tests/unit/prof_parts/test_parts.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MPI_MPI_ARRIVALS_H
#define HPCPROF_ATTRIBUTE_MPI_MPI_ARRIVALS_H

#include "common/base/vec.h"
#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/load/job/load_job.h"

/* One process at one collective call. */
struct mpi_arrival {
	uint64_t comm, number;       /* identity of the communicator; number of the call on it */
	/* by the process's own clock; after mpi_clocks_join() by the common clock */
	int64_t enter_ns, leave_ns;
	uint32_t file, thread, node, comm_id;
	uint32_t size, rank;         /* size of the communicator; the rank in it */
	int32_t root;
	uint32_t host;               /* dense number */
	uint32_t context;            /* of the model; MODEL_NONE: unknown */
	uint16_t call;
	bool is_empty;               /* calls at this place carried no data */
};

/* Arrivals that belong to one call are neighbours, by rank. */
struct mpi_arrivals {
	VEC(struct mpi_arrival) list;
	VEC(uint64_t) hosts;         /* host ids by number */
	uint64_t thinned;            /* numbers with one of these bits were left out */
	uint64_t n_all;              /* over all parts that share the job */
};

/* If there are more arrivals than this, whole calls are left out, chosen by their numbers. */
#define MPI_MOST_ARRIVALS ((uint64_t)1 << 22)

/*
 * Zero-initialise. If parts share the files of a job, they also share the calls: each part gets all
 * arrivals at some calls, and this ends a step of all parts. `where` NULL: contexts are not known
 * yet. False if memory is short.
 */
bool mpi_arrivals_collect(struct mpi_arrivals *a, const struct load_job *job,
	const struct topic_where *where);
/* True if the parts of the job share calls. */
bool mpi_arrivals_are_shared(const struct load_job *job);
/* Sets is_empty. */
bool mpi_arrivals_mark(struct mpi_arrivals *a, const struct load_job *job);
void mpi_arrivals_free(struct mpi_arrivals *a);

/*
 * The number of calls for which the arrivals at call `number` count. Records are thinned out at run
 * time, too.
 */
uint64_t mpi_arrivals_weight(const struct mpi_arrivals *a, uint64_t number);
/*
 * The end of the call that begins at `first`. *is_whole: each rank of the communicator is there
 * once, and all made the same call.
 */
size_t mpi_arrivals_end(const struct mpi_arrivals *a, size_t first, bool *is_whole);

#endif
