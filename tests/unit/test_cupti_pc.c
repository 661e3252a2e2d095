/* SPDX-License-Identifier: BSD-3-Clause */
/* PC sampling of the NVIDIA back end before a host, a CUPTI and a clock that are made up here: options, stall reasons, sums, sessions, overflows, the gate, windows, the end. */
#include "hpcrun-lite/gpu/cupti/nv_pc_internal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define CONTEXT ((CUcontext)(uintptr_t)0x100)
#define MAX_RANGES 64u

/* ---- a host and a clock ------------------------------------------------------------------------------------------- */

static struct {
	uint64_t now_ns;
	unsigned n_functions, n_samples, n_ranges, n_stalls;
	uint64_t counted[NV_PC_MAX_REASONS], last_id, last_offset;
	uint32_t function_code;
	struct msr_gpu_pc_range range[MAX_RANGES];
	char stall[32][CUPTI_STALL_REASON_STRING_SIZE];
	uint32_t stall_flags[32];
	char note[4096], function[64];
} seen;

static uint32_t generation(const struct gpu_host *h) { (void)h; return 1; }
static uint64_t widen(const struct gpu_host *h, _Atomic uint64_t *state, uint32_t id) { (void)h, (void)state; return id; }
static void note(const struct gpu_host *h, const char *text)
{
	size_t n = strlen(seen.note);
	(void)h;
	snprintf(seen.note + n, sizeof seen.note - n, "%s\n", text);
}
static void nothing(const struct gpu_host *h) { (void)h; }
static uint32_t device(const struct gpu_host *h, const struct gpu_device *d) { (void)h, (void)d; return 1; }
static uint32_t context(const struct gpu_host *h, const struct gpu_context *c) { (void)h, (void)c; return 5; }

static uint32_t function(const struct gpu_host *h, const struct gpu_function *f)
{
	(void)h;
	seen.function_code = f->code;
	snprintf(seen.function, sizeof seen.function, "%s", f->name);
	return ++seen.n_functions;
}

static void stall(const struct gpu_host *h, unsigned index, const char *name, const char *description, uint32_t d, uint32_t flags)
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
	.version = GPU_HOST_VERSION, .generation = generation, .widen = widen, .note = note, .suspend = nothing, .resume = nothing, .device = device, .context = context, .function = function,
	.stall = stall, .pc_sample = pc_sample, .pc_range = pc_range,
};

static uint64_t now_ns(void) { return seen.now_ns; }
static void wait_until(sem_t *wake, uint64_t until_ns) { if (sem_trywait(wake) != 0 && until_ns > seen.now_ns) seen.now_ns = until_ns; }

/* All zero when there is none. */
static const struct msr_gpu_pc_range *last_range(void) { return &seen.range[seen.n_ranges ? seen.n_ranges - 1 : 0]; }

/* ---- a CUPTI ------------------------------------------------------------------------------------------------------ */

static const char *const reasons[] = {"smsp__pcsamp_sample_count", "smsp__pcsamp_warps_issue_stalled_selected", "smsp__pcsamp_warps_issue_stalled_wait", "smsp__pcsamp_warps_issue_stalled_wait_not_issued"};
enum { N_REASONS = 4 };

static struct {
	unsigned n_enabled, n_disabled, n_got, n_flushed;
	bool is_on;
	CUptiResult enable, get, bad_status;
	uint32_t bad_attribute, wrong_period;
	uint32_t period, mode;
	size_t hardware;
	CUpti_PCSamplingData *left;
	size_t n_pcs, given;        /* instructions that wait to be taken out, each with 3 samples: 1 selected, 2 wait, of these 1 not issued */
	uint64_t outside;           /* samples */
	uint32_t correlation;
	size_t n_left;              /* instructions that Disable finds */
	uint32_t units, clock_khz;
	uint64_t busy_until_ns;     /* records of kernels are out until then */
	unsigned shift;             /* of the reasons' numbers */
	CUpti_ComputeCrcCallbackFunc crc;
} cupti;

