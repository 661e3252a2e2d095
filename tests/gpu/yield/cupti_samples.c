/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that use CUPTI as NVIDIA's samples of these names do, in small. What they print as
 * "result" is the same with a tool that measures them. By the first argument:
 *
 *     callback_timestamp       callbacks of calls of the run time (CUDART_FILE names it) and of the
 *         driver, with times at both ends
 *     activity_trace_async     records of ten kinds, asked for before CUDA starts, taken at exit()
 *     nested_range_profiling   a counter in ranges, one inside of the other
 *     pc_sampling_continuous   samples of instructions, enabled in the callback of a new context
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_profiler_host.h"
#include "tests/gpu/cuda_work.h"

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)8 << 20)
#define N_CALLS 64u
#define N_PCS 1000u
#define N_REASONS 64u
#define METRIC "sm__warps_launched.sum"

#define CUPTI_FUNCTIONS(F) \
	F(cuptiSubscribe) F(cuptiUnsubscribe) F(cuptiEnableCallback) F(cuptiEnableDomain) \
	F(cuptiActivityRegisterCallbacks) F(cuptiActivityEnable) F(cuptiActivityDisable) \
	F(cuptiActivityFlushAll) F(cuptiActivityGetNextRecord) F(cuptiPCSamplingEnable) \
	F(cuptiPCSamplingDisable) F(cuptiPCSamplingGetData) F(cuptiPCSamplingGetNumStallReasons) \
	F(cuptiPCSamplingGetStallReasons) F(cuptiPCSamplingSetConfigurationAttribute) \
	F(cuptiProfilerInitialize) F(cuptiDeviceGetChipName) \
	F(cuptiProfilerGetCounterAvailability) F(cuptiRangeProfilerEnable) \
	F(cuptiRangeProfilerDisable) F(cuptiRangeProfilerGetCounterDataSize) \
	F(cuptiRangeProfilerCounterDataImageInitialize) F(cuptiRangeProfilerSetConfig) \
	F(cuptiRangeProfilerStart) F(cuptiRangeProfilerStop) F(cuptiRangeProfilerPushRange) \
	F(cuptiRangeProfilerPopRange) F(cuptiRangeProfilerDecodeData) \
	F(cuptiRangeProfilerGetCounterDataInfo) F(cuptiRangeProfilerCounterDataGetRangeInfo)
#define CUPTI_FIELD(name) __typeof__(&name) name;
#define HOST_FUNCTIONS(F) \
	F(cuptiProfilerHostInitialize) F(cuptiProfilerHostDeinitialize) \
	F(cuptiProfilerHostConfigAddMetrics) F(cuptiProfilerHostGetConfigImageSize) \
	F(cuptiProfilerHostGetConfigImage) F(cuptiProfilerHostEvaluateToGpuValues)
static struct {
	CUPTI_FUNCTIONS(CUPTI_FIELD)
} cupti;
static struct nv_profiler host; /* its header is C++, so its functions are declared there */
static CUpti_SubscriberHandle subscriber;

static void open_cupti(void)
{
	const char *file = getenv("CUPTI_FILE");
	void *library = dlopen(file ? file : "libcupti.so.13", RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		printf("no CUPTI: %s\n", dlerror());
		exit(77);
	}
#define FIND(name) memcpy(&cupti.name, &(void *){dlsym(library, #name)}, sizeof(void *));
#define FIND_HOST(name) memcpy(&host.name, &(void *){dlsym(library, #name)}, sizeof(void *));
	CUPTI_FUNCTIONS(FIND)
	HOST_FUNCTIONS(FIND_HOST)
}

/* As the samples do. */
static void must(const char *call, CUptiResult r)
{
	if (r == CUPTI_SUCCESS)
		return;
	printf("result %s failed: %d\n", call, (int)r);
	exit(1);
}
#define CHECK(call) must(#call, (call))

static void launch(unsigned n, unsigned blocks)
{
	uint64_t ns = 1000000;
	void *arguments[] = {&ns};
	for (unsigned i = 0; i < n; i++)
		MUST(cuda.cuLaunchKernel(cuda_spin, blocks, 1, 1, 64, 1, 1, 0, NULL, arguments,
					 NULL));
	cuda_count(TRUTH_KERNEL, n);
}

