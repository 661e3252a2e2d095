/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the model about MPI, if the user asked for it (-e MPI): calls summed up, communicators,
 * and who came late to collective calls. Include model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_MPI_H
#define HPCPROF_MODEL_MODEL_MPI_H

#include "common/format/mpi_calls.h"

#include <stdbool.h>
#include <stdint.h>

/* A communicator of the run, or of one process if its processes could not be matched. */
struct model_mpi_comm {
	uint32_t size;          /* ranks */
	uint32_t n_members;     /* processes of the run that are in it */
	bool is_world;          /* MPI_COMM_WORLD */
	bool is_matched;        /* its processes are known to be in the same communicator */
	uint64_t n_calls;       /* of all processes */
	double seconds;
};

/* Calls of one thread with equal context, function, communicator, peer and size class. */
struct model_mpi_call {
	uint32_t profile, context;
	uint32_t comm;          /* index into comms, MODEL_NONE: none, or unknown */
	/* rank in the communicator; < 0: enum of measurement_mpi.h */
	int32_t peer;
	int32_t peer_world;     /* rank in MPI_COMM_WORLD; -1: none or unknown */
	uint16_t call;          /* enum mpi_call_number */
	uint8_t size_class;     /* 0: no bytes; n: 2^(n-1) <= bytes < 2^n */
	/*
	 * The thread was in the call when it ended, or the file did: one call, whose time is until
	 * then.
	 */
	bool is_open;
	uint8_t way;            /* of an open call that waits for requests: MSR_MPI_WAY_* */
	bool wait_is_known;     /* from the arrivals of all ranks; otherwise an estimate */
	uint64_t n_calls, sent, received, ns, wait_ns;
	uint64_t least_ns;      /* the shortest call of this function and size in the process */
};

/*
 * The collective calls at one place for which one process arrived last. `waited_ns`: how long all
 * others together waited for it in these calls. Sums over many calls are estimates, because not all
 * calls have records.
 */
struct model_mpi_late {
	uint32_t profile;       /* the thread that came last */
	uint32_t context;       /* where it called */
	uint32_t site;
	uint16_t call;
	uint64_t n_calls;       /* matched calls in which it was last */
	uint64_t waited_ns;
	uint64_t behind_ns;     /* sum of its distances from the mean arrival of the others */
	uint64_t most_behind_ns;
};

/* A place that makes collective calls. */
struct model_mpi_site {
	uint32_t context;
	uint16_t call;
	uint64_t n_calls;       /* collective calls, each counted once for all its processes */
	uint64_t waited_ns;     /* sum over all processes */
	uint32_t first_late, n_late; /* in `late` */
};

struct model_mpi {
	const struct model_mpi_comm *comms;
	uint32_t n_comms;
	const struct model_mpi_call *calls; /* by profile, then context */
	size_t n_calls;
	const struct model_mpi_site *sites; /* by falling waited_ns */
	uint32_t n_sites;
	const struct model_mpi_late *late;  /* by site, then falling waited_ns */
	uint32_t n_late;
	/*
	 * Collective calls whose arrivals are all known, and those that were recorded, but not by
	 * all processes; UINT64_MAX: unknown, as in a part of the run.
	 */
	uint64_t n_matched, n_unmatched;
	uint64_t n_lost;        /* calls that could not be recorded */
	uint64_t n_all_peers;   /* calls whose peers were summed up to bound the records */
	/*
	 * Clocks of hosts are compared through the collective calls themselves. The largest error,
	 * in ns; 0: one host; UINT64_MAX: no collective call connects two hosts, so their real-time
	 * clocks are taken to agree.
	 */
	uint64_t clock_error_ns;
};

/*
 * How long a slow network takes for messages: 100 us each and 10 ns a byte, which is slower than
 * Gigabit Ethernet. A call that takes longer waits for the other side.
 */
static inline double model_mpi_slow_ns(uint64_t n_messages, uint64_t n_bytes)
{
	return 1e5 * (double)n_messages + 10 * (double)n_bytes;
}

#endif