static void fill(CUpti_PCSamplingData *d, size_t n)
{
	d->totalNumPcs = n < d->collectNumPcs ? n : d->collectNumPcs;
	d->remainingNumPcs = n - d->totalNumPcs;
	for (size_t i = 0; i < d->totalNumPcs; i++) {
		CUpti_PCSamplingPCData *p = &d->pPcData[i];
		p->cubinCrc = 77;
		p->functionIndex = 3;
		p->functionName = (char *)(uintptr_t)"kernel";
		p->pcOffset = 16 * i;
		p->correlationId = cupti.correlation;
		p->stallReasonCount = N_REASONS;
		static const uint32_t counts[N_REASONS] = {3, 1, 2, 1};
		for (uint32_t k = 0; k < N_REASONS; k++)
			p->stallReason[k] = (CUpti_PCSamplingStallReason){k + cupti.shift, counts[k]};
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

static CUptiResult CUPTIAPI n_stalls(CUpti_PCSamplingGetNumStallReasonsParams *p) { *p->numStallReasons = N_REASONS; return cupti.is_on ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION; }
static CUptiResult CUPTIAPI stalls(CUpti_PCSamplingGetStallReasonsParams *p)
{
	for (uint32_t i = 0; i < N_REASONS; i++) {
		p->stallReasonIndex[N_REASONS - 1 - i] = i + cupti.shift;
		snprintf(p->stallReasons[N_REASONS - 1 - i], CUPTI_STALL_REASON_STRING_SIZE, "%s", reasons[i]);
	}
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI set(CUpti_PCSamplingConfigurationInfoParams *p)
{
	assert_true(cupti.is_on);
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		assert_int_not_equal(a->attributeType, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL);
		a->attributeStatus = a->attributeType == cupti.bad_attribute ? cupti.bad_status : CUPTI_SUCCESS;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			cupti.period = a->attributeData.samplingPeriodData.samplingPeriod;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
			cupti.mode = a->attributeData.collectionModeData.collectionMode;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
			cupti.hardware = a->attributeData.hardwareBufferSizeData.hardwareBufferSize;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
			cupti.left = a->attributeData.samplingDataBufferData.samplingDataBuffer;
	}
	return CUPTI_SUCCESS; /* also with a status that is bad: both count */
}

static CUptiResult CUPTIAPI get(CUpti_PCSamplingConfigurationInfoParams *p)
{
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			a->attributeData.samplingPeriodData.samplingPeriod = cupti.wrong_period ? cupti.wrong_period : cupti.period;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
			a->attributeData.collectionModeData.collectionMode = (CUpti_PCSamplingCollectionMode)cupti.mode;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
			a->attributeData.hardwareBufferSizeData.hardwareBufferSize = cupti.hardware;
	}
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI register_crc(CUpti_ComputeCrcCallbackFunc f) { cupti.crc = f; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI flush(uint32_t flag) { (void)flag; cupti.n_flushed++; nv.n_outstanding = seen.now_ns < cupti.busy_until_ns; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI device_id(CUcontext c, uint32_t *id) { (void)c; *id = 0; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI context_id(CUcontext c, uint32_t *id) { (void)c; *id = 1; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI result_string(CUptiResult r, const char **s) { *s = r == CUPTI_ERROR_UNKNOWN ? "CUPTI_ERROR_UNKNOWN" : "an error"; return CUPTI_SUCCESS; }
static CUresult CUDAAPI device_attribute(int *v, CUdevice_attribute a, CUdevice d)
{
	(void)d;
	*v = (int)(a == CU_DEVICE_ATTRIBUTE_CLOCK_RATE ? cupti.clock_khz : cupti.units);
	return CUDA_SUCCESS;
}
static CUresult CUDAAPI device_name(char *to, int room, CUdevice d) { (void)d; snprintf(to, (size_t)room, "GPU"); return CUDA_SUCCESS; }
static CUresult CUDAAPI device_memory(size_t *n, CUdevice d) { (void)d; *n = 1; return CUDA_SUCCESS; }
static CUresult CUDAAPI device_uuid(CUuuid *u, CUdevice d) { pid_t pid = getpid(); memset(u, 0x5a, sizeof *u); memcpy(u, &pid, sizeof pid); u->bytes[8] = (char)d; return CUDA_SUCCESS; }
static CUresult CUDAAPI driver_version(int *v) { *v = 13000; return CUDA_SUCCESS; }

static struct nv_options read_options(const char *text)
{
	struct nv_options o;
	char why[256];
	if (!nv_options_read(text, &o, why, sizeof why))
		fail_msg("%s: %s", text, why);
	return o;
}

static void start_with(const char *options)
{
	memset(&seen, 0, sizeof seen);
	memset(&cupti, 0, sizeof cupti);
	memset(&nv, 0, sizeof nv);
	seen.now_ns = 1000000 * MS;
	cupti.units = 132;
	cupti.clock_khz = 1980000;
	nv.host = &host;
	nv.generation = 1;
	nv.pid = (int)getpid();
	nv.options = read_options(options);
	nv_map_init(&nv.contexts, 100);
	pthread_mutex_init(&nv.define_lock, NULL);
	pthread_mutex_init(&nv.flush_lock, NULL);
	sem_init(&nv.wake, 0, 0);
	nv.lib = (struct nv_library){
		.cuptiPCSamplingEnable = enable, .cuptiPCSamplingDisable = disable, .cuptiPCSamplingGetData = get_data, .cuptiPCSamplingGetNumStallReasons = n_stalls,
		.cuptiPCSamplingGetStallReasons = stalls, .cuptiPCSamplingSetConfigurationAttribute = set, .cuptiPCSamplingGetConfigurationAttribute = get, .cuptiRegisterComputeCrcCallback = register_crc,
		.cuptiActivityFlushAll = flush, .cuptiGetContextId = context_id, .cuptiGetDeviceId = device_id, .cuptiGetResultString = result_string, .cuDeviceGetAttribute = device_attribute,
		.cuDeviceGetName = device_name, .cuDeviceTotalMem_v2 = device_memory, .cuDeviceGetUuid_v2 = device_uuid, .cuDriverGetVersion = driver_version};
	nv_library_own(&nv.lib);
	nv.lib.now_ns = now_ns;
	nv.lib.wait = wait_until;
}

static void work(uint64_t after_ms)
{
	seen.now_ns += after_ms * MS;
	assert_true(nv_guard_take(0));
	nv_pc_work();
	nv_guard_give();
}

static void end(bool is_idle)
{
	nv_pc_end(seen.now_ns, is_idle);
}

static int leave(void **state)
{
	(void)state;
	cupti.get = CUPTI_SUCCESS;
	cupti.busy_until_ns = 0;
	nv_pc_context_gone(CONTEXT);
	return 0;
}

/* ---- options ------------------------------------------------------------------------------------------------------ */

static void test_options(void **state)
{
	(void)state;
	struct nv_options o = read_options("");
	assert_true(o.pc == NV_PC_OFF && !o.no_times && !o.exponent);
	o = read_options("pc");
	assert_true(o.pc == NV_PC_CONTINUOUS && !o.exponent);
	o = read_options("cupti=/a/b.so,pc@18,mode=serialized");
	assert_true(o.pc == NV_PC_SERIALIZED && o.exponent == 18);
	o = read_options("mode=bursts,pc@5");
	assert_true(o.pc == NV_PC_BURSTS && o.percent == NV_USUAL_PERCENT && o.exponent == 5);
	o = read_options("pc,mode=bursts@50");
	assert_true(o.percent == 50);
	o = read_options("pc,notimes,mode=continuous");
	assert_true(o.no_times && o.pc == NV_PC_CONTINUOUS);
	static const char *const wrong[][2] = {
		{"pc@4", "2^EXP"}, {"pc@32", "2^EXP"}, {"pc@", "2^EXP"}, {"pc@1x", "2^EXP"}, {"pc@99999999999999999999", "2^EXP"}, {"pc,mode=fast", "no mode 'fast'"}, {"pc,mode=", "no mode"}, {"pc,mode=bursts@0", "1 to 50"},
		{"pc,mode=bursts@51", "1 to 50"}, {"pc,mode=bursts@", "1 to 50"}, {"mode=serialized", "only with pc"}, {"notimes", "only with pc"}, {"pc,mode=bursts,notimes", "with notimes"}, {"pcs", "no option 'pcs'"},
		{"cupti=", "no option"}, {"pc,,notimes", "no option ''"}, {"pc,mode=serializedx", "no mode"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char why[256] = "";
		if (nv_options_read(wrong[i][0], &o, why, sizeof why) || !strstr(why, wrong[i][1]) || o.pc != NV_PC_OFF)
			fail_msg("%s: '%s'", wrong[i][0], why);
	}
}

/* ---- reasons and sums ---------------------------------------------------------------------------------------------- */

static void test_reasons(void **state)
{
	(void)state;
	start_with("pc");
	struct nv_pc_reason a = nv_pc_reason_named("smsp__pcsamp_warps_issue_stalled_selected"), b = nv_pc_reason_named("x_wait"), c = nv_pc_reason_named("x_wait_not_issued");
	assert_int_equal(a.count, NV_PC_COUNT_SAMPLE);
	assert_int_equal(b.count, NV_PC_COUNT_SAMPLE);
	assert_int_equal(c.count, NV_PC_COUNT_NOT_ISSUED);
	assert_string_equal(seen.stall[a.number], "smsp__pcsamp_warps_issue_stalled_selected");
	assert_int_equal(seen.stall_flags[a.number], MSR_GPU_STALL_ISSUED);
	assert_int_equal(seen.stall_flags[b.number], 0);
	assert_int_equal(seen.stall_flags[c.number], MSR_GPU_STALL_ONLY_NOT_ISSUED);
	unsigned n = seen.n_stalls;
	assert_int_equal(nv_pc_reason_named("x_wait").number, b.number); /* told once in the process */
	assert_int_equal(seen.n_stalls, n);
	assert_int_equal(nv_pc_reason_named("smsp__pcsamp_sample_count").count, NV_PC_COUNT_NOTHING);
	assert_int_equal(nv_pc_reason_named("smsp__pcsamp_samples_data_dropped").count, NV_PC_COUNT_NOTHING);
	assert_int_equal(nv_pc_reason_named("").count, NV_PC_COUNT_NOTHING);
}

static void test_session(void **state)
{
	(void)state;
	start_with("pc");
	assert_true(nv_pc_start());
	uint64_t crc = 0, hash2 = 0;
	cupti.crc("abc", 3, &crc);
	cupti.crc("abd", 3, &hash2);
	assert_true(crc && hash2 && crc != hash2);
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.n_enabled, 1);
	assert_int_equal(cupti.period, 19); /* 132 units of 1.98 GHz: 498,504 a second */
	assert_int_equal(cupti.mode, CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS);
	assert_int_equal(cupti.hardware, 16 << 20);
	assert_non_null(strstr(seen.note, "2^19 cycles"));
	work(100);
	assert_int_equal(seen.n_ranges, 0); /* nothing came */
	cupti.n_pcs = 2500; /* three calls */
	cupti.outside = 30;
	work(100);
	assert_int_equal(seen.n_ranges, 1);
	assert_int_equal(last_range()->total, 7530);
	assert_int_equal(last_range()->recorded, 7500);
	assert_int_equal(last_range()->outside, 30);
	assert_int_equal(last_range()->end_ns - last_range()->start_ns, 200 * MS);
	assert_int_equal(last_range()->period, 1 << 19);
	assert_int_equal(last_range()->samplers, 132);
	assert_int_equal(last_range()->context, 5);
	assert_int_equal(last_range()->flags, 0);
	assert_int_equal(seen.n_samples, 7500); /* three reasons for each; CUPTI's own sum is none */
	assert_int_equal(seen.last_id, 0);
	cupti.n_left = 10;
	end(true);
	assert_int_equal(cupti.n_disabled, 1);
	assert_int_equal(last_range()->recorded, 30);
	CUuuid uuid;
	char path[128];
	device_uuid(&uuid, 0);
	int fd = nv_pc_lock(&uuid, path, sizeof path); /* the GPU is free for others */
	assert_true(fd >= 0);
	nv_pc_unlock(fd, &uuid);
	work(2000); /* an exec that failed: sampling goes on */
	assert_int_equal(cupti.n_enabled, 2);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP);
	assert_int_equal(last_range()->end_ns - last_range()->start_ns, 2000 * MS);
}

static void test_join(void **state)
{
	(void)state;
	start_with("pc,mode=serialized");
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.mode, CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED);
	cupti.n_pcs = 2;
	cupti.correlation = 21;
	work(100);
	assert_int_equal(seen.function_code, 0); /* its module was not told of */
	assert_int_equal(seen.n_functions, 2);   /* so it is asked for again */
	assert_int_equal(seen.last_id, 42);      /* of the launch, as the callback had it */
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_SERIALIZED);
	uint64_t hash = 0;
	assert_true(nv_pc_start());
	cupti.crc("xyz", 3, &hash);
	nv_pc_code_loaded("xyz", 3, 9);
	CUpti_PCSamplingPCData p = {.cubinCrc = hash, .functionIndex = 2, .functionName = (char *)(uintptr_t)"f", .pcOffset = 48};
	CUpti_PCSamplingData d = {.collectNumPcs = 1, .totalNumPcs = 1, .pPcData = &p};
	struct nv_pc_session s = {.context = CONTEXT};
	nv_pc_take(&s, &d);
	assert_int_equal(seen.function_code, 9);
	assert_string_equal(seen.function, "f");
	nv_pc_take(&s, &d);
	assert_int_equal(seen.n_functions, 3); /* known by hash and index */
}

/* The configuration's buffer was too small: what is missing is counted. Other numbers of the reasons, as another chip has them. */
static void test_not_fitted(void **state)
{
	(void)state;
	start_with("pc");
	cupti.shift = 7;
	nv_pc_context_made(CONTEXT);
	cupti.n_left = NV_PC_ROOM + 100;
	end(true);
	assert_int_equal(last_range()->total, 3 * (NV_PC_ROOM + 100));
	assert_int_equal(last_range()->dropped, 300);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_NOT_FITTED);
}

/* ---- what goes wrong ------------------------------------------------------------------------------------------------- */

static void test_refused(void **state)
{
	(void)state;
	start_with("pc");
	cupti.enable = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	nv_pc_context_made(CONTEXT);
	assert_non_null(strstr(seen.note, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_non_null(strstr(seen.note, "CAP_SYS_ADMIN"));
	work(100);
	end(true);
	assert_int_equal(cupti.n_got + cupti.n_disabled + seen.n_ranges, 0);
	cupti.enable = CUPTI_SUCCESS; /* the lock was given back */
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.n_enabled, 1);
}

static void test_attributes(void **state)
{
	(void)state;
	start_with("pc@12");
	cupti.bad_attribute = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE;
	cupti.bad_status = CUPTI_ERROR_INVALID_OPERATION;
	nv_pc_context_made(CONTEXT);
	assert_non_null(strstr(seen.note, "refuses the size of the hardware buffer"));
	assert_int_equal(cupti.n_disabled, 1);
	cupti.bad_attribute = 0;
	cupti.wrong_period = 11;
	nv_pc_context_made(CONTEXT);
	assert_non_null(strstr(seen.note, "in force of the period"));
	assert_int_equal(cupti.n_disabled, 2);
	cupti.wrong_period = 0;
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.period, 12);
	assert_true(cupti.is_on);
}

static void test_overflow(void **state)
{
	(void)state;
	start_with("pc@30");
	nv_pc_context_made(CONTEXT);
	cupti.get = CUPTI_ERROR_OUT_OF_MEMORY;
	cupti.busy_until_ns = seen.now_ns + 2000 * MS; /* Disable would wait for a kernel: not before it has ended */
	work(100);
	assert_int_equal(cupti.n_disabled, 0);
	unsigned n_tries = cupti.n_flushed;
	work(50); /* not tried each time */
	assert_int_equal(cupti.n_flushed, n_tries);
	work(2500);
	assert_int_equal(cupti.n_disabled, 1);
	assert_int_equal(cupti.n_enabled, 2);
	assert_int_equal(cupti.period, 31);
	assert_int_equal(seen.n_ranges, 1);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_BUFFER_FULL);
	assert_int_equal(last_range()->total, 0);
	assert_true(last_range()->end_ns - last_range()->start_ns >= 2650 * MS);
	assert_non_null(strstr(seen.note, "2^31 cycles"));
	work(100); /* and again: there is no longer period */
	work(500);
	assert_int_equal(cupti.period, 31);
	end(false);
	unsigned n = 0;
	for (unsigned i = 0; i < seen.n_ranges; i++)
		n += (seen.range[i].flags & MSR_GPU_RANGE_BUFFER_FULL) != 0;
	assert_true(n >= 2);
}

/* As the second process on a GPU is answered: nothing more is asked of CUPTI, which crashes. */
static void test_dead(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.get = CUPTI_ERROR_UNKNOWN;
	work(100);
	assert_non_null(strstr(seen.note, "has stopped: CUPTI_ERROR_UNKNOWN"));
	unsigned n = cupti.n_got;
	work(100);
	end(true);
	assert_int_equal(cupti.n_got, n);
	assert_int_equal(cupti.n_disabled, 0);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP);
	nv_pc_context_gone(CONTEXT);
	assert_int_equal(cupti.n_disabled, 0);
}

