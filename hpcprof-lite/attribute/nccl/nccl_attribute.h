/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the NCCL part of the model: times by process and GPU, and which rank came last. As in
 * mpi_waits.h, a rank waits from its own start to the start of the last rank. Tests:
 * tests/unit/prof_nccl/test_nccl.c, tests/cli/nccl/nccl_ranks.sh.
 */
#ifndef HPCPROF_ATTRIBUTE_NCCL_NCCL_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_NCCL_NCCL_ATTRIBUTE_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/model/private.h"

/*
 * The model must be a run or a part of a run, with its time lines. Sets m->nccl if a kernel of NCCL
 * ran. False if memory is short.
 */
bool nccl_attribute(struct model *m);

extern const struct topic_ops topic_nccl;

#endif
