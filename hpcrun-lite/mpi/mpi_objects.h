/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicators, windows and files of the process, found by handle. Each gets an identity that
 * is equal in all processes of the communicator. This needs no message: the identity is made from
 * the identity of the parent communicator, the number of the collective call that made the object,
 * and the rank in MPI_COMM_WORLD of its first process.
 *
 * No locks; no malloc. A process can have MPI_MAX_OBJECTS; calls on later ones have no
 * communicator. Not signal-safe. Test: tests/unit/mpi/test_mpi_bytes.c.
 */
#ifndef HPCRUN_LITE_MPI_MPI_OBJECTS_H
#define HPCRUN_LITE_MPI_MPI_OBJECTS_H

#include "hpcrun-lite/mpi/mpi.h"
#include "hpcrun-lite/mpi/mpi_library.h"

#include <stdatomic.h>

#define MPI_MAX_OBJECTS 4096u

struct mpi_object_entry {
	_Atomic uint64_t key;         /* made from handle and kind; 0: free */
	uint64_t identity;            /* 0: unknown */
	_Atomic uint64_t n_collectives;
	uint32_t id;                  /* in the file */
	int32_t size, rank;
	int32_t n_in, n_out;          /* neighbours */
	bool is_inter;                /* intercommunicator: `size` is the local group's */
};

/* Returns NULL if the object is unknown. */
struct mpi_object_entry *mpi_objects_find(enum mpi_object kind, uintptr_t handle);

/* Describes a new object. */
struct mpi_new_object {
	enum mpi_object kind;
	uintptr_t handle;
	const struct mpi_object_entry *parent; /* NULL: unknown */
	uint64_t number;                       /* of the call that made it, or its tag */
	bool is_of_group;                      /* the number does not belong to the parent */
	int n_dimensions;                      /* > 0: a Cartesian topology */
	bool is_graph, is_dist_graph;
	bool is_copy;                          /* with the parent's topology */
};
/* Call this when MPI has made the object. */
void mpi_objects_add(const struct mpi_host *host, const struct mpi_library *l,
		     const struct mpi_new_object *new);
/* Adds MPI_COMM_WORLD and MPI_COMM_SELF, when MPI has started. */
void mpi_objects_start(const struct mpi_host *host, const struct mpi_library *l);

/* Removes an object before MPI frees it; NULL: unknown. put_back() undoes it if MPI does not. */
struct mpi_object_entry *mpi_objects_take(enum mpi_object kind, uintptr_t handle);
void mpi_objects_put_back(struct mpi_object_entry *e, enum mpi_object kind, uintptr_t handle);

/* Forgets all objects, in a forked child. */
void mpi_objects_reset(void);

#endif