static void test_rate(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.outside = 2000000; /* in 0.1 s */
	work(100);
	end(true);
	assert_non_null(strstr(seen.note, "more samples than its period promises"));
	leave(NULL);
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	work(100);
	nv.kernel_ns = 1500 * MS;
	end(true);
	assert_non_null(strstr(seen.note, "no sample while kernels ran"));
}

static void test_outside(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.n_pcs = 1000;
	cupti.outside = 100;
	work(100);
	assert_null(strstr(seen.note, "of which instruction"));
	end(true);
	assert_non_null(strstr(seen.note, "of which instruction 3.2 % of the PC samples are"));
	assert_non_null(strstr(seen.note, "pc,notimes"));
}

/* ---- contexts ----------------------------------------------------------------------------------------------------------- */

static void test_contexts(void **state)
{
	(void)state;
	CUcontext other = (CUcontext)(uintptr_t)0x200;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	nv_pc_context_made(other);
	assert_int_equal(cupti.n_enabled, 1);
	assert_non_null(strstr(seen.note, "one context of a GPU at a time"));
	nv_pc_context_gone(other);
	assert_int_equal(cupti.n_disabled, 0);
	cupti.n_pcs = 4;
	cupti.n_left = 5;
	nv_pc_context_gone(CONTEXT);
	assert_int_equal(cupti.n_disabled, 1);
	assert_int_equal(seen.range[0].recorded + last_range()->recorded, 27);
	nv_pc_context_made(other); /* now it may be */
	assert_int_equal(cupti.n_enabled, 2);
	nv_pc_context_gone(other);
	nv.is_over = true; /* CUDA takes itself down at exit */
	nv_pc_context_made(CONTEXT);
	assert_int_equal(cupti.n_enabled, 2);
}

