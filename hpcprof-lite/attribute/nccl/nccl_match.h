/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds which kernels of NCCL, in several processes or on several GPUs, belong to one operation.
 * Names of kernels do not give the communicator. But NCCL requires the same order of a
 * communicator's operations on all ranks, and frameworks give each communicator its own queue. So
 * two queues belong together if they have the same operations in the same order, and if no
 * operation that needs all ranks ended on one before it began on the other. doc/nccl.md says when
 * this cannot be decided. Test: tests/unit/prof_nccl/test_nccl.c.
 */
#ifndef HPCPROF_ATTRIBUTE_NCCL_NCCL_MATCH_H
#define HPCPROF_ATTRIBUTE_NCCL_NCCL_MATCH_H

#include "common/base/vec.h"
#include "hpcprof-lite/attribute/nccl/nccl_names.h"

#include <stdint.h>

/* The accuracy of GPU clocks. */
#define NCCL_CLOCK_NS INT64_C(20000)

/* A kernel of NCCL. */
struct nccl_run {
	int64_t start_ns, end_ns;
	uint32_t context;
	uint8_t kind;              /* enum nccl_kind */
};

/* The kernels of NCCL on one queue, by start. */
struct nccl_stream {
	uint32_t process, device, queue;
	uint32_t profile;          /* the first lane of the queue */
	uint64_t host;
	VEC(struct nccl_run) runs;
};

/* A stream in a group: its run number k + shift is call k of the group. */
struct nccl_member {
	uint32_t stream;
	int64_t shift;
	int64_t offset_ns;         /* corrects its host's clock: add to its times */
};

/* When call k can have happened: no known member ended earlier or began later. */
struct nccl_call {
	int64_t last_start_ns, first_end_ns;
	uint8_t kind;
};

struct nccl_group {
	VEC(struct nccl_member) members; /* in the order of the streams */
	VEC(struct nccl_call) calls;
	int64_t begin, end;        /* calls that all members have */
};

struct nccl_groups {
	VEC(struct nccl_group) list;
	uint64_t clock_error_ns;   /* between hosts */
};

/*
 * Puts each of the n streams, which are sorted by process, into one group. A group with one member
 * has no counterpart. Zero-initialise `g`. False if memory is short.
 */
bool nccl_match(const struct nccl_stream *streams, size_t n, struct nccl_groups *g);
void nccl_groups_free(struct nccl_groups *g);

#endif
