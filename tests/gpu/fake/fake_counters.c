/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The range profiler of the CUPTI that does not exist. What it does like NVIDIA's: ranges of the
 * tool's are ended by a kernel of CUPTI's, which has a record with the id of the launch; kernels
 * that CUPTI replays have a range each and records without times; some counters need several
 * passes; instructions are counted only in kernels that are replayed; a GPU does not have all
 * counters. A kernel of T ns reads T bytes and writes T / 2, and
 * each of its threads does 3 multiply-adds of FP32. FAKE_CUDA=no-rights, miscounting: what can go
 * wrong besides. See fake_cuda.c.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_profiler_host.h"
#include "tests/gpu/fake/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RANGES = 4096, MOST_COUNTERS = 32 };

struct range {
	uint64_t ns, threads;
	char name[16];
};

/* Of a context; what CUPTI decodes is left here and not in the image. */
static struct profiler {
	uint32_t device;
	bool is_enabled, is_started, is_replaying, is_open;
	size_t room, n, n_decoded;
	struct range ranges[MOST_RANGES], decoded[MOST_RANGES];
	const uint8_t *image;
} profilers[FAKE_MOST_DEVICES];

static struct profiler *profiler_of(CUpti_RangeProfiler_Object *p)
{
	return (struct profiler *)p;
}

bool fake_counters_replay(uint32_t device)
{
	return profilers[device].is_started && profilers[device].is_replaying;
}

static void begin_range(struct profiler *p, const char *name)
{
	if (p->n < MOST_RANGES) {
		p->ranges[p->n] = (struct range){0};
		snprintf(p->ranges[p->n].name, sizeof p->ranges->name, "%s", name);
	}
	p->n++;
}

bool fake_counters_kernel(uint32_t device, uint64_t ns, uint64_t threads)
{
	struct profiler *p = &profilers[device];
	if (!p->is_started || (!p->is_replaying && !p->is_open))
		return false;
	if (p->is_replaying)
		begin_range(p, "");
	if (p->n && p->n <= MOST_RANGES) {
		p->ranges[p->n - 1].ns += ns;
		p->ranges[p->n - 1].threads += threads;
	}
	return !p->is_replaying;
}

/* ---- the host API ---- */

static const struct {
	const char *name;
	unsigned n_passes;
} known[] = {{"dram__bytes_read.sum", 1},
	     {"dram__bytes_write.sum", 1},
	     {"lts__t_sectors_lookup_hit.sum", 2},
	     {"lts__t_sectors_lookup_miss.sum", 2},
	     {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1},
	     {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1},
	     {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 1},
	     {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1},
	     {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1},
	     {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 1},
	     {"sm__warps_launched.sum", 1},
	     {"gpu__time_duration.sum", 1}};

static size_t find(const char *name)
{
	size_t i = 0;
	while (i < sizeof known / sizeof *known && strcmp(known[i].name, name) != 0)
		i++;
	return i;
}

API CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *p)
{
	return p->structSize ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
API CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p)
{
	p->pChipName = "FAKE100";
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params *p)
{
	if (fake_is("no-rights"))
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	if (p->pCounterAvailabilityImage)
		p->pCounterAvailabilityImage[0] = 1;
	p->counterAvailabilityImageSize = 16;
	return CUPTI_SUCCESS;
}