static void test_lock(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	CUuuid uuid;
	char path[128];
	device_uuid(&uuid, 0);
	assert_int_equal(nv_pc_lock(&uuid, path, sizeof path), -1);
	nv_pc_context_gone(CONTEXT);
	assert_int_equal(access(path, F_OK), -1); /* nothing is left behind */
	int fd = nv_pc_lock(&uuid, path, sizeof path);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	nv_pc_context_made(CONTEXT); /* as if another process had it */
	assert_int_equal(cupti.n_enabled, 1);
	assert_non_null(strstr(seen.note, "another process samples this GPU"));
	assert_non_null(strstr(seen.note, path));
	assert_int_equal(unlink(path), 0);
	int next = nv_pc_lock(&uuid, path, sizeof path); /* a file that is no more locks nobody out */
	assert_true(next >= 0);
	close(fd);
	nv_pc_unlock(next, &uuid);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(symlink("/dev/null", path), 0); /* somebody's trick */
	assert_int_equal(nv_pc_lock(&uuid, path, sizeof path), -2);
	unlink(path);
}

/* ---- gate, end, windows --------------------------------------------------------------------------------------------------- */

static void real_wait(sem_t *wake, uint64_t until_ns) { (void)wake, (void)until_ns; usleep(200); seen.now_ns += MS / 10; }

