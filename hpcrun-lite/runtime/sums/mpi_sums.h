/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sums of one thread's MPI calls, and the records of its single collective calls. They are in
 * the measurement file; only the index is private memory. One writer: the thread itself, outside of
 * handlers. Test: tests/unit/mpi/test_mpi_sums.c.
 */
#ifndef HPCRUN_LITE_RUNTIME_SUMS_MPI_SUMS_H
#define HPCRUN_LITE_RUNTIME_SUMS_MPI_SUMS_H

#include "hpcrun-lite/mpi/mpi.h"

#include <stdbool.h>
#include <stdint.h>

/* A part of struct thread. All zero at the start of the thread. */
struct mpi_sums;
struct mpi_thread {
	uintptr_t call_sp;    /* see sample_begin_call() */
	struct mpi_sums *sums; /* NULL until the first call of MPI */
	uint64_t ns;           /* in all calls that were added */
};

/*
 * Limits on the number of sums of a thread. Beyond MPI_SUMS_WITH_PEERS, calls with different peers
 * share a sum. Beyond MPI_SUMS_WITH_PATHS, calls with different paths and communicators do, too.
 */
#define MPI_SUMS_WITH_PEERS 32768u
#define MPI_SUMS_WITH_PATHS 49152u
#define MPI_SUMS_INDEX 65536u

/*
 * Adds a call at context node `node` (0: no path) of thread `thread`. Returns false and sets *cause
 * if there is no space or memory; the caller must count the loss.
 */
bool mpi_sums_add(struct mpi_thread *t, uint32_t thread, uint32_t node, const struct mpi_event *e,
		  enum msr_loss *cause);
/*
 * Allocates the sums, so that the time of the first call does not include it. If that fails,
 * mpi_sums_enter() writes nothing and mpi_sums_add() tries again.
 */
void mpi_sums_start(struct mpi_thread *t, uint32_t thread);
/*
 * The thread enters a call; of `e` comm, peer, call and way are used. What a process that is killed
 * in the call waited for is then in the file.
 */
void mpi_sums_enter(struct mpi_thread *t, uint32_t node, const struct mpi_event *e,
	uint64_t enter_ns);
void mpi_sums_leave(struct mpi_thread *t);
/* Returns the number of calls in the sum that was last added to; NULL: none. */
_Atomic uint64_t *mpi_sums_last(const struct mpi_thread *t);
/* Writes the description of a communicator. Failure as above. */
bool mpi_sums_comm(struct mpi_thread *t, uint32_t thread, const struct msr_mpi_comm *c,
		   enum msr_loss *cause);
/* At the end of the thread or the process: returns unused space to the store. */
void mpi_sums_trim(struct mpi_thread *t);
/* Frees the index. `keeps_file`: false in a forked child, whose parent owns the file. */
void mpi_sums_free(struct mpi_thread *t, bool keeps_file);

#endif
