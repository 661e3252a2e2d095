/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records about MPI in a measurement file. doc/formats/measurement.md is the specification;
 * this header must agree with it. Test: tests/unit/prof_mpi/test_mpi_model.c.
 */
#ifndef COMMON_FORMAT_MEASUREMENT_MPI_H
#define COMMON_FORMAT_MEASUREMENT_MPI_H

#include "common/format/measurement.h"
#include "common/format/mpi_calls.h"

/* A communicator, as the process that wrote the file sees it. In extents of the process. */
struct msr_mpi_comm {
	uint32_t id;        /* > 0, unique in the process */
	uint32_t size;      /* number of ranks; for an intercommunicator, of the local group */
	uint32_t rank;      /* of the process */
	uint32_t flags;     /* MSR_MPI_COMM_* */
	/* Equal in all processes of the communicator; 0: unknown, so calls cannot be matched. */
	uint64_t identity;
	uint64_t reserved;
};
#define MSR_MPI_COMM_WORLD 1u

/* Values of `peer` that are not a rank. */
enum { MSR_MPI_NO_PEER = -1, MSR_MPI_ANY_PEER = -2, MSR_MPI_ALL_PEERS = -3 };

/*
 * The sums of calls of one function with equal context, communicator, peer and size class. In
 * extents of the thread that made the calls.
 */
struct msr_mpi_call {
	uint32_t node;      /* context node of the thread; 0: no path */
	uint16_t call;      /* enum mpi_call_number */
	uint8_t size_class; /* 0: no bytes; n: 2^(n-1) <= bytes of a call < 2^n */
	uint8_t reserved;
	uint32_t comm;      /* id; 0: none, or not known */
	/* rank in the communicator, or one of the values above; collective calls: the root */
	int32_t peer;
	_Atomic uint64_t n_calls;
	_Atomic uint64_t sent;      /* bytes that the arguments give away */
	_Atomic uint64_t received;  /* bytes for which the arguments give room */
	_Atomic uint64_t ns;        /* time in the calls */
	_Atomic uint64_t least_ns;  /* the shortest of them */
	uint64_t reserved2;
};

/*
 * The call that the thread is in, written when it begins: of a process that was killed, what it was
 * waiting for. In an extent of the thread, which has one record.
 */
struct msr_mpi_open {
	_Atomic uint64_t enter_ns; /* CLOCK_MONOTONIC; 0: in no call; written last */
	uint32_t node, comm;       /* as in struct msr_mpi_call, as the next two */
	int32_t peer;
	uint16_t call;
	uint16_t way;              /* of calls that wait for requests: MSR_MPI_WAY_* */
};
/* The message that a request waits for: from the peer, to it, or both. */
enum { MSR_MPI_WAY_NONE, MSR_MPI_WAY_FROM, MSR_MPI_WAY_TO, MSR_MPI_WAY_BOTH };

/*
 * One collective call. In extents of the thread that made it. msr_mpi_is_recorded() says which
 * calls have a record. Its answer is the same for all processes of the communicator.
 */
struct msr_mpi_collective {
	uint64_t enter_ns;  /* CLOCK_MONOTONIC */
	uint64_t leave_ns;
	uint64_t number;    /* of the call among the collective calls on its communicator, from 0 */
	uint32_t node;      /* as in struct msr_mpi_call */
	uint32_t comm;
	int32_t root;
	uint16_t call;
	uint16_t reserved;
};

/*
 * Of the first 32768 collective calls of a communicator, all have records. Of the next 32768 every
 * second one has a record, of the 65536 after that every fourth, and so on: 16384 records for each
 * doubling.
 */
#define MSR_MPI_ALL_RECORDED 15u
static inline unsigned msr_mpi_stride_log2(uint64_t number)
{
	return number >> MSR_MPI_ALL_RECORDED
		? 64u - (unsigned)__builtin_clzll(number) - MSR_MPI_ALL_RECORDED
		: 0;
}
static inline bool msr_mpi_is_recorded(uint64_t number)
{
	return (number & ((UINT64_C(1) << msr_mpi_stride_log2(number)) - 1)) == 0;
}

static inline uint8_t msr_mpi_size_class(uint64_t bytes)
{
	return bytes ? (uint8_t)(64 - __builtin_clzll(bytes)) : 0;
}

#endif
