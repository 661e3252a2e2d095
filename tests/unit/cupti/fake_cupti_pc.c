/* SPDX-License-Identifier: BSD-3-Clause */
/* See fake_cupti_pc.h. */
#include "tests/unit/cupti/fake_cupti_pc.h"

/* ---- a host and a clock ---- */

struct seen seen;


static uint32_t generation(const struct gpu_host *h) { (void)h; return 1; }
static uint64_t widen(const struct gpu_host *h, _Atomic uint64_t *state, uint32_t id)
{
	(void)h, (void)state;
	return id;
}
static void note(const struct gpu_host *h, const char *text)
{
	size_t n = strlen(seen.note);
	(void)h;
	snprintf(seen.note + n, sizeof seen.note - n, "%s\n", text);
}
static void nothing(const struct gpu_host *h) { (void)h; }
static uint32_t device(const struct gpu_host *h, const struct gpu_device *d)
{
	(void)h, (void)d;
	return 1;
}
static uint32_t context(const struct gpu_host *h, const struct gpu_context *c)
{
	(void)h, (void)c;
	return 5;
}

static uint32_t function(const struct gpu_host *h, const struct gpu_function *f)
{
	(void)h;
	seen.function_code = f->code;
	snprintf(seen.function, sizeof seen.function, "%s", f->name);
	return ++seen.n_functions;
}

static void stall(const struct gpu_host *h, unsigned index, const char *name,
		  const char *description, uint32_t d, uint32_t flags)
{
	(void)h, (void)d, (void)description;
	assert_true(index < 32);
	snprintf(seen.stall[index], sizeof seen.stall[index], "%s", name);
	seen.stall_flags[index] = flags;
	seen.n_stalls++;
}

static void pc_sample(const struct gpu_host *h, const struct gpu_pc_sample *s, size_t n)
{
	(void)h;
	for (size_t i = 0; i < n; i++) {
		seen.n_samples++;
		seen.counted[s[i].stall] += s[i].count;
		seen.last_id = s[i].id;
		seen.last_offset = s[i].offset;
	}
}

static void pc_range(const struct gpu_host *h, const struct msr_gpu_pc_range *r)
{
	(void)h;
	assert_true(seen.n_ranges < MAX_RANGES);
	assert_int_equal(r->total, r->recorded + r->dropped + r->outside);
	assert_true(r->start_ns <= r->end_ns);
	seen.range[seen.n_ranges++] = *r;
}

static const struct gpu_host host = {
	.version = GPU_HOST_VERSION,
	.generation = generation,
	.widen = widen,
	.note = note,
	.suspend = nothing,
	.resume = nothing,
	.device = device,
	.context = context,
	.function = function,
	.stall = stall,
	.pc_sample = pc_sample,
	.pc_range = pc_range,
};

static uint64_t now_ns(void) { return seen.now_ns; }
static void sleep_for(uint64_t ns) { seen.now_ns += ns; }
void wait_until(sem_t *wake, uint64_t until_ns)
{
	if (sem_trywait(wake) != 0 && until_ns > seen.now_ns)
		seen.now_ns = until_ns;
}

const struct msr_gpu_pc_range *last_range(void)
{
	return &seen.range[seen.n_ranges ? seen.n_ranges - 1 : 0];
}

/* ---- a CUPTI ---- */

static const char *const reasons[] = {"smsp__pcsamp_sample_count",
				      "smsp__pcsamp_warps_issue_stalled_selected",
				      "smsp__pcsamp_warps_issue_stalled_wait",
				      "smsp__pcsamp_warps_issue_stalled_wait_not_issued"};
enum { N_REASONS = 4 };

struct fake_cupti cupti;