static void *launch_one(void *arg)
{
	nv_pc_gate_enter(true);
	*(_Atomic bool *)arg = true;
	nv_pc_gate_leave();
	return NULL;
}

static void test_gate(void **state)
{
	(void)state;
	pthread_t thread;
	_Atomic bool has_launched = false;
	start_with("pc,mode=bursts");
	uint64_t n = nv_pc_n_launches();
	nv_pc_wake_at(n + 2);
	nv_pc_gate_leave(); /* of a call that we were not told of */
	nv_pc_gate_enter(true);
	nv_pc_gate_enter(true); /* a call inside of a call */
	int woken = 0;
	sem_getvalue(&nv.wake, &woken);
	assert_int_equal(woken, 1);
	assert_true(nv_pc_gate_close(seen.now_ns)); /* our own does not count */
	nv_pc_gate_open();
	nv_pc_gate_leave();
	nv_pc_gate_leave();
	assert_int_equal(nv_pc_n_launches(), n + 2);
	nv.lib.wait = real_wait;
	assert_true(nv_pc_gate_close(seen.now_ns));
	assert_int_equal(pthread_create(&thread, NULL, launch_one, &has_launched), 0);
	usleep(20000);
	assert_false(has_launched);
	nv_pc_gate_open();
	pthread_join(thread, NULL);
	assert_true(has_launched);
	assert_true(nv_pc_gate_close(seen.now_ns)); /* nobody opens it: the launch goes on after 2 s */
	uint64_t begin_ns = seen.now_ns;
	has_launched = false;
	nv.lib.wait = wait_until;
	launch_one(&has_launched);
	assert_true(has_launched);
	assert_true(seen.now_ns - begin_ns >= 2000 * MS && seen.now_ns - begin_ns < 2100 * MS);
	nv_pc_gate_open();
}

