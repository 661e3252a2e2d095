/* SPDX-License-Identifier: BSD-3-Clause */
/* NVIDIA's headers, without the warnings that they cause. */
#ifndef HPCRUN_LITE_GPU_CUPTI_FRONT_NV_HEADERS_H
#define HPCRUN_LITE_GPU_CUPTI_FRONT_NV_HEADERS_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#if __has_include(<cupti_range_profiler.h>)
#include <cupti_range_profiler.h>
#endif
#if CUPTI_API_VERSION < 130000
#include "hpcrun-lite/gpu/cupti/front/nv_headers_12.h"
#endif
#pragma GCC diagnostic pop

#endif