static void copy(void)
{
	CUdeviceptr p;
	char bytes[64] = "";
	MUST(cuda.cuMemAlloc_v2(&p, 4096));
	MUST(cuda.cuMemcpyHtoDAsync_v2(p, bytes, sizeof bytes, NULL));
	MUST(cuda.cuCtxSynchronize());
	MUST(cuda.cuMemFree_v2(p));
	cuda_count(TRUTH_COPY, 1);
}

/* ---- callback_timestamp ---- */

static struct {
	const char *name;
	uint64_t enter_ns, exit_ns;
} calls[N_CALLS];
static unsigned n_calls;

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    const void *data)
{
	const CUpti_CallbackData *d = data;
	(void)user, (void)domain, (void)id;
	if (d->callbackSite == CUPTI_API_ENTER && n_calls < N_CALLS) {
		calls[n_calls].name = d->functionName;
		calls[n_calls].enter_ns = cuda_now_ns();
		*d->correlationData = (uint64_t)(uintptr_t)&calls[n_calls++];
	} else if (d->callbackSite == CUPTI_API_EXIT && *d->correlationData) {
		((__typeof__(&calls[0]))(uintptr_t)*d->correlationData)->exit_ns = cuda_now_ns();
	}
}

static void use_runtime(void)
{
	const char *file = getenv("CUDART_FILE");
	void *library = file ? dlopen(file, RTLD_NOW) : NULL;
	int (*allocate)(void **, size_t), (*copy_to)(void *, const void *, size_t, int);
	void *p = NULL;
	if (!library)
		return;
	memcpy(&allocate, &(void *){dlsym(library, "cudaMalloc")}, sizeof allocate);
	memcpy(&copy_to, &(void *){dlsym(library, "cudaMemcpy")}, sizeof copy_to);
	char bytes[64] = "";
	if (allocate(&p, 4096) || copy_to(p, bytes, sizeof bytes, 1))
		puts("result the run time fails");
	cuda_count(TRUTH_COPY, 1);
}

static void callback_timestamp(void)
{
	cuda_open();
	CHECK(cupti.cuptiSubscribe(&subscriber, called, NULL));
	CHECK(cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	CHECK(cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
					CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	CHECK(cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
					CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2));
	launch(3, 1);
	copy();
	use_runtime();
	CHECK(cupti.cuptiUnsubscribe(subscriber));
	launch(1, 1);
	for (unsigned i = 0; i < n_calls; i++)
		printf("result %s %s\n", calls[i].name,
		       calls[i].exit_ns >= calls[i].enter_ns ? "in order" : "out of order");
}

/* ---- activity_trace_async ---- */

static unsigned n_kernels, n_copies, n_launch_calls, n_bad_times;

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*most = 0;
}

static void take(const CUpti_Activity *r)
{
	const CUpti_ActivityKernel10 *k = (const void *)r;
	const CUpti_ActivityAPI *a = (const void *)r;
	switch (r->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		n_kernels++;
		n_bad_times += k->end < k->start + 900000;
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		n_copies++;
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
		n_launch_calls += a->cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
		break;
	default:
		break;
	}
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t valid_bytes)
{
	CUpti_Activity *r = NULL;
	(void)context, (void)stream, (void)bytes;
	while (valid_bytes &&
	       cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &r) == CUPTI_SUCCESS)
		take(r);
	free(buffer);
}

static void finish_trace(void)
{
	CHECK(cupti.cuptiActivityFlushAll(1));
	printf("result kernels %u copies %u bad times %u launch calls %u\n", n_kernels, n_copies,
	       n_bad_times, n_launch_calls);
	fflush(stdout);
}

static void activity_trace_async(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_DEVICE,   CUPTI_ACTIVITY_KIND_CONTEXT,
		CUPTI_ACTIVITY_KIND_DRIVER,   CUPTI_ACTIVITY_KIND_RUNTIME,
		CUPTI_ACTIVITY_KIND_MEMCPY,   CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_NAME,     CUPTI_ACTIVITY_KIND_MARKER,
		CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
	atexit(finish_trace);
	CHECK(cupti.cuptiSubscribe(&subscriber, called, NULL));
	CHECK(cupti.cuptiActivityRegisterCallbacks(request, complete));
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		CHECK(cupti.cuptiActivityEnable(kinds[i]));
	cuda_open();
	launch(5, 1);
	copy();
}

