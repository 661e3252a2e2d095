/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of CUPTI's profilers that counters need. We declare the host API here, with the same
 * layout, because CUDA 13's header is C++ only. Functions are found by name. Constant once open.
 * Test: tests/cli/gpu/counters.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_PROFILER_HOST_H
#define HPCRUN_LITE_GPU_CUPTI_COUNTERS_NV_PROFILER_HOST_H

#include "hpcrun-lite/gpu/cupti/front/nv_headers.h"

#include <stdbool.h>

#define NV_RANGE_PROFILER 0 /* CUPTI_PROFILER_TYPE_RANGE_PROFILER */

/* Each structure begins with its size, from which CUPTI knows the fields that exist. */
struct nv_host_initialize {
	size_t bytes;
	void *priv;
	int type;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};
struct nv_host_deinitialize {
	size_t bytes;
	void *priv, *host;
};
struct nv_host_add_metrics {
	size_t bytes;
	void *priv, *host;
	const char **names;
	size_t n;
};
struct nv_host_image_size {
	size_t bytes;
	void *priv, *host;
	size_t image_bytes; /* out */
};
struct nv_host_image {
	size_t bytes;
	void *priv, *host;
	size_t image_bytes;
	uint8_t *image;
};
struct nv_host_passes {
	size_t bytes;
	void *priv;
	size_t image_bytes;
	uint8_t *image;
	size_t n; /* out */
};
struct nv_host_evaluate {
	size_t bytes;
	void *priv, *host;
	const uint8_t *image;
	size_t image_bytes, range;
	const char **names;
	size_t n;
	double *values;
};

struct nv_profiler {
	CUptiResult (*cuptiProfilerInitialize)(CUpti_Profiler_Initialize_Params *p);
	CUptiResult (*cuptiDeviceGetChipName)(CUpti_Device_GetChipName_Params *p);
	CUptiResult (*cuptiProfilerGetCounterAvailability)(
		CUpti_Profiler_GetCounterAvailability_Params *p);
	CUptiResult (*cuptiProfilerHostInitialize)(struct nv_host_initialize *p);
	CUptiResult (*cuptiProfilerHostDeinitialize)(struct nv_host_deinitialize *p);
	CUptiResult (*cuptiProfilerHostConfigAddMetrics)(struct nv_host_add_metrics *p);
	CUptiResult (*cuptiProfilerHostGetConfigImageSize)(struct nv_host_image_size *p);
	CUptiResult (*cuptiProfilerHostGetConfigImage)(struct nv_host_image *p);
	CUptiResult (*cuptiProfilerHostGetNumOfPasses)(struct nv_host_passes *p);
	CUptiResult (*cuptiProfilerHostEvaluateToGpuValues)(struct nv_host_evaluate *p);
	CUptiResult (*cuptiRangeProfilerEnable)(CUpti_RangeProfiler_Enable_Params *p);
	CUptiResult (*cuptiRangeProfilerDisable)(CUpti_RangeProfiler_Disable_Params *p);
	CUptiResult (*cuptiRangeProfilerGetCounterDataSize)(
		CUpti_RangeProfiler_GetCounterDataSize_Params *p);
	CUptiResult (*cuptiRangeProfilerCounterDataImageInitialize)(
		CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p);
	CUptiResult (*cuptiRangeProfilerSetConfig)(CUpti_RangeProfiler_SetConfig_Params *p);
	CUptiResult (*cuptiRangeProfilerStart)(CUpti_RangeProfiler_Start_Params *p);
	CUptiResult (*cuptiRangeProfilerStop)(CUpti_RangeProfiler_Stop_Params *p);
	CUptiResult (*cuptiRangeProfilerPushRange)(CUpti_RangeProfiler_PushRange_Params *p);
	CUptiResult (*cuptiRangeProfilerPopRange)(CUpti_RangeProfiler_PopRange_Params *p);
	CUptiResult (*cuptiRangeProfilerCounterDataGetRangeInfo)(
		CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *p);
	CUptiResult (*cuptiRangeProfilerDecodeData)(CUpti_RangeProfiler_DecodeData_Params *p);
	CUptiResult (*cuptiRangeProfilerGetCounterDataInfo)(
		CUpti_RangeProfiler_GetCounterDataInfo_Params *p);
};

/*
 * Finds the functions in CUPTI, which is loaded as `path`. Returns NULL, or the name of a missing
 * function.
 */
const char *nv_profiler_open(struct nv_profiler *p, const char *path);

#endif
