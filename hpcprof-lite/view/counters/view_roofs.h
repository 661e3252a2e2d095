/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The most that a GPU can do: bytes of its memory and operations of each kind in a second, from its
 * clocks, widths and compute capability. Not measured. Test: tests/unit/prof_gpu/test_counters.c.
 */
#ifndef HPCPROF_VIEW_COUNTERS_VIEW_ROOFS_H
#define HPCPROF_VIEW_COUNTERS_VIEW_ROOFS_H

#include "hpcprof-lite/model/model.h"

/* Kinds of operations that are counted separately. */
enum view_work {
	VIEW_FP64,
	VIEW_FP32,
	VIEW_FP16,        /* and BF16 */
	VIEW_TENSOR_FP64, /* this and all below: by tensor cores */
	VIEW_TENSOR_TF32,
	VIEW_TENSOR_BF16,
	VIEW_TENSOR_FP16,
	VIEW_TENSOR_FP8,
	VIEW_TENSOR_INT8,
	VIEW_N_WORKS
};

/* "FP64", "tensor BF16" */
const char *view_work_name(enum view_work w);

struct view_roofs {
	double bytes;                    /* in a second; 0: unknown, as below */
	double operations[VIEW_N_WORKS]; /* in a second; a multiply-add is two */
	uint32_t clock_mhz, memory_mhz, memory_bits; /* what the others are computed from */
};

/* All 0 if devices with different roofs were used, since values are not known by device. */
struct view_roofs view_roofs_of(const struct model *m);

#endif