static void *stay_inside(void *arg)
{
	sem_t *sems = arg;
	nv_pc_gate_enter(true);
	sem_post(&sems[0]);
	sem_wait(&sems[1]);
	nv_pc_gate_leave();
	return NULL;
}

/* A thread is stuck in its launch: whoever wants to close the gate gives up, and it is open. */
static void test_stuck(void **state)
{
	(void)state;
	pthread_t thread;
	sem_t sems[2];
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	sem_init(&sems[0], 0, 0);
	sem_init(&sems[1], 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, stay_inside, sems), 0);
	sem_wait(&sems[0]);
	assert_false(nv_pc_gate_close(seen.now_ns + 10 * MS));
	nv_pc_gate_enter(false); /* open */
	nv_pc_gate_leave();
	end(true);
	assert_int_equal(cupti.n_disabled, 0);
	nv_pc_context_gone(CONTEXT); /* what it had is lost, and said to be */
	assert_int_equal(cupti.n_disabled, 0);
	assert_int_equal(last_range()->flags, MSR_GPU_RANGE_GAP);
	cupti.is_on = false;
	sem_post(&sems[1]);
	pthread_join(thread, NULL);
}

static void test_end_of_endless(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	cupti.busy_until_ns = UINT64_MAX;
	cupti.n_pcs = 1;
	end(false);
	assert_int_equal(cupti.n_disabled, 0); /* it would wait for the kernel */
	assert_int_equal(last_range()->recorded, 3);
	assert_non_null(strstr(seen.note, "kernels still run"));
}

