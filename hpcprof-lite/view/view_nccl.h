/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and order for tables about NCCL. Test: tests/unit/prof_nccl/test_nccl.c. */
#ifndef HPCPROF_VIEW_VIEW_NCCL_H
#define HPCPROF_VIEW_VIEW_NCCL_H

#include "hpcprof-lite/model/model.h"

/* The operation of a site: "AllReduce". */
const char *view_nccl_operation(uint16_t call);
/* "rank 1", "pid 12"; with ", GPU 0" if the process used NCCL on several. */
void view_nccl_name(const struct model *m, uint32_t process, uint32_t device, char *to,
	size_t n_bytes);
/* Index of the device that came last most often; MODEL_NONE: known for no operation. */
uint32_t view_nccl_slowest(const struct model_nccl *x);

#endif