static void fill(CUpti_PCSamplingData *d, size_t n)
{
	d->totalNumPcs = n < d->collectNumPcs ? n : d->collectNumPcs;
	d->remainingNumPcs = n - d->totalNumPcs;
	size_t bytes = cupti.is_old ? offsetof(CUpti_PCSamplingPCData, correlationId)
				    : sizeof(CUpti_PCSamplingPCData);
	for (size_t i = 0; i < d->totalNumPcs; i++) {
		CUpti_PCSamplingPCData *p = (void *)((char *)d->pPcData + i * bytes);
		assert_int_equal(p->size, bytes);
		p->cubinCrc = 77;
		p->functionIndex = 3;
		p->functionName = (char *)(uintptr_t)"kernel";
		p->pcOffset = 16 * i;
		if (!cupti.is_old)
			p->correlationId = cupti.correlation;
		p->stallReasonCount = N_REASONS;
		static const uint32_t counts[N_REASONS] = {3, 1, 2, 1};
		for (uint32_t k = 0; k < N_REASONS; k++)
			p->stallReason[k] =
				(CUpti_PCSamplingStallReason){k + cupti.shift, counts[k]};
	}
}

static CUptiResult CUPTIAPI enable(CUpti_PCSamplingEnableParams *p)
{
	assert_int_equal(p->size, CUpti_PCSamplingEnableParamsSize);
	assert_false(cupti.is_on);
	cupti.n_enabled += cupti.enable == CUPTI_SUCCESS;
	cupti.is_on = cupti.enable == CUPTI_SUCCESS;
	return cupti.enable;
}