struct host {
	unsigned n_passes;
};
CUptiResult cuptiProfilerHostInitialize(struct nv_host_initialize *p);
API CUptiResult cuptiProfilerHostInitialize(struct nv_host_initialize *p)
{
	if (strcmp(p->chip, "FAKE100") != 0 || p->availability[0] != 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	p->host = calloc(1, sizeof(struct host));
	return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(struct nv_host_deinitialize *p);
API CUptiResult cuptiProfilerHostDeinitialize(struct nv_host_deinitialize *p)
{
	free(p->host);
	return CUPTI_SUCCESS;
}
/* Counters of memory fit one pass, and so do those of instructions; not both. */
CUptiResult cuptiProfilerHostConfigAddMetrics(struct nv_host_add_metrics *p);
API CUptiResult cuptiProfilerHostConfigAddMetrics(struct nv_host_add_metrics *p)
{
	unsigned of_memory = 0, of_instructions = 0;
	for (size_t i = 0; i < p->n; i++) {
		size_t k = find(p->names[i]);
		if (k == sizeof known / sizeof *known)
			return CUPTI_ERROR_INVALID_METRIC_NAME;
		unsigned *n = p->names[i][0] == 's' ? &of_instructions : &of_memory;
		*n = known[k].n_passes > *n ? known[k].n_passes : *n;
	}
	((struct host *)p->host)->n_passes = of_memory + of_instructions;
	return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(struct nv_host_image_size *p);
API CUptiResult cuptiProfilerHostGetConfigImageSize(struct nv_host_image_size *p)
{
	p->image_bytes = sizeof(struct host);
	return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(struct nv_host_image *p);
API CUptiResult cuptiProfilerHostGetConfigImage(struct nv_host_image *p)
{
	memcpy(p->image, p->host, sizeof(struct host));
	return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(struct nv_host_passes *p);
API CUptiResult cuptiProfilerHostGetNumOfPasses(struct nv_host_passes *p)
{
	struct host h;
	memcpy(&h, p->image, sizeof h);
	p->n = h.n_passes;
	return CUPTI_SUCCESS;
}

static double value_of(const struct profiler *p, const struct range *r, const char *name)
{
	if (!strcmp(name, "dram__bytes_read.sum") || !strcmp(name, "gpu__time_duration.sum"))
		return (double)r->ns;
	if (!strcmp(name, "dram__bytes_write.sum"))
		return (double)(r->ns / 2);
	if (!strcmp(name, "lts__t_sectors_lookup_hit.sum"))
		return (double)(r->ns / 8);
	if (!strcmp(name, "lts__t_sectors_lookup_miss.sum"))
		return (double)(r->ns / 8 * 3);
	if (!strcmp(name, "sm__warps_launched.sum"))
		return (double)((r->threads + 31) / 32);
	return p->is_replaying && strstr(name, "_ffma_") ? 3.0 * (double)r->threads : 0;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct nv_host_evaluate *p);
API CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct nv_host_evaluate *p)
{
	for (unsigned d = 0; d < FAKE_MOST_DEVICES; d++)
		if (profilers[d].image == p->image && p->range < profilers[d].n_decoded) {
			for (size_t i = 0; i < p->n; i++)
				p->values[i] =
					value_of(&profilers[d], &profilers[d].decoded[p->range],
						 p->names[i]);
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- the range profiler ---- */

API CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p)
{
	struct profiler *made = &profilers[fake_device_of(p->ctx)];
	if (made->is_enabled)
		return CUPTI_ERROR_INVALID_OPERATION;
	made->is_enabled = true;
	made->device = fake_device_of(p->ctx);
	p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)made;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p)
{
	profiler_of(p->pRangeProfilerObject)->is_enabled = false;
	return CUPTI_SUCCESS;
}
API CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
	profiler_of(p->pRangeProfilerObject)->room = p->maxNumOfRanges;
	p->counterDataSize = 64;
	return p->numMetrics <= MOST_COUNTERS ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
API CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
	struct profiler *of = profiler_of(p->pRangeProfilerObject);
	of->image = p->pCounterData;
	of->n_decoded = 0;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p)
{
	struct profiler *of = profiler_of(p->pRangeProfilerObject);
	of->is_replaying = p->replayMode == CUPTI_KernelReplay;
	return of->is_replaying == (p->range == CUPTI_AutoRange) ? CUPTI_SUCCESS
								 : CUPTI_ERROR_INVALID_PARAMETER;
}
API CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *p)
{
	struct profiler *of = profiler_of(p->pRangeProfilerObject);
	if (!of->is_started || of->is_replaying || of->is_open)
		return CUPTI_ERROR_INVALID_OPERATION;
	of->is_open = true;
	begin_range(of, p->pRangeName);
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *p)
{
	struct profiler *of = profiler_of(p->pRangeProfilerObject);
	if (!of->is_open)
		return CUPTI_ERROR_INVALID_OPERATION;
	of->is_open = false;
	return CUPTI_SUCCESS;
}
API CUptiResult
cuptiRangeProfilerCounterDataGetRangeInfo(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *p)
{
	for (unsigned d = 0; d < FAKE_MOST_DEVICES; d++)
		if (profilers[d].image == p->pCounterDataImage)
			p->rangeName = profilers[d].decoded[p->rangeIndex].name;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p)
{
	struct profiler *of = profiler_of(p->pRangeProfilerObject);
	of->is_started = true;
	of->n = 0;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p)
{
	struct profiler *of = profiler_of(p->pRangeProfilerObject);
	uint64_t until = fake_busy_until_ns(of->device);
	struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	of->is_started = false;
	p->isAllPassSubmitted = 1;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p)
{
	struct profiler *of = profiler_of(p->pRangeProfilerObject);
	of->n_decoded = of->n < of->room ? of->n : of->room;
	if (fake_is("miscounting") && of->n_decoded > 3)
		of->n_decoded = 3;
	p->numOfRangeDropped = of->n - of->n_decoded;
	memcpy(of->decoded, of->ranges, sizeof of->decoded);
	return CUPTI_SUCCESS;
}
API CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *p)
{
	for (unsigned d = 0; d < FAKE_MOST_DEVICES; d++)
		if (profilers[d].image == p->pCounterDataImage)
			p->numTotalRanges = profilers[d].n_decoded;
	return CUPTI_SUCCESS;
}
