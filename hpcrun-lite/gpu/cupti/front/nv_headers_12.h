/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that the headers of CUDA 12 lack, with the layout of CUDA 13.0, so that a build with
 * them has everything. Each structure begins with its size, by which CUPTI knows the fields that
 * exist. Only nv_headers.h includes this.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_FRONT_NV_HEADERS_12_H
#define HPCRUN_LITE_GPU_CUPTI_FRONT_NV_HEADERS_12_H

#include <stddef.h>
#include <stdint.h>

/* From the begin of a structure to the end of its last field. */
#define NV_BYTES_TO(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

#if CUPTI_API_VERSION < 26 /* 12.8 */
typedef CUpti_ActivityMemcpy5 CUpti_ActivityMemcpy6;
#endif
typedef CUpti_ActivityKernel9 CUpti_ActivityKernel10;

typedef struct {
	size_t structSize;
	const char *subscriberName;
	char *oldSubscriberName; /* out */
	size_t oldSubscriberSize;
} CUpti_SubscriberParams;
#define CUpti_SubscriberParams_STRUCT_SIZE NV_BYTES_TO(CUpti_SubscriberParams, oldSubscriberSize)
CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user,
				       CUpti_SubscriberParams *p);

#if !__has_include(<cupti_range_profiler.h>) /* 12.6.2 */
typedef struct CUpti_RangeProfiler_Object CUpti_RangeProfiler_Object;
/* Every structure of a profiler begins with these. */
#define NV_RANGE_BEGIN     \
	size_t structSize; \
	void *pPriv;       \
	CUpti_RangeProfiler_Object *pRangeProfilerObject;

typedef struct {
	NV_RANGE_BEGIN
	size_t configSize;
	const uint8_t *pConfig;
	size_t counterDataImageSize;
	uint8_t *pCounterDataImage;
	CUpti_ProfilerRange range;
	CUpti_ProfilerReplayMode replayMode;
	size_t maxRangesPerPass;
	uint16_t numNestingLevels, minNestingLevel;
	size_t passIndex;
	uint16_t targetNestingLevel;
} CUpti_RangeProfiler_SetConfig_Params;
typedef struct {
	size_t structSize;
	void *pPriv;
	CUcontext ctx;
	CUpti_RangeProfiler_Object *pRangeProfilerObject; /* out */
} CUpti_RangeProfiler_Enable_Params;
typedef struct {
	NV_RANGE_BEGIN
} CUpti_RangeProfiler_Disable_Params, CUpti_RangeProfiler_Start_Params,
	CUpti_RangeProfiler_PopRange_Params;
typedef struct {
	NV_RANGE_BEGIN
	size_t passIndex, targetNestingLevel;
	uint8_t isAllPassSubmitted;
} CUpti_RangeProfiler_Stop_Params;
typedef struct {
	NV_RANGE_BEGIN
	const char *pRangeName;
} CUpti_RangeProfiler_PushRange_Params;
typedef struct {
	NV_RANGE_BEGIN
	size_t numOfRangeDropped;
} CUpti_RangeProfiler_DecodeData_Params;
typedef struct {
	NV_RANGE_BEGIN
	const char **pMetricNames;
	size_t numMetrics, maxNumOfRanges;
	uint32_t maxNumRangeTreeNodes;
	size_t counterDataSize;
} CUpti_RangeProfiler_GetCounterDataSize_Params;
typedef struct {
	NV_RANGE_BEGIN
	size_t counterDataSize;
	uint8_t *pCounterData;
} CUpti_RangeProfiler_CounterDataImage_Initialize_Params;
typedef struct {
	size_t structSize;
	void *pPriv;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize, numTotalRanges;
} CUpti_RangeProfiler_GetCounterDataInfo_Params;
typedef struct {
	size_t structSize;
	void *pPriv;
	const uint8_t *pCounterDataImage;
	size_t counterDataImageSize, rangeIndex;
	const char *rangeDelimiter, *rangeName;
} CUpti_RangeProfiler_CounterData_GetRangeInfo_Params;
#undef NV_RANGE_BEGIN

/* The sizes, and functions whose types we use. */
#define CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE \
	NV_BYTES_TO(CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel)
#define CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE sizeof(CUpti_RangeProfiler_Enable_Params)
#define CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE sizeof(CUpti_RangeProfiler_Disable_Params)
#define CUpti_RangeProfiler_Start_Params_STRUCT_SIZE sizeof(CUpti_RangeProfiler_Start_Params)
#define CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE \
	NV_BYTES_TO(CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted)
#define CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE \
	sizeof(CUpti_RangeProfiler_PushRange_Params)
#define CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE sizeof(CUpti_RangeProfiler_PopRange_Params)
#define CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE \
	sizeof(CUpti_RangeProfiler_DecodeData_Params)
#define CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE \
	sizeof(CUpti_RangeProfiler_GetCounterDataSize_Params)
#define CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE \
	sizeof(CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
#define CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE \
	sizeof(CUpti_RangeProfiler_GetCounterDataInfo_Params)
#define CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE \
	sizeof(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params)
CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p);
CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *p);
CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataImageInitialize(
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p);
CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *p);
CUptiResult CUPTIAPI
cuptiRangeProfilerCounterDataGetRangeInfo(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *p);
#endif

#endif
