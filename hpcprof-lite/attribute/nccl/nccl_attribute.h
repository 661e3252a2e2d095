/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the part of the model about NCCL: times by process and GPU, and who came last. Waiting is
 * that of mpi_waits.h: from a rank's own start to the last one's. Tests:
 * tests/unit/prof_nccl/test_nccl.c, tests/cli/nccl/nccl_ranks.sh.
 */
#ifndef HPCPROF_ATTRIBUTE_NCCL_NCCL_ATTRIBUTE_H
#define HPCPROF_ATTRIBUTE_NCCL_NCCL_ATTRIBUTE_H

#include "hpcprof-lite/attribute/topic/topic.h"
#include "hpcprof-lite/model/private.h"

/*
 * The model is a run or a part of one, with its time lines. Sets m->nccl if a kernel of NCCL ran.
 * False if memory is short.
 */
bool nccl_attribute(struct model *m);

extern const struct topic_ops topic_nccl;

#endif