/* ---- nested_range_profiling ---- */

static struct {
	void *image, *config, *availability;
	size_t image_bytes, config_bytes;
	const char *chip, *metric;
	CUpti_RangeProfiler_Object *object;
} ranges = {.metric = METRIC};

static void *host_object(void)
{
	struct nv_host_initialize p = {.bytes = sizeof p,
				       .type = NV_RANGE_PROFILER,
				       .chip = ranges.chip,
				       .availability = ranges.availability};
	struct nv_host_add_metrics add = {
		.bytes = sizeof add, .names = &ranges.metric, .n = 1};
	CHECK(host.cuptiProfilerHostInitialize(&p));
	add.host = p.host;
	CHECK(host.cuptiProfilerHostConfigAddMetrics(&add));
	return p.host;
}

static void configure(CUcontext context)
{
	CUpti_Profiler_Initialize_Params start = {
		.structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
	CUpti_Device_GetChipName_Params chip = {
		.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE};
	CUpti_Profiler_GetCounterAvailability_Params there = {
		.structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
		.ctx = context};
	CHECK(cupti.cuptiProfilerInitialize(&start));
	CHECK(cupti.cuptiDeviceGetChipName(&chip));
	CHECK(cupti.cuptiProfilerGetCounterAvailability(&there));
	ranges.availability = calloc(1, there.counterAvailabilityImageSize);
	there.pCounterAvailabilityImage = ranges.availability;
	CHECK(cupti.cuptiProfilerGetCounterAvailability(&there));
	ranges.chip = chip.pChipName;
	void *object = host_object();
	struct nv_host_image_size size = {.bytes = sizeof size, .host = object};
	CHECK(host.cuptiProfilerHostGetConfigImageSize(&size));
	ranges.config_bytes = size.image_bytes;
	ranges.config = calloc(1, ranges.config_bytes);
	CHECK(host.cuptiProfilerHostGetConfigImage(
		&(struct nv_host_image){.bytes = sizeof(struct nv_host_image),
					.host = object,
					.image_bytes = ranges.config_bytes,
					.image = ranges.config}));
	CHECK(host.cuptiProfilerHostDeinitialize(&(struct nv_host_deinitialize){
		.bytes = sizeof(struct nv_host_deinitialize), .host = object}));
}

static void enable_ranges(CUcontext context, unsigned levels)
{
	CUpti_RangeProfiler_Enable_Params p = {
		.structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, .ctx = context};
	CHECK(cupti.cuptiRangeProfilerEnable(&p));
	ranges.object = p.pRangeProfilerObject;
	CUpti_RangeProfiler_GetCounterDataSize_Params size = {
		.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object,
		.pMetricNames = &ranges.metric,
		.numMetrics = 1,
		.maxNumOfRanges = 10,
		.maxNumRangeTreeNodes = 20};
	CHECK(cupti.cuptiRangeProfilerGetCounterDataSize(&size));
	ranges.image_bytes = size.counterDataSize;
	ranges.image = calloc(1, ranges.image_bytes);
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params image = {
		.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object,
		.counterDataSize = ranges.image_bytes,
		.pCounterData = ranges.image};
	CHECK(cupti.cuptiRangeProfilerCounterDataImageInitialize(&image));
	CUpti_RangeProfiler_SetConfig_Params set = {
		.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object,
		.configSize = ranges.config_bytes,
		.pConfig = ranges.config,
		.counterDataImageSize = ranges.image_bytes,
		.pCounterDataImage = ranges.image,
		.range = CUPTI_UserRange,
		.replayMode = CUPTI_UserReplay,
		.maxRangesPerPass = 10,
		.numNestingLevels = (uint16_t)levels,
		.minNestingLevel = 1};
	CHECK(cupti.cuptiRangeProfilerSetConfig(&set));
}

static void push(const char *name)
{
	CUpti_RangeProfiler_PushRange_Params p = {
		.structSize = CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object,
		.pRangeName = name};
	CHECK(cupti.cuptiRangeProfilerPushRange(&p));
}

static void pop(void)
{
	CUpti_RangeProfiler_PopRange_Params p = {
		.structSize = CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object};
	CHECK(cupti.cuptiRangeProfilerPopRange(&p));
}

static void print_ranges(void)
{
	CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
		.structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
		.pCounterDataImage = ranges.image,
		.counterDataImageSize = ranges.image_bytes};
	CHECK(cupti.cuptiRangeProfilerGetCounterDataInfo(&info));
	void *object = host_object();
	for (size_t i = 0; i < info.numTotalRanges; i++) {
		double value = 0;
		CUpti_RangeProfiler_CounterData_GetRangeInfo_Params r = {
			.structSize =
				CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE,
			.pCounterDataImage = ranges.image,
			.counterDataImageSize = ranges.image_bytes,
			.rangeIndex = i,
			.rangeDelimiter = "/"};
		CHECK(cupti.cuptiRangeProfilerCounterDataGetRangeInfo(&r));
		CHECK(host.cuptiProfilerHostEvaluateToGpuValues(
			&(struct nv_host_evaluate){.bytes = sizeof(struct nv_host_evaluate),
						   .host = object,
						   .image = ranges.image,
						   .image_bytes = ranges.image_bytes,
						   .range = i,
						   .names = &ranges.metric,
						   .n = 1,
						   .values = &value}));
		printf("result range %s: %.0f\n", r.rangeName, value);
	}
}

