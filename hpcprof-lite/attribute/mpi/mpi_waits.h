/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who waited for whom in collective calls. If a call needs something from everyone, a rank
 * waits from its own arrival until the last arrival, but not longer than it is in the call. If a
 * call needs something from the root, a rank waits for the root. The root of a reduction waits for
 * the last of the others. In a scan, a rank waits for the ranks below it. These are the wait states
 * "wait at NxN", "late broadcast", "early reduce" and "early scan" of Scalasca. If only some calls
 * have records, each record counts for the calls around it. Test:
 * tests/unit/prof_mpi/test_mpi_waits.c.
 */
#ifndef HPCPROF_ATTRIBUTE_MPI_MPI_WAITS_H
#define HPCPROF_ATTRIBUTE_MPI_MPI_WAITS_H

#include "common/base/map.h"
#include "hpcprof-lite/attribute/mpi/mpi_arrivals.h"
#include "hpcprof-lite/model/model.h"

/* The calls of one function, by one thread, at one node, on one communicator. */
struct mpi_place_waits {
	uint64_t n, ns, wait_ns;     /* of the calls whose arrivals are all known */
	uint64_t place, who;         /* file and node; thread, communicator and function */
};

struct mpi_waits {
	VEC(struct mpi_place_waits) places;
	struct map place_of;
	VEC(struct model_mpi_late) late;
	VEC(struct model_mpi_site) sites;
	struct map late_of, site_of;
	uint64_t n_matched, n_unmatched;
};

/*
 * Zero-initialise. The times must come from one clock. `at` NULL: leaves out sites, and who was
 * late. False if memory is short.
 */
bool mpi_waits_make(struct mpi_waits *w, const struct mpi_arrivals *a,
	const struct topic_where *at);
/*
 * If parts share the calls of a job, exchanges their results: each part gets the places of its
 * files. Ends a step of all parts; `ok` says whether this part has made its own. False if some part
 * has no memory.
 */
bool mpi_waits_share(struct mpi_waits *w, const struct load_job *job, bool ok);
/*
 * The same for arrivals of other kinds (NCCL). mpi_waits_add() adds one call with its n arrivals,
 * by rank; the call counts for `weight` calls. Only the first arrival and the last one need
 * contexts. mpi_waits_sort() then sorts the rows. False if memory is short.
 */
bool mpi_waits_add(struct mpi_waits *w, const struct mpi_arrival *at, size_t n, uint64_t weight,
	const struct topic_where *where);
bool mpi_waits_sort(struct mpi_waits *w);
/* NULL: nothing is known about calls at this place. */
const struct mpi_place_waits *mpi_waits_find(const struct mpi_waits *w, uint32_t file,
	uint32_t thread, uint32_t node, uint32_t comm_id, uint16_t call);
void mpi_waits_free(struct mpi_waits *w);

#endif
