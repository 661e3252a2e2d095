/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI functions that we measure, and the positions of their arguments. Functions that neither
 * wait nor communicate are left out. Test: tests/unit/mpi/test_mpi_bytes.c, which reads the
 * prototypes of an installed mpi.h.
 *
 * CALL(name, n, group, kind, ...): MPI_<name> has n arguments. The rest sets members of struct
 * mpi_call_form. Positions count from 1; 0 means that there is no such argument. COUNT is for
 * functions that also exist with large counts, as MPI_<name>_c.
 *
 * The order of the rows is part of the measurement format: append only.
 */
#ifndef COMMON_FORMAT_MPI_CALLS_H
#define COMMON_FORMAT_MPI_CALLS_H

#include <stdint.h>

enum mpi_group {
	MPI_GROUP_P2P,        /* point-to-point calls, and calls that complete requests */
	MPI_GROUP_COLLECTIVE,
	MPI_GROUP_ONE_SIDED,
	MPI_GROUP_IO,
	MPI_GROUP_OTHER       /* set-up */
};

/* Who waits for whom in a collective call. */
enum mpi_kind {
	MPI_KIND_NONE,     /* not collective */
	MPI_KIND_ALL,      /* everyone needs something from everyone */
	MPI_KIND_FROM_ROOT,/* everyone needs something from the root */
	MPI_KIND_TO_ROOT,  /* the root needs something from everyone */
	MPI_KIND_PREFIX,   /* each rank needs something from the ranks below it */
	MPI_KIND_LOOSE     /* collective, but nobody has to wait for all others */
};

/* What a count means. The datatype follows the count, or the displacements if there are any. */
enum mpi_how {
	MPI_HOW_ONE,       /* number of elements */
	MPI_HOW_EACH,      /* number of elements for each rank or neighbour */
	MPI_HOW_VECTOR,    /* an array of counts, displacements, one datatype */
	MPI_HOW_TYPES,     /* arrays of counts, displacements and datatypes */
	MPI_HOW_SUM,       /* an array of counts, one datatype, no displacements */
	MPI_HOW_OWN,       /* the same, but only the element of this rank counts */
	MPI_HOW_SINGLE     /* one element; the position given is the datatype's */
};

/* Which ranks use a buffer. */
enum mpi_who { MPI_WHO_ALL, MPI_WHO_ROOT, MPI_WHO_OTHERS };

/* What an argument creates or frees. */
enum mpi_object { MPI_OBJECT_COMM, MPI_OBJECT_WIN, MPI_OBJECT_FILE };

struct mpi_call_form {
	uint8_t n, group, kind;
	uint8_t send, send_how, send_who;   /* position of the count */
	uint8_t receive, receive_how, receive_who;
	uint8_t peer;                       /* rank of the other side, or of the root */
	uint8_t source;                     /* of calls that send and receive */
	uint8_t on, object;                 /* the communicator, window or file of the call */
	uint8_t creates, new_object;        /* position of a pointer to a new object */
	uint8_t frees;                      /* position of a pointer to `object` */
	uint8_t n_dimensions;               /* MPI_Cart_create: their number */
	uint8_t tag;                        /* MPI_Comm_create_group */
	uint8_t is_nonblocking;             /* the call does not wait for others */
	uint8_t is_neighbour;               /* counts are for neighbours in a topology */
	uint8_t found;                      /* polls: a pointer to an int; 0 if nothing is found */
	uint8_t requests;                   /* a request, or an array after its length */
};

