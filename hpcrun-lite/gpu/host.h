/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that back ends call; see gpu.h. Test: tests/unit/gpu/test_gpu_core.c. */
#ifndef HPCRUN_LITE_GPU_HOST_H
#define HPCRUN_LITE_GPU_HOST_H

#include "hpcrun-lite/gpu/gpu.h"

/* Returns the table of back end `number`, which is less than GPU_MAX_BACKENDS. */
const struct gpu_host *host_table(unsigned number);

#endif