static void launch_many(unsigned n)
{
	while (n--) {
		nv_pc_gate_enter(true);
		nv_pc_gate_leave();
	}
}

static bool is_in_window(void) { return cupti.mode == CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED; }

static void test_bursts(void **state)
{
	(void)state;
	start_with("pc,mode=bursts@10");
	nv_pc_context_made(CONTEXT);
	assert_false(is_in_window());
	launch_many(50);
	work(100);
	launch_many(1);
	work(200); /* a tenth of these is too few */
	assert_false(is_in_window());
	launch_many(100);
	cupti.busy_until_ns = seen.now_ns + 1000 * MS;
	work(100); /* never idle */
	assert_int_equal(cupti.n_disabled, 0);
	launch_many(1);
	cupti.n_pcs = 7;
	work(3000);
	assert_true(is_in_window());
	assert_int_equal(last_range()->recorded, 0); /* of Disable; the seven were taken out before */
	unsigned n_got = cupti.n_got;
	work(10);
	assert_int_equal(cupti.n_got, n_got); /* it would wait for kernels */
	launch_many(20);
	int woken = 0;
	sem_getvalue(&nv.wake, &woken);
	assert_int_equal(woken, 1);
	cupti.n_pcs = 3;
	cupti.correlation = 9;
	work(90);
	assert_false(is_in_window());
	unsigned n_serialized = 0;
	for (unsigned i = 0; i < seen.n_ranges; i++)
		n_serialized += (seen.range[i].flags & MSR_GPU_RANGE_SERIALIZED) != 0;
	assert_true(n_serialized >= 1);
	assert_int_equal(seen.last_id, 18);
	launch_many(100);
	work(10000);
	launch_many(1);
	work(100000); /* a tenth of the launches at most ... */
	assert_false(is_in_window());
	launch_many(100);
	work(100);
	assert_true(is_in_window());
	work(500); /* few launches: it ends by time */
	assert_false(is_in_window());
	launch_many(100000);
	work(4000); /* ... and a tenth of the time: it took 0.5 s */
	assert_false(is_in_window());
	launch_many(1);
	work(2000);
	assert_true(is_in_window());
	end(true);
	assert_null(strstr(seen.note, "no launch fell"));
}

