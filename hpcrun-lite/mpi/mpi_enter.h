/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our work before and after a call of MPI. Only the outermost call of a thread counts; we ignore
 * the calls that MPI or another tool makes inside it. Test: tests/cli/mpi/mpi_truth.sh.
 */
#ifndef HPCRUN_LITE_MPI_MPI_ENTER_H
#define HPCRUN_LITE_MPI_MPI_ENTER_H

#include "hpcrun-lite/mpi/mpi_objects.h"

/* A call in progress; on the stack of our function that replaces MPI's. */
struct mpi_frame {
	union {
		uint64_t enter_ns;
		uint64_t enter_ticks; /* of a poll that is not timed */
	};
	struct mpi_object_entry *on;    /* its communicator, window or file; NULL: unknown */
	struct mpi_object_entry *freed; /* the object that the call frees */
	uintptr_t freed_handle;
	const void *function;           /* MPI's */
	const struct mpi_host *host;    /* NULL: the process is not measured */
	uint64_t number;                /* collective calls: its number on the communicator */
	int32_t peer;                   /* as in struct mpi_event */
	uint16_t call;
	bool is_large, is_measured;
	bool is_timed;                  /* a poll: see mpi_poll.h */
	struct mpi_poll *poll;          /* of the thread; NULL: the call is no poll */
};

/* Address of the frame of the calling thread's outermost call; 0: none. */
extern __thread uintptr_t mpi_outermost;

/*
 * True if the call is inside another. If its frame is not deeper than the other's, an exception or
 * a longjmp has left the other call.
 */
static inline bool mpi_is_inner(const struct mpi_frame *f)
{
	return mpi_outermost > (uintptr_t)f;
}

/* `f` must have function, call and is_large. a[1] is the first argument. */
void mpi_enter(struct mpi_frame *f, const uintptr_t *a);
void mpi_leave(struct mpi_frame *f, const uintptr_t *a, int result);

#endif