static CUptiResult CUPTIAPI disable(CUpti_PCSamplingDisableParams *p)
{
	assert_true(cupti.is_on && p->ctx);
	cupti.n_disabled++;
	cupti.is_on = false;
	if (cupti.left) {
		fill(cupti.left, cupti.n_left);
		cupti.left->totalSamples = 3 * cupti.n_left;
	}
	cupti.n_left = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_data(CUpti_PCSamplingGetDataParams *p)
{
	CUpti_PCSamplingData *d = p->pcSamplingData;
	cupti.n_got++;
	assert_true(cupti.is_on && d != cupti.left);
	if (cupti.get != CUPTI_SUCCESS)
		return cupti.get;
	if (!cupti.given) /* sums come with the first of several calls */
		d->totalSamples = 3 * cupti.n_pcs + cupti.outside;
	d->nonUsrKernelsTotalSamples = cupti.given ? 0 : cupti.outside;
	fill(d, cupti.n_pcs - cupti.given);
	cupti.given += d->totalNumPcs;
	if (cupti.given == cupti.n_pcs)
		cupti.given = cupti.n_pcs = cupti.outside = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI n_stalls(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
	*p->numStallReasons = N_REASONS;
	return cupti.is_on ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}
static CUptiResult CUPTIAPI stalls(CUpti_PCSamplingGetStallReasonsParams *p)
{
	for (uint32_t i = 0; i < N_REASONS; i++) {
		p->stallReasonIndex[N_REASONS - 1 - i] = i + cupti.shift;
		snprintf(p->stallReasons[N_REASONS - 1 - i], CUPTI_STALL_REASON_STRING_SIZE, "%s",
			 reasons[i]);
	}
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set(CUpti_PCSamplingConfigurationInfoParams *p)
{
	assert_true(cupti.is_on);
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		assert_int_not_equal(
			a->attributeType,
			CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL);
		a->attributeStatus =
			a->attributeType == cupti.bad_attribute ? cupti.bad_status : CUPTI_SUCCESS;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			cupti.period = a->attributeData.samplingPeriodData.samplingPeriod;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
			cupti.mode = a->attributeData.collectionModeData.collectionMode;
		if (a->attributeType ==
		    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
			cupti.hardware = a->attributeData.hardwareBufferSizeData.hardwareBufferSize;
		if (a->attributeType ==
		    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
			cupti.left = a->attributeData.samplingDataBufferData.samplingDataBuffer;
	}
	return CUPTI_SUCCESS; /* also with a status that is bad: both count */
}

static CUptiResult CUPTIAPI get(CUpti_PCSamplingConfigurationInfoParams *p)
{
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			a->attributeData.samplingPeriodData.samplingPeriod =
				cupti.wrong_period ? cupti.wrong_period : cupti.period;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
			a->attributeData.collectionModeData.collectionMode =
				(CUpti_PCSamplingCollectionMode)cupti.mode;
		if (a->attributeType ==
		    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
			a->attributeData.hardwareBufferSizeData.hardwareBufferSize = cupti.hardware;
	}
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI register_crc(CUpti_ComputeCrcCallbackFunc f)
{
	cupti.crc = f;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI flush(uint32_t flag)
{
	(void)flag;
	cupti.n_flushed++;
	nv_shared.n_outstanding = seen.now_ns < cupti.busy_until_ns;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI device_id(CUcontext c, uint32_t *id)
{
	(void)c;
	*id = 0;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI context_id(CUcontext c, uint32_t *id)
{
	(void)c;
	*id = 1;
	return CUPTI_SUCCESS;
}
static CUptiResult CUPTIAPI result_string(CUptiResult r, const char **s)
{
	*s = r == CUPTI_ERROR_UNKNOWN ? "CUPTI_ERROR_UNKNOWN" : "an error";
	return CUPTI_SUCCESS;
}
static CUresult CUDAAPI device_attribute(int *v, CUdevice_attribute a, CUdevice d)
{
	(void)d;
	*v = (int)(a == CU_DEVICE_ATTRIBUTE_CLOCK_RATE ? cupti.clock_khz : cupti.units);
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI device_name(char *to, int room, CUdevice d)
{
	(void)d;
	snprintf(to, (size_t)room, "GPU");
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI device_memory(size_t *n, CUdevice d)
{
	(void)d;
	*n = 1;
	return CUDA_SUCCESS;
}
CUresult CUDAAPI device_uuid(CUuuid *u, CUdevice d)
{
	pid_t pid = getpid();
	memset(u, 0x5a, sizeof *u);
	memcpy(u, &pid, sizeof pid);
	u->bytes[8] = (char)d;
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI driver_version(int *v) { *v = 13000; return CUDA_SUCCESS; }

struct nv_options read_options(const char *text)
{
	struct nv_options o;
	char why[256];
	if (!nv_options_read(text, &o, why, sizeof why))
		fail_msg("%s: %s", text, why);
	return o;
}

const struct nv_pc_gate_clock fake_clock = {now_ns, sleep_for};

void start_with(const char *options)
{
	memset(&seen, 0, sizeof seen);
	memset(&cupti, 0, sizeof cupti);
	memset(&nv, 0, sizeof nv);
	seen.now_ns = 1000000 * MS;
	cupti.units = 132;
	cupti.clock_khz = 1980000;
	memset(&nv_shared, 0, sizeof nv_shared);
	nv_state_prepare(&host);
	nv.options = read_options(options);
	nv.lib = (struct nv_library){.version = 130000,
				     .cuptiPCSamplingEnable = enable,
				     .cuptiPCSamplingDisable = disable,
				     .cuptiPCSamplingGetData = get_data,
				     .cuptiPCSamplingGetNumStallReasons = n_stalls,
				     .cuptiPCSamplingGetStallReasons = stalls,
				     .cuptiPCSamplingSetConfigurationAttribute = set,
				     .cuptiPCSamplingGetConfigurationAttribute = get,
				     .cuptiRegisterComputeCrcCallback = register_crc,
				     .cuptiActivityFlushAll = flush,
				     .cuptiGetContextId = context_id,
				     .cuptiGetDeviceId = device_id,
				     .cuptiGetResultString = result_string,
				     .cuDeviceGetAttribute = device_attribute,
				     .cuDeviceGetName = device_name,
				     .cuDeviceTotalMem_v2 = device_memory,
				     .cuDeviceGetUuid_v2 = device_uuid,
				     .cuDriverGetVersion = driver_version};
	nv_library_own(&nv.lib);
	nv.lib.now_ns = now_ns;
	nv.lib.wait = wait_until;
	nv_pc_gate_use(&fake_clock);
}

void work(uint64_t after_ms)
{
	seen.now_ns += after_ms * MS;
	assert_true(nv_guard_take(0));
	nv_pc_prepare();
	nv_pc_work();
	nv_guard_give();
}

void end(bool is_idle)
{
	nv_pc_end(seen.now_ns, is_idle);
}

int leave(void **state)
{
	(void)state;
	cupti.get = CUPTI_SUCCESS;
	cupti.busy_until_ns = 0;
	nv_pc_context_gone(CONTEXT);
	return 0;
}