static void nested_range_profiling(unsigned levels)
{
	CUcontext context;
	cuda_open();
	MUST(cuda.cuCtxGetCurrent(&context));
	configure(context);
	enable_ranges(context, levels);
	CUpti_RangeProfiler_Start_Params start = {
		.structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object};
	CUpti_RangeProfiler_Stop_Params stop = {
		.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object};
	CUpti_RangeProfiler_DecodeData_Params decode = {
		.structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object};
	CUpti_RangeProfiler_Disable_Params end = {
		.structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
		.pRangeProfilerObject = ranges.object};
	/* each level of ranges is another pass */
	for (unsigned i = 0; i < levels; i++) {
		CHECK(cupti.cuptiRangeProfilerStart(&start));
		push("outer");
		launch(2, 4);
		if (levels > 1) {
			push("inner");
			launch(3, 8);
			pop();
		}
		pop();
		CHECK(cupti.cuptiRangeProfilerStop(&stop));
	}
	CHECK(cupti.cuptiRangeProfilerDecodeData(&decode));
	print_ranges();
	CHECK(cupti.cuptiRangeProfilerDisable(&end));
	launch(1, 1);
	copy();
}

/* ---- pc_sampling_continuous ---- */

static struct {
	CUpti_PCSamplingData got, left;
	CUcontext context;
	size_t n_reasons;
	uint64_t n_total, n_spin, n_sum;
} pc;
static uint32_t reason_index[N_REASONS];
static char *reason_name[N_REASONS];

static void lay_out(CUpti_PCSamplingData *d)
{
	*d = (CUpti_PCSamplingData){.size = sizeof *d,
				    .collectNumPcs = N_PCS,
				    .pPcData = calloc(N_PCS, sizeof *d->pPcData)};
	for (size_t i = 0; i < N_PCS; i++) {
		d->pPcData[i].size = sizeof *d->pPcData;
		d->pPcData[i].stallReason =
			calloc(pc.n_reasons, sizeof *d->pPcData[i].stallReason);
	}
}

static bool is_sample(uint32_t index)
{
	for (size_t i = 0; i < pc.n_reasons; i++)
		if (reason_index[i] == index)
			return !strstr(reason_name[i], "not_issued") &&
			       strstr(reason_name[i], "pcsamp_warps_issue");
	return false;
}

static void add(const CUpti_PCSamplingData *d)
{
	pc.n_total += d->totalSamples;
	for (size_t i = 0; i < d->totalNumPcs; i++)
		for (size_t j = 0; j < d->pPcData[i].stallReasonCount; j++) {
			const CUpti_PCSamplingStallReason *r = &d->pPcData[i].stallReason[j];
			if (!is_sample(r->pcSamplingStallReasonIndex))
				continue;
			pc.n_sum += r->samples;
			pc.n_spin += !strcmp(d->pPcData[i].functionName, "spin") ? r->samples : 0;
		}
}