/* clang-format off */
#define MPI_CALLS(CALL, COUNT) \
	CALL(Init, 2, OTHER, NONE, ) \
	CALL(Init_thread, 4, OTHER, NONE, ) \
	CALL(Finalize, 0, OTHER, NONE, ) \
	CALL(Session_init, 3, OTHER, NONE, ) \
	CALL(Session_finalize, 1, OTHER, NONE, ) \
	/* point-to-point */ \
	COUNT(Send, 6, P2P, NONE, .send = 2, .peer = 4, .on = 6) \
	COUNT(Bsend, 6, P2P, NONE, .send = 2, .peer = 4, .on = 6) \
	COUNT(Ssend, 6, P2P, NONE, .send = 2, .peer = 4, .on = 6) \
	COUNT(Rsend, 6, P2P, NONE, .send = 2, .peer = 4, .on = 6) \
	COUNT(Recv, 7, P2P, NONE, .receive = 2, .peer = 4, .on = 6) \
	COUNT(Sendrecv, 12, P2P, NONE, .send = 2, .receive = 7, .peer = 4, .source = 9, .on = 11) \
	COUNT(Sendrecv_replace, 9, P2P, NONE, .send = 2, .receive = 2, .peer = 4, .source = 6, \
	      .on = 8) \
	COUNT(Isend, 7, P2P, NONE, .send = 2, .peer = 4, .on = 6, .is_nonblocking = 1) \
	COUNT(Ibsend, 7, P2P, NONE, .send = 2, .peer = 4, .on = 6, .is_nonblocking = 1) \
	COUNT(Issend, 7, P2P, NONE, .send = 2, .peer = 4, .on = 6, .is_nonblocking = 1) \
	COUNT(Irsend, 7, P2P, NONE, .send = 2, .peer = 4, .on = 6, .is_nonblocking = 1) \
	COUNT(Irecv, 7, P2P, NONE, .receive = 2, .peer = 4, .on = 6, .is_nonblocking = 1) \
	COUNT(Isendrecv, 12, P2P, NONE, .send = 2, .receive = 7, .peer = 4, .source = 9, .on = 11, \
	      .is_nonblocking = 1) \
	COUNT(Isendrecv_replace, 9, P2P, NONE, .send = 2, .receive = 2, .peer = 4, .source = 6, \
	      .on = 8, .is_nonblocking = 1) \
	COUNT(Mrecv, 5, P2P, NONE, .receive = 2) \
	COUNT(Imrecv, 5, P2P, NONE, .receive = 2, .is_nonblocking = 1) \
	CALL(Probe, 4, P2P, NONE, .peer = 1, .on = 3) \
	CALL(Iprobe, 5, P2P, NONE, .peer = 1, .on = 3, .is_nonblocking = 1, .found = 4) \
	CALL(Mprobe, 5, P2P, NONE, .peer = 1, .on = 3) \
	CALL(Improbe, 6, P2P, NONE, .peer = 1, .on = 3, .is_nonblocking = 1, .found = 4) \
	CALL(Wait, 2, P2P, NONE, .requests = 1) \
	CALL(Waitall, 3, P2P, NONE, .requests = 2) \
	CALL(Waitany, 4, P2P, NONE, .requests = 2) \
	CALL(Waitsome, 5, P2P, NONE, .requests = 2) \
	CALL(Test, 3, P2P, NONE, .is_nonblocking = 1, .found = 2) \
	CALL(Testall, 4, P2P, NONE, .is_nonblocking = 1, .found = 3) \
	CALL(Testany, 5, P2P, NONE, .is_nonblocking = 1, .found = 4) \
	CALL(Testsome, 5, P2P, NONE, .is_nonblocking = 1, .found = 3) \
	CALL(Start, 1, P2P, NONE, .is_nonblocking = 1, .requests = 1) \
	CALL(Startall, 2, P2P, NONE, .is_nonblocking = 1, .requests = 2) \
	CALL(Buffer_detach, 2, P2P, NONE, ) \
	/* collective */ \
	CALL(Barrier, 1, COLLECTIVE, ALL, .on = 1) \
	COUNT(Bcast, 5, COLLECTIVE, FROM_ROOT, .send = 2, .send_who = MPI_WHO_ROOT, .receive = 2, \
	      .receive_who = MPI_WHO_OTHERS, .peer = 4, .on = 5) \
	COUNT(Gather, 8, COLLECTIVE, TO_ROOT, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_EACH, .receive_who = MPI_WHO_ROOT, .peer = 7, .on = 8) \
	COUNT(Gatherv, 9, COLLECTIVE, TO_ROOT, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_VECTOR, .receive_who = MPI_WHO_ROOT, .peer = 8, .on = 9) \
	COUNT(Scatter, 8, COLLECTIVE, FROM_ROOT, .send = 2, .send_how = MPI_HOW_EACH, \
	      .send_who = MPI_WHO_ROOT, .receive = 5, .peer = 7, .on = 8) \
	COUNT(Scatterv, 9, COLLECTIVE, FROM_ROOT, .send = 2, .send_how = MPI_HOW_VECTOR, \
	      .send_who = MPI_WHO_ROOT, .receive = 6, .peer = 8, .on = 9) \
	COUNT(Allgather, 7, COLLECTIVE, ALL, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_EACH, .on = 7) \
	COUNT(Allgatherv, 8, COLLECTIVE, ALL, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_VECTOR, .on = 8) \
	COUNT(Alltoall, 7, COLLECTIVE, ALL, .send = 2, .send_how = MPI_HOW_EACH, .receive = 5, \
	      .receive_how = MPI_HOW_EACH, .on = 7) \
	COUNT(Alltoallv, 9, COLLECTIVE, ALL, .send = 2, .send_how = MPI_HOW_VECTOR, \
	      .receive = 6, .receive_how = MPI_HOW_VECTOR, .on = 9) \
	COUNT(Alltoallw, 9, COLLECTIVE, ALL, .send = 2, .send_how = MPI_HOW_TYPES, .receive = 6, \
	      .receive_how = MPI_HOW_TYPES, .on = 9) \
	COUNT(Reduce, 7, COLLECTIVE, TO_ROOT, .send = 3, .receive = 3, \
	      .receive_who = MPI_WHO_ROOT, .peer = 6, .on = 7) \
	COUNT(Allreduce, 6, COLLECTIVE, ALL, .send = 3, .receive = 3, .on = 6) \
	COUNT(Reduce_scatter, 6, COLLECTIVE, ALL, .send = 3, .send_how = MPI_HOW_SUM, \
	      .receive = 3, .receive_how = MPI_HOW_OWN, .on = 6) \
	COUNT(Reduce_scatter_block, 6, COLLECTIVE, ALL, .send = 3, .send_how = MPI_HOW_EACH, \
	      .receive = 3, .on = 6) \
	COUNT(Scan, 6, COLLECTIVE, PREFIX, .send = 3, .receive = 3, .on = 6) \
	COUNT(Exscan, 6, COLLECTIVE, PREFIX, .send = 3, .receive = 3, .on = 6) \
	COUNT(Neighbor_allgather, 7, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_EACH, \
	      .receive = 5, .receive_how = MPI_HOW_EACH, .on = 7, .is_neighbour = 1) \
	COUNT(Neighbor_allgatherv, 8, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_EACH, \
	      .receive = 5, .receive_how = MPI_HOW_VECTOR, .on = 8, .is_neighbour = 1) \
	COUNT(Neighbor_alltoall, 7, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_EACH, \
	      .receive = 5, .receive_how = MPI_HOW_EACH, .on = 7, .is_neighbour = 1) \
	COUNT(Neighbor_alltoallv, 9, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_VECTOR, \
	      .receive = 6, .receive_how = MPI_HOW_VECTOR, .on = 9, .is_neighbour = 1) \
	COUNT(Neighbor_alltoallw, 9, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_TYPES, \
	      .receive = 6, .receive_how = MPI_HOW_TYPES, .on = 9, .is_neighbour = 1) \
	CALL(Ibarrier, 2, COLLECTIVE, ALL, .on = 1, .is_nonblocking = 1) \
	COUNT(Ibcast, 6, COLLECTIVE, FROM_ROOT, .send = 2, .send_who = MPI_WHO_ROOT, \
	      .receive = 2, .receive_who = MPI_WHO_OTHERS, .peer = 4, .on = 5, \
	      .is_nonblocking = 1) \
	COUNT(Igather, 9, COLLECTIVE, TO_ROOT, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_EACH, .receive_who = MPI_WHO_ROOT, .peer = 7, .on = 8, \
	      .is_nonblocking = 1) \
	COUNT(Igatherv, 10, COLLECTIVE, TO_ROOT, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_VECTOR, .receive_who = MPI_WHO_ROOT, .peer = 8, .on = 9, \
	      .is_nonblocking = 1) \
	COUNT(Iscatter, 9, COLLECTIVE, FROM_ROOT, .send = 2, .send_how = MPI_HOW_EACH, \
	      .send_who = MPI_WHO_ROOT, .receive = 5, .peer = 7, .on = 8, .is_nonblocking = 1) \
	COUNT(Iscatterv, 10, COLLECTIVE, FROM_ROOT, .send = 2, .send_how = MPI_HOW_VECTOR, \
	      .send_who = MPI_WHO_ROOT, .receive = 6, .peer = 8, .on = 9, .is_nonblocking = 1) \
	COUNT(Iallgather, 8, COLLECTIVE, ALL, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_EACH, .on = 7, .is_nonblocking = 1) \
	COUNT(Iallgatherv, 9, COLLECTIVE, ALL, .send = 2, .receive = 5, \
	      .receive_how = MPI_HOW_VECTOR, .on = 8, .is_nonblocking = 1) \
	COUNT(Ialltoall, 8, COLLECTIVE, ALL, .send = 2, .send_how = MPI_HOW_EACH, .receive = 5, \
	      .receive_how = MPI_HOW_EACH, .on = 7, .is_nonblocking = 1) \
	COUNT(Ialltoallv, 10, COLLECTIVE, ALL, .send = 2, .send_how = MPI_HOW_VECTOR, \
	      .receive = 6, .receive_how = MPI_HOW_VECTOR, .on = 9, .is_nonblocking = 1) \
	COUNT(Ialltoallw, 10, COLLECTIVE, ALL, .send = 2, .send_how = MPI_HOW_TYPES, \
	      .receive = 6, .receive_how = MPI_HOW_TYPES, .on = 9, .is_nonblocking = 1) \
	COUNT(Ireduce, 8, COLLECTIVE, TO_ROOT, .send = 3, .receive = 3, \
	      .receive_who = MPI_WHO_ROOT, .peer = 6, .on = 7, .is_nonblocking = 1) \
	COUNT(Iallreduce, 7, COLLECTIVE, ALL, .send = 3, .receive = 3, .on = 6, \
	      .is_nonblocking = 1) \
	COUNT(Ireduce_scatter, 7, COLLECTIVE, ALL, .send = 3, .send_how = MPI_HOW_SUM, \
	      .receive = 3, .receive_how = MPI_HOW_OWN, .on = 6, .is_nonblocking = 1) \
	COUNT(Ireduce_scatter_block, 7, COLLECTIVE, ALL, .send = 3, .send_how = MPI_HOW_EACH, \
	      .receive = 3, .on = 6, .is_nonblocking = 1) \
	COUNT(Iscan, 7, COLLECTIVE, PREFIX, .send = 3, .receive = 3, .on = 6, \
	      .is_nonblocking = 1) \
	COUNT(Iexscan, 7, COLLECTIVE, PREFIX, .send = 3, .receive = 3, .on = 6, \
	      .is_nonblocking = 1) \
	COUNT(Ineighbor_allgather, 8, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_EACH, \
	      .receive = 5, .receive_how = MPI_HOW_EACH, .on = 7, .is_neighbour = 1, \
	      .is_nonblocking = 1) \
	COUNT(Ineighbor_allgatherv, 9, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_EACH, \
	      .receive = 5, .receive_how = MPI_HOW_VECTOR, .on = 8, .is_neighbour = 1, \
	      .is_nonblocking = 1) \
	COUNT(Ineighbor_alltoall, 8, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_EACH, \
	      .receive = 5, .receive_how = MPI_HOW_EACH, .on = 7, .is_neighbour = 1, \
	      .is_nonblocking = 1) \
	COUNT(Ineighbor_alltoallv, 10, COLLECTIVE, LOOSE, .send = 2, \
	      .send_how = MPI_HOW_VECTOR, .receive = 6, .receive_how = MPI_HOW_VECTOR, .on = 9, \
	      .is_neighbour = 1, .is_nonblocking = 1) \
	COUNT(Ineighbor_alltoallw, 10, COLLECTIVE, LOOSE, .send = 2, .send_how = MPI_HOW_TYPES, \
	      .receive = 6, .receive_how = MPI_HOW_TYPES, .on = 9, .is_neighbour = 1, \
	      .is_nonblocking = 1) \
	/* communicators */ \
	CALL(Comm_dup, 2, OTHER, ALL, .on = 1, .creates = 2) \
	CALL(Comm_dup_with_info, 3, OTHER, ALL, .on = 1, .creates = 3) \
	CALL(Comm_idup, 3, OTHER, LOOSE, .on = 1, .is_nonblocking = 1) \
	CALL(Comm_create, 3, OTHER, ALL, .on = 1, .creates = 3) \
	CALL(Comm_create_group, 4, OTHER, NONE, .on = 1, .creates = 4, .tag = 3) \
	CALL(Comm_split, 4, OTHER, ALL, .on = 1, .creates = 4) \
	CALL(Comm_split_type, 5, OTHER, ALL, .on = 1, .creates = 5) \
	CALL(Cart_create, 6, OTHER, ALL, .on = 1, .creates = 6, .n_dimensions = 2) \
	CALL(Cart_sub, 3, OTHER, ALL, .on = 1, .creates = 3) \
	CALL(Graph_create, 6, OTHER, ALL, .on = 1, .creates = 6) \
	CALL(Dist_graph_create, 9, OTHER, ALL, .on = 1, .creates = 9) \
	CALL(Dist_graph_create_adjacent, 10, OTHER, ALL, .on = 1, .creates = 10) \
	CALL(Intercomm_create, 6, OTHER, LOOSE, .on = 1) \
	CALL(Intercomm_merge, 3, OTHER, NONE, .on = 1) \
	CALL(Comm_free, 1, OTHER, NONE, .frees = 1) \
	CALL(Comm_disconnect, 1, OTHER, NONE, .frees = 1) \
	CALL(Comm_spawn, 8, OTHER, FROM_ROOT, .peer = 5, .on = 6) \
	CALL(Comm_spawn_multiple, 9, OTHER, FROM_ROOT, .peer = 6, .on = 7) \
	CALL(Comm_accept, 5, OTHER, FROM_ROOT, .peer = 3, .on = 4) \
	CALL(Comm_connect, 5, OTHER, FROM_ROOT, .peer = 3, .on = 4) \
	/* one-sided */ \
	COUNT(Win_create, 6, ONE_SIDED, ALL, .on = 5, .creates = 6, \
	      .new_object = MPI_OBJECT_WIN) \
	COUNT(Win_allocate, 6, ONE_SIDED, ALL, .on = 4, .creates = 6, \
	      .new_object = MPI_OBJECT_WIN) \
	COUNT(Win_allocate_shared, 6, ONE_SIDED, ALL, .on = 4, .creates = 6, \
	      .new_object = MPI_OBJECT_WIN) \
	CALL(Win_create_dynamic, 3, ONE_SIDED, ALL, .on = 2, .creates = 3, \
	     .new_object = MPI_OBJECT_WIN) \
	CALL(Win_free, 1, ONE_SIDED, NONE, .frees = 1, .object = MPI_OBJECT_WIN) \
	CALL(Win_fence, 2, ONE_SIDED, ALL, .on = 2, .object = MPI_OBJECT_WIN) \
	CALL(Win_start, 3, ONE_SIDED, NONE, .on = 3, .object = MPI_OBJECT_WIN) \
	CALL(Win_complete, 1, ONE_SIDED, NONE, .on = 1, .object = MPI_OBJECT_WIN) \
	CALL(Win_post, 3, ONE_SIDED, NONE, .on = 3, .object = MPI_OBJECT_WIN) \
	CALL(Win_wait, 1, ONE_SIDED, NONE, .on = 1, .object = MPI_OBJECT_WIN) \
	CALL(Win_test, 2, ONE_SIDED, NONE, .on = 1, .object = MPI_OBJECT_WIN, \
	     .is_nonblocking = 1) \
	CALL(Win_lock, 4, ONE_SIDED, NONE, .peer = 2, .on = 4, .object = MPI_OBJECT_WIN) \
	CALL(Win_unlock, 2, ONE_SIDED, NONE, .peer = 1, .on = 2, .object = MPI_OBJECT_WIN) \
	CALL(Win_lock_all, 2, ONE_SIDED, NONE, .on = 2, .object = MPI_OBJECT_WIN) \
	CALL(Win_unlock_all, 1, ONE_SIDED, NONE, .on = 1, .object = MPI_OBJECT_WIN) \
	CALL(Win_flush, 2, ONE_SIDED, NONE, .peer = 1, .on = 2, .object = MPI_OBJECT_WIN) \
	CALL(Win_flush_all, 1, ONE_SIDED, NONE, .on = 1, .object = MPI_OBJECT_WIN) \
	CALL(Win_flush_local, 2, ONE_SIDED, NONE, .peer = 1, .on = 2, .object = MPI_OBJECT_WIN) \
	CALL(Win_flush_local_all, 1, ONE_SIDED, NONE, .on = 1, .object = MPI_OBJECT_WIN) \
	COUNT(Put, 8, ONE_SIDED, NONE, .send = 2, .peer = 4, .on = 8, .object = MPI_OBJECT_WIN) \
	COUNT(Get, 8, ONE_SIDED, NONE, .receive = 2, .peer = 4, .on = 8, \
	      .object = MPI_OBJECT_WIN) \
	COUNT(Accumulate, 9, ONE_SIDED, NONE, .send = 2, .peer = 4, .on = 9, \
	      .object = MPI_OBJECT_WIN) \
	COUNT(Get_accumulate, 12, ONE_SIDED, NONE, .send = 2, .receive = 5, .peer = 7, \
	      .on = 12, .object = MPI_OBJECT_WIN) \
	CALL(Fetch_and_op, 7, ONE_SIDED, NONE, .send = 3, .send_how = MPI_HOW_SINGLE, \
	     .receive = 3, .receive_how = MPI_HOW_SINGLE, .peer = 4, .on = 7, \
	     .object = MPI_OBJECT_WIN) \
	CALL(Compare_and_swap, 7, ONE_SIDED, NONE, .send = 4, .send_how = MPI_HOW_SINGLE, \
	     .receive = 4, .receive_how = MPI_HOW_SINGLE, .peer = 5, .on = 7, \
	     .object = MPI_OBJECT_WIN) \
	COUNT(Rput, 9, ONE_SIDED, NONE, .send = 2, .peer = 4, .on = 8, \
	      .object = MPI_OBJECT_WIN) \
	COUNT(Rget, 9, ONE_SIDED, NONE, .receive = 2, .peer = 4, .on = 8, \
	      .object = MPI_OBJECT_WIN) \
	COUNT(Raccumulate, 10, ONE_SIDED, NONE, .send = 2, .peer = 4, .on = 9, \
	      .object = MPI_OBJECT_WIN) \
	COUNT(Rget_accumulate, 13, ONE_SIDED, NONE, .send = 2, .receive = 5, .peer = 7, \
	      .on = 12, .object = MPI_OBJECT_WIN) \
	/* files */ \
	CALL(File_open, 5, IO, ALL, .on = 1, .creates = 5, .new_object = MPI_OBJECT_FILE) \
	CALL(File_close, 1, IO, NONE, .frees = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_delete, 2, IO, NONE, ) \
	CALL(File_set_size, 2, IO, LOOSE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_preallocate, 2, IO, LOOSE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_set_view, 6, IO, LOOSE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_sync, 1, IO, LOOSE, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_read_at, 6, IO, NONE, .receive = 4, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_read_at_all, 6, IO, LOOSE, .receive = 4, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_write_at, 6, IO, NONE, .send = 4, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_write_at_all, 6, IO, LOOSE, .send = 4, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_iread_at, 6, IO, NONE, .receive = 4, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_iwrite_at, 6, IO, NONE, .send = 4, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_iread_at_all, 6, IO, LOOSE, .receive = 4, .on = 1, \
	      .object = MPI_OBJECT_FILE, .is_nonblocking = 1) \
	COUNT(File_iwrite_at_all, 6, IO, LOOSE, .send = 4, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_read, 5, IO, NONE, .receive = 3, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_read_all, 5, IO, LOOSE, .receive = 3, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_write, 5, IO, NONE, .send = 3, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_write_all, 5, IO, LOOSE, .send = 3, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_iread, 5, IO, NONE, .receive = 3, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_iwrite, 5, IO, NONE, .send = 3, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_iread_all, 5, IO, LOOSE, .receive = 3, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_iwrite_all, 5, IO, LOOSE, .send = 3, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_read_shared, 5, IO, NONE, .receive = 3, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_write_shared, 5, IO, NONE, .send = 3, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_iread_shared, 5, IO, NONE, .receive = 3, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_iwrite_shared, 5, IO, NONE, .send = 3, .on = 1, .object = MPI_OBJECT_FILE, \
	      .is_nonblocking = 1) \
	COUNT(File_read_ordered, 5, IO, LOOSE, .receive = 3, .on = 1, \
	      .object = MPI_OBJECT_FILE) \
	COUNT(File_write_ordered, 5, IO, LOOSE, .send = 3, .on = 1, .object = MPI_OBJECT_FILE) \
	COUNT(File_read_at_all_begin, 5, IO, LOOSE, .receive = 4, .on = 1, \
	      .object = MPI_OBJECT_FILE) \
	COUNT(File_write_at_all_begin, 5, IO, LOOSE, .send = 4, .on = 1, \
	      .object = MPI_OBJECT_FILE) \
	COUNT(File_read_all_begin, 4, IO, LOOSE, .receive = 3, .on = 1, \
	      .object = MPI_OBJECT_FILE) \
	COUNT(File_write_all_begin, 4, IO, LOOSE, .send = 3, .on = 1, \
	      .object = MPI_OBJECT_FILE) \
	COUNT(File_read_ordered_begin, 4, IO, LOOSE, .receive = 3, .on = 1, \
	      .object = MPI_OBJECT_FILE) \
	COUNT(File_write_ordered_begin, 4, IO, LOOSE, .send = 3, .on = 1, \
	      .object = MPI_OBJECT_FILE) \
	CALL(File_read_at_all_end, 3, IO, NONE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_write_at_all_end, 3, IO, NONE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_read_all_end, 3, IO, NONE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_write_all_end, 3, IO, NONE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_read_ordered_end, 3, IO, NONE, .on = 1, .object = MPI_OBJECT_FILE) \
	CALL(File_write_ordered_end, 3, IO, NONE, .on = 1, .object = MPI_OBJECT_FILE) \
	/* makes requests whose handles may have been those of other calls */ \
	CALL(Comm_idup_with_info, 4, OTHER, LOOSE, .on = 1, .is_nonblocking = 1) \
	CALL(Grequest_start, 5, OTHER, NONE, .is_nonblocking = 1)

#define MPI_CALL_NUMBER(name, n, group, kind, ...) MPI_CALL_##name,
enum mpi_call_number { MPI_CALLS(MPI_CALL_NUMBER, MPI_CALL_NUMBER) MPI_N_CALLS };
#undef MPI_CALL_NUMBER
/* clang-format on */

/* "MPI_Send"; NULL if there is no such call. */
const char *mpi_call_name(unsigned call);
/* The form of a call < MPI_N_CALLS. */
extern const struct mpi_call_form mpi_call_forms[MPI_N_CALLS];

#endif