static void test_no_window(void **state)
{
	(void)state;
	start_with("pc,mode=bursts@1");
	nv_pc_context_made(CONTEXT);
	work(1000);
	end(true);
	assert_non_null(strstr(seen.note, "no launch fell into a serialized window: there were too few"));
}

/* Records were asked for by force: that none is out says nothing about what runs. */
static CUresult CUDAAPI never_done(CUcontext c) { while (c) pause(); return CUDA_SUCCESS; }

static void test_forced(void **state)
{
	(void)state;
	start_with("pc");
	nv_pc_context_made(CONTEXT);
	nv.n_unfinished = 1;
	nv.lib.cuCtxSynchronize_v2 = never_done;
	end(true);
	assert_int_equal(cupti.n_disabled, 0);
	assert_non_null(strstr(seen.note, "kernels still run"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options), cmocka_unit_test(test_reasons), cmocka_unit_test_teardown(test_session, leave), cmocka_unit_test_teardown(test_join, leave), cmocka_unit_test_teardown(test_not_fitted, leave),
		cmocka_unit_test_teardown(test_refused, leave), cmocka_unit_test_teardown(test_attributes, leave), cmocka_unit_test_teardown(test_overflow, leave), cmocka_unit_test_teardown(test_dead, leave),
		cmocka_unit_test_teardown(test_rate, leave), cmocka_unit_test(test_contexts), cmocka_unit_test(test_lock), cmocka_unit_test(test_gate), cmocka_unit_test(test_stuck),
		cmocka_unit_test_teardown(test_end_of_endless, leave), cmocka_unit_test_teardown(test_bursts, leave), cmocka_unit_test_teardown(test_no_window, leave),
		cmocka_unit_test_teardown(test_outside, leave), cmocka_unit_test_teardown(test_forced, leave),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
