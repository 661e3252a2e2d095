/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recognises NCCL's kernels by their names. A name says which operation the kernel runs. It does
 * not always say which reduction, algorithm and protocol: NCCL uses one kernel for many of them,
 * and for several operations of a group. Source: best_kernel() of the generator in NCCL's
 * src/device. Test: tests/unit/prof_nccl/test_nccl.c.
 */
#ifndef HPCPROF_ATTRIBUTE_NCCL_NCCL_NAMES_H
#define HPCPROF_ATTRIBUTE_NCCL_NCCL_NAMES_H

#include <stdbool.h>

enum nccl_kind {
	NCCL_NOT,            /* not a kernel of NCCL */
	NCCL_ALL_REDUCE,
	NCCL_ALL_GATHER,
	NCCL_REDUCE_SCATTER,
	NCCL_BROADCAST,
	NCCL_REDUCE,
	NCCL_SEND_RECV,
	NCCL_OTHER
};

/* `kernel`: the kernel's name. It is mangled if the kernel's code was not kept. */
enum nccl_kind nccl_kind_of(const char *kernel);

/* True if no rank can end the operation before all have begun it. */
static inline bool nccl_needs_all(enum nccl_kind k)
{
	return k == NCCL_ALL_REDUCE || k == NCCL_ALL_GATHER || k == NCCL_REDUCE_SCATTER;
}

#endif