static void sample(CUcontext context)
{
	CUpti_PCSamplingEnableParams p = {.size = CUpti_PCSamplingEnableParamsSize, .ctx = context};
	CHECK(cupti.cuptiPCSamplingEnable(&p));
	pc.context = context;
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		.size = CUpti_PCSamplingGetNumStallReasonsParamsSize,
		.ctx = context,
		.numStallReasons = &pc.n_reasons};
	CHECK(cupti.cuptiPCSamplingGetNumStallReasons(&number));
	for (size_t i = 0; i < N_REASONS; i++)
		reason_name[i] = calloc(1, CUPTI_STALL_REASON_STRING_SIZE);
	CUpti_PCSamplingGetStallReasonsParams list = {
		.size = CUpti_PCSamplingGetStallReasonsParamsSize,
		.ctx = context,
		.numStallReasons = pc.n_reasons,
		.stallReasonIndex = reason_index,
		.stallReasons = reason_name};
	CHECK(cupti.cuptiPCSamplingGetStallReasons(&list));
	lay_out(&pc.got);
	lay_out(&pc.left);
	CUpti_PCSamplingConfigurationInfo a[] = {
		{.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD,
		 .attributeData.samplingPeriodData.samplingPeriod = 12},
		{.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE,
		 .attributeData.collectionModeData.collectionMode =
			 CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS},
		{.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER,
		 .attributeData.samplingDataBufferData.samplingDataBuffer = &pc.left},
		{.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON,
		 .attributeData.stallReasonData = {.stallReasonCount = pc.n_reasons,
						   .pStallReasonIndex = reason_index}},
	};
	CUpti_PCSamplingConfigurationInfoParams set = {
		.size = CUpti_PCSamplingConfigurationInfoParamsSize,
		.ctx = context,
		.numAttributes = sizeof a / sizeof *a,
		.pPCSamplingConfigurationInfo = a};
	CHECK(cupti.cuptiPCSamplingSetConfigurationAttribute(&set));
}

static void CUPTIAPI on_resource(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
				 const void *data)
{
	(void)user;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		sample(((const CUpti_ResourceData *)data)->context);
}

static void pc_sampling_continuous(void)
{
	CHECK(cupti.cuptiSubscribe(&subscriber, on_resource, NULL));
	CHECK(cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
					CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
	cuda_open();
	launch(300, 2);
	MUST(cuda.cuCtxSynchronize());
	CUpti_PCSamplingGetDataParams p = {.size = CUpti_PCSamplingGetDataParamsSize,
					   .ctx = pc.context,
					   .pcSamplingData = &pc.got};
	do {
		CHECK(cupti.cuptiPCSamplingGetData(&p));
		add(&pc.got);
	} while (pc.got.remainingNumPcs);
	CUpti_PCSamplingDisableParams end = {.size = CUpti_PCSamplingDisableParamsSize,
					     .ctx = pc.context};
	CHECK(cupti.cuptiPCSamplingDisable(&end));
	add(&pc.left);
	/* some 97 in 100 of the samples are in the kernel, here and there */
	printf("result samples: %s; in the kernel: %s\n", pc.n_total > 100 ? "many" : "few",
	       pc.n_spin * 10 > pc.n_total * 9 ? "nearly all" : "not all");
	printf("samples %llu kernel %llu sum %llu\n", (unsigned long long)pc.n_total,
	       (unsigned long long)pc.n_spin, (unsigned long long)pc.n_sum);
	launch(1, 1);
	copy();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	open_cupti();
	if (!strcmp(way, "callback_timestamp"))
		callback_timestamp();
	else if (!strcmp(way, "activity_trace_async"))
		activity_trace_async();
	else if (!strcmp(way, "nested_range_profiling"))
		nested_range_profiling(argc > 2 ? 1 : 2);
	else if (!strcmp(way, "pc_sampling_continuous"))
		pc_sampling_continuous();
	else
		return 2;
	MUST(cuda.cuCtxSynchronize());
	cuda_report();
	return 0;
}
