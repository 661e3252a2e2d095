/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the time of a GPU into NCCL kernels, other kernels, both at once, copies, and idle time.
 * Test: tests/unit/prof_nccl/test_nccl.c.
 */
#ifndef HPCPROF_ATTRIBUTE_NCCL_NCCL_TIMES_H
#define HPCPROF_ATTRIBUTE_NCCL_NCCL_TIMES_H

#include "hpcprof-lite/model/model.h"

/*
 * Sets the times of *d from the queues [first, end), profiles of one process and device.
 * kind_of: enum nccl_kind, by function. Reads the time lines once. False if memory is short.
 */
bool nccl_times_find(const struct model *m, const uint8_t *kind_of, uint32_t first, uint32_t end,
	struct model_nccl_device *d);

#endif
