/* SPDX-License-Identifier: BSD-3-Clause */
/* The GPU metrics whose names are known in advance. Test: tests/unit/prof_gpu/test_gpu_join.c. */
#ifndef HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_METRICS_TABLE_H
#define HPCPROF_LITE_ATTRIBUTE_GPU_METRICS_GPU_METRICS_TABLE_H

#include "hpcprof-lite/attribute/gpu/metrics/gpu_metrics.h"

struct gpu_metric_row {
	const char *name;
	uint8_t unit; /* enum model_unit */
	const char *description;
	uint8_t kind, role; /* enum model_metric_kind, enum model_metric_role */
	uint32_t parent, divisor; /* enum gpu_metric; MODEL_NONE: none */
};

/* By enum gpu_metric. */
extern const struct gpu_metric_row gpu_metrics_table[GPU_N_FIXED];

#endif
