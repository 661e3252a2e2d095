/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of the model: kernels of NCCL on the time lines of GPUs, and which rank came last to
 * collective operations. doc/nccl.md has the definitions. Include model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_NCCL_H
#define HPCPROF_MODEL_MODEL_NCCL_H

#include "hpcprof-lite/model/model_mpi.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a GPU did for one process that used NCCL on it. elapsed_ns == nccl_ns + compute_ns -
 * overlap_ns + copy_ns + idle_ns.
 */
struct model_nccl_device {
	uint32_t process, device;
	uint64_t elapsed_ns;  /* of the process, while measurement was on */
	uint64_t nccl_ns;     /* at least one kernel of NCCL ran */
	uint64_t compute_ns;  /* at least one other kernel ran */
	uint64_t overlap_ns;  /* both: communication hidden by computation */
	uint64_t copy_ns;     /* only copies or sets ran */
	uint64_t idle_ns;
	uint64_t n_kernels;   /* of NCCL */
	uint64_t n_calls;     /* collective operations whose last rank is known */
	uint64_t waited_ns;   /* time in them that it waited for the last rank */
	uint64_t n_last;      /* operations in which it came last, and others waited */
};

/* Queues of several processes or GPUs that take part in the same operations. */
struct model_nccl_comm {
	uint32_t first_member, n_members; /* in `members`: queues, by process */
	uint64_t n_calls;     /* operations: each is one kernel of NCCL on every queue */
	uint64_t n_judged;    /* those of n_calls that need all ranks */
};

/* Which rank came last; see model_mpi.h. `profile` is a queue, `context` a line if one is known. */
struct model_nccl {
	const struct model_nccl_device *devices; /* by process, then device */
	uint32_t n_devices;
	const struct model_nccl_comm *comms;
	uint32_t n_comms;
	const uint32_t *members;
	uint32_t n_members;
	const struct model_mpi_site *sites; /* by falling waited_ns */
	uint32_t n_sites;
	const struct model_mpi_late *late;  /* by site, then falling waited_ns */
	uint32_t n_late;
	uint64_t n_alone;     /* kernels without a known counterpart on another GPU */
	uint64_t clock_error_ns; /* of the clocks of several hosts; 0: one host */
};

#endif
