/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How libhpcrun-lite-mpi.so, which replaces the functions of MPI, passes its measurements to the
 * run time. The module knows MPI; the run time knows call paths, threads and the file.
 *
 *     mpi_host_fn *find = dlsym(RTLD_DEFAULT, MPI_HOST_SYMBOL);
 *     const struct mpi_host *host = find(MPI_HOST_VERSION);
 *
 * Every function may be called from any thread, but not from our signal handlers. It keeps errno,
 * waits for nothing and calls no MPI function. Test: tests/cli/mpi/mpi_truth.sh.
 */
#ifndef HPCRUN_LITE_MPI_MPI_H
#define HPCRUN_LITE_MPI_MPI_H

#include "common/format/measurement_mpi.h"

#include <stdbool.h>
#include <stdint.h>

#define MPI_HOST_VERSION 5u
#define MPI_HOST_SYMBOL "hpcrun_lite_mpi_host"

/* One call of MPI that has ended. */
struct mpi_event {
	uint64_t enter_ns, leave_ns;  /* CLOCK_MONOTONIC */
	uint64_t sent, received;      /* bytes */
	uint64_t number;              /* collective calls: its number on the communicator */
	uint32_t comm;
	int32_t peer;
	uint16_t call;
	uint16_t way;                 /* begin(): as in struct msr_mpi_open */
	bool is_poll;                 /* returns at once, whatever it finds */
	bool is_collective;           /* gets a record of its own, if its number says so */
};

struct mpi_host {
	uint32_t version;
	/*
	 * A number that changes in a forked child; 0: nothing is measured. If it has changed, the
	 * module must forget all communicators.
	 */
	uint32_t (*generation)(void);
	/*
	 * The program is about to call MPI. Finds the call path, without the frames of the module
	 * that holds `text`, except the outermost of them, and writes that the thread is in the
	 * call, unless it is a poll. Uses comm, peer, call, way and is_poll of `e`. Returns the
	 * time, CLOCK_MONOTONIC. 0: the call is not measured; end() must not follow then.
	 */
	uint64_t (*begin)(const void *text, const struct mpi_event *e);
	/*
	 * The same thread has left that call. Returns the call count of the sum that the call was
	 * added to; NULL: it is not recorded. The pointer is for this thread and generation only.
	 */
	_Atomic uint64_t *(*end)(const struct mpi_event *e);
	/* Adds a call to such a count. False: measurement is off or has ended. */
	bool (*again)(_Atomic uint64_t *n_calls);
	/* Describes a communicator. `id` in it is ignored. Returns its id; 0: not recorded. */
	uint32_t (*comm)(const struct msr_mpi_comm *c);
};

/* The exported symbol. NULL: the process is not measured, or not with -e MPI. */
typedef const struct mpi_host *mpi_host_fn(uint32_t version);

#endif
