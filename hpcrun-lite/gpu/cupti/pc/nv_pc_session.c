/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's calls for a sampled context: enable, configure, take out, disable. All attributes are
 * read back, because CUPTI refuses some without an error. Test: tests/unit/cupti/test_cupti_pc.c.
 *
 * Never use start/stop control: it deadlocks with threads that launch. Never use a session after
 * CUPTI has returned an error other than a full buffer: that crashes.
 */
#include "hpcrun-lite/gpu/cupti/pc/nv_pc_internal.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define MOST_CALLS 1000u             /* calls of GetData in a row: a million instructions */
/*
 * Default maximum for a whole GPU. CUPTI decodes 15 million/s on one core (doc/notes/cupti-facts.md
 * A8), so this takes 4 % of a core.
 */
#define SAMPLES_PER_S UINT64_C(600000)

/* ---- memory ---- */

static size_t room_of_left(void)
{
	return nv.options.pc == NV_PC_CONTINUOUS ? NV_PC_ROOM : NV_PC_ROOM_SERIALIZED;
}

static uint8_t *lay_out(CUpti_PCSamplingData *d, size_t n, size_t n_reasons, uint8_t *at)
{
	*d = (CUpti_PCSamplingData){
		.size = sizeof *d, .collectNumPcs = n, .pPcData = (CUpti_PCSamplingPCData *)at};
	at += n * nv_version_pc_bytes();
	for (size_t i = 0; i < n; i++) {
		CUpti_PCSamplingPCData *p = nv_version_pc(d, i);
		p->size = nv_version_pc_bytes();
		p->stallReason = (CUpti_PCSamplingStallReason *)at;
		at += n_reasons * sizeof(CUpti_PCSamplingStallReason);
	}
	return at;
}

/* Called when the number of reasons is known. Most of the memory is never touched. */
static bool make_memory(struct nv_pc_session *s)
{
	if (s->memory)
		return true;
	s->memory_bytes =
		(NV_PC_PER_CALL + room_of_left()) *
		(nv_version_pc_bytes() + s->n_reasons * sizeof(CUpti_PCSamplingStallReason));
	long at = sys_mmap(NULL, s->memory_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		nv_pc_say(s, " is disabled: no memory", "");
		return false;
	}
	s->memory = (void *)at;
	lay_out(&s->left, room_of_left(), s->n_reasons,
		lay_out(&s->got, NV_PC_PER_CALL, s->n_reasons, s->memory));
	return true;
}

static void clear(CUpti_PCSamplingData *d)
{
	d->totalSamples = d->droppedSamples = d->nonUsrKernelsTotalSamples = 0;
	d->totalNumPcs = d->remainingNumPcs = 0;
	d->hardwareBufferFull = 0;
}

/* ---- configuration ---- */

static bool read_reasons(struct nv_pc_session *s)
{
	static char text[NV_PC_MAX_REASONS][CUPTI_STALL_REASON_STRING_SIZE];
	char *names[NV_PC_MAX_REASONS];
	size_t n_before = s->n_reasons; /* the memory has room for this many */
	s->n_reasons = 0;
	CUpti_PCSamplingGetNumStallReasonsParams count = {
		.size = CUpti_PCSamplingGetNumStallReasonsParamsSize,
		.ctx = s->context,
		.numStallReasons = &s->n_reasons};
	CUptiResult r = nv.lib.cuptiPCSamplingGetNumStallReasons(&count);
	for (size_t i = 0; i < NV_PC_MAX_REASONS; i++) {
		names[i] = text[i];
		text[i][0] = 0;
	}
	if (r == CUPTI_SUCCESS && s->n_reasons <= NV_PC_MAX_REASONS) {
		CUpti_PCSamplingGetStallReasonsParams list = {
			.size = CUpti_PCSamplingGetStallReasonsParamsSize,
			.ctx = s->context,
			.numStallReasons = s->n_reasons,
			.stallReasonIndex = s->index,
			.stallReasons = names};
		r = nv.lib.cuptiPCSamplingGetStallReasons(&list);
	}
	if (r != CUPTI_SUCCESS || !s->n_reasons || s->n_reasons > NV_PC_MAX_REASONS ||
	    (n_before && s->n_reasons > n_before)) {
		nv_pc_say(s, " is disabled, because CUPTI cannot list the stall reasons: ",
			  nv_result_name(r));
		return false;
	}
	for (size_t i = 0; i < s->n_reasons; i++) {
		text[i][sizeof text[i] - 1] = 0;
		if (s->index[i] < NV_PC_MAX_REASONS)
			s->reasons[s->index[i]] = nv_pc_reason_named(text[i]);
	}
	return true;
}

enum { MODE, PERIOD, HARDWARE, REASONS, FORMAT, BUFFER, N_ATTRIBUTES, N_READ = REASONS };
static const char *const attribute_names[N_ATTRIBUTES] = {
	"the mode",          "the period", "the size of the hardware buffer",
	"the stall reasons", "the format", "the buffer"};

static CUptiResult configure(struct nv_pc_session *s, CUpti_PCSamplingConfigurationInfo *a,
			     size_t n, bool set)
{
	CUpti_PCSamplingConfigurationInfoParams p = {
		.size = CUpti_PCSamplingConfigurationInfoParamsSize,
		.ctx = s->context,
		.numAttributes = n,
		.pPCSamplingConfigurationInfo = a};
	return set ? nv.lib.cuptiPCSamplingSetConfigurationAttribute(&p)
		   : nv.lib.cuptiPCSamplingGetConfigurationAttribute(&p);
}

static CUpti_PCSamplingCollectionMode mode_of(const struct nv_pc_session *s)
{
	return s->is_serialized ? CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED
				: CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
}

/* Compares the values that we set with those that CUPTI reads back. */
static bool check_attributes(struct nv_pc_session *s)
{
	CUpti_PCSamplingConfigurationInfo a[N_READ] = {
		[MODE] = {.attributeType =
				  CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE},
		[PERIOD] = {.attributeType =
				    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD},
		[HARDWARE] = {
			.attributeType =
				CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE}};
	CUptiResult r = configure(s, a, N_READ, false);
	int wrong = r != CUPTI_SUCCESS                                                      ? 0
		    : a[MODE].attributeData.collectionModeData.collectionMode != mode_of(s) ? MODE
		    : a[PERIOD].attributeData.samplingPeriodData.samplingPeriod != s->exponent
			    ? PERIOD
		    : a[HARDWARE].attributeData.hardwareBufferSizeData.hardwareBufferSize !=
				    NV_PC_HARDWARE_BYTES
			    ? HARDWARE
			    : N_READ;
	if (wrong == N_READ)
		return true;
	nv_pc_say(s, " is disabled, because CUPTI uses another value than requested for ",
		  r == CUPTI_SUCCESS ? attribute_names[wrong]
				     : "a setting that cannot be read back");
	return false;
}

static bool set_attributes(struct nv_pc_session *s)
{
	CUpti_PCSamplingConfigurationInfo a[N_ATTRIBUTES] = {
		[MODE] = {.attributeType =
				  CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE,
			  .attributeData.collectionModeData.collectionMode = mode_of(s)},
		[PERIOD] = {.attributeType =
				    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD,
			    .attributeData.samplingPeriodData.samplingPeriod = s->exponent},
		[HARDWARE] =
			{.attributeType =
				 CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE,
			 .attributeData.hardwareBufferSizeData.hardwareBufferSize =
				 NV_PC_HARDWARE_BYTES},
		[REASONS] = {.attributeType =
				     CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON,
			     .attributeData.stallReasonData = {.stallReasonCount = s->n_reasons,
							       .pStallReasonIndex = s->index}},
		[FORMAT] = {.attributeType =
				    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT,
			    .attributeData.outputDataFormatData.outputDataFormat =
				    CUPTI_PC_SAMPLING_OUTPUT_DATA_FORMAT_PARSED},
		[BUFFER] = {.attributeType =
				    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER,
			    .attributeData.samplingDataBufferData.samplingDataBuffer = &s->left}};
	clear(&s->left);
	CUptiResult r = configure(s, a, N_ATTRIBUTES, true);
	for (size_t i = 0; i < N_ATTRIBUTES; i++)
		if (a[i].attributeStatus != CUPTI_SUCCESS) {
			nv_pc_say(s, " is disabled, because CUPTI refuses ", attribute_names[i]);
			return false;
		}
	if (r != CUPTI_SUCCESS)
		nv_pc_say(s, " is disabled, because CUPTI refuses the configuration: ",
			  nv_result_name(r));
	return r == CUPTI_SUCCESS && check_attributes(s);
}

/* ---- life ---- */

static void only_disable(struct nv_pc_session *s)
{
	CUpti_PCSamplingDisableParams p = {.size = CUpti_PCSamplingDisableParamsSize,
					   .ctx = s->context};
	CUptiResult r = nv.lib.cuptiPCSamplingDisable(&p);
	if (r != CUPTI_SUCCESS) {
		nv_pc_say(s, " ended with an error: ", nv_result_name(r));
		s->state = NV_PC_DEAD;
	}
}

bool nv_pc_enable(struct nv_pc_session *s, bool serialized)
{
	CUpti_PCSamplingEnableParams p = {.size = CUpti_PCSamplingEnableParamsSize,
					  .ctx = s->context};
	CUptiResult r = nv.lib.cuptiPCSamplingEnable(&p);
	s->state = NV_PC_DEAD;
	if (r != CUPTI_SUCCESS) {
		nv_pc_say_refused(s, r);
		return false;
	}
	s->is_serialized = serialized;
	if (!read_reasons(s) || !make_memory(s) || !set_attributes(s)) {
		only_disable(s);
		s->state = NV_PC_DEAD;
		return false;
	}
	s->state = NV_PC_ON;
	atomic_store_explicit(&s->range_begin_ns, nv.lib.now_ns(), memory_order_relaxed);
	return true;
}

/* The shortest period whose samples are still cheap. */
static uint32_t choose_exponent(const struct nv_pc_session *s)
{
	uint32_t e = NV_LEAST_EXPONENT;
	while (e < NV_MOST_EXPONENT && nv_pc_most_per_s(s, e) > SAMPLES_PER_S)
		e++;
	return e;
}

static CUuuid uuid_of(const struct nv_pc_session *s)
{
	CUuuid uuid = {{0}};
	nv.lib.cuDeviceGetUuid_v2(&uuid, (CUdevice)s->device);
	return uuid;
}

bool nv_pc_come_back(struct nv_pc_session *s)
{
	char path[NV_GPU_LOCK_BYTES];
	const CUuuid uuid = uuid_of(s);
	if (s->lock >= 0)
		return true;
	s->lock = nv.lib.lock_gpu(&uuid, path, sizeof path);
	if (s->lock == -1)
		nv_pc_say(s,
			  " is disabled: another process samples this GPU, and CUPTI supports only "
			  "one; operations are still traced. Its lock is ",
			  path);
	else if (s->lock < 0)
		nv_pc_say(s,
			  " is disabled: cannot take the lock that excludes other processes (check "
			  "its permissions); operations are still traced. It is ",
			  path);
	if (s->lock < 0)
		s->state = NV_PC_DEAD;
	return s->lock >= 0;
}

void nv_pc_give_way(struct nv_pc_session *s)
{
	const CUuuid uuid = uuid_of(s);
	if (s->lock >= 0)
		nv_gpu_unlock(s->lock, &uuid);
	s->lock = -1;
}

bool nv_pc_open(struct nv_pc_session *s, CUcontext context, uint32_t device)
{
	uint32_t number = 0;
	uint64_t begin_ns = nv.lib.now_ns();
	*s = (struct nv_pc_session){.context = context, .device = device, .lock = -1};
	nv.lib.cuptiGetContextId(context, &number);
	s->context_id = nv_context(device, number);
	s->n_units =
		nv_device_attribute((CUdevice)device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	s->clock_mhz = nv_device_attribute((CUdevice)device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
	s->least_exponent = s->exponent =
		nv.options.exponent ? nv.options.exponent : choose_exponent(s);
	s->begin_ns = begin_ns;
	s->begin_kernel_ns = nv_trace_kernel_ns(device);
	if (!nv_pc_come_back(s))
		return false;
	if (nv_pc_enable(s, nv.options.pc == NV_PC_SERIALIZED)) {
		nv_pc_say_begun(s, nv.lib.now_ns() - begin_ns);
		return true;
	}
	nv_pc_close(s);
	return false;
}

void nv_pc_close(struct nv_pc_session *s)
{
	nv_pc_give_way(s);
	if (s->memory && s->state != NV_PC_DEAD) /* otherwise CUPTI may still use it */
		sys_munmap(s->memory, s->memory_bytes);
	*s = (struct nv_pc_session){.lock = -1};
}

/* ---- taking out ---- */

static CUptiResult get_data(struct nv_pc_session *s)
{
	CUpti_PCSamplingGetDataParams p = {.size = CUpti_PCSamplingGetDataParamsSize,
					   .ctx = s->context,
					   .pcSamplingData = &s->got};
	clear(&s->got);
	CUptiResult r = nv.lib.cuptiPCSamplingGetData(&p);
	return r == CUPTI_SUCCESS && s->got.hardwareBufferFull ? CUPTI_ERROR_OUT_OF_MEMORY : r;
}

/* Only the first of several calls returns the sums, so a range ends when no sample remains. */
bool nv_pc_drain(struct nv_pc_session *s)
{
	for (unsigned i = 0; i < MOST_CALLS; i++) {
		CUptiResult r = get_data(s);
		if (r == CUPTI_SUCCESS) {
			nv_pc_take(s, &s->got);
			if (s->got.remainingNumPcs)
				continue;
			nv_pc_close_range(s, 0, false);
			return true;
		}
		if (s->sums.total)
			nv_pc_close_range(s, 0, false);
		s->is_full = r == CUPTI_ERROR_OUT_OF_MEMORY;
		s->state = s->is_full ? NV_PC_OVERFLOWED : NV_PC_DEAD;
		if (s->state == NV_PC_DEAD)
			nv_pc_say(s, " has stopped: ", nv_result_name(r));
		return false;
	}
	return true;
}

void nv_pc_disable(struct nv_pc_session *s)
{
	bool was_on = s->state == NV_PC_ON, is_good = was_on && nv_pc_drain(s);
	nv_pc_gate_limit(0);
	if (s->state == NV_PC_DEAD)
		return;
	s->state = NV_PC_PAUSED;
	only_disable(s);
	nv_pc_take(s, &s->left);
	if (is_good) {
		nv_pc_close_range(s, s->left.hardwareBufferFull ? MSR_GPU_RANGE_BUFFER_FULL : 0,
				  true);
		nv_pc_check_rate(s);
		nv_pc_check_outside(s);
	} else if (was_on && s->is_full) { /* the last samples filled the buffer */
		nv_pc_close_range(s, MSR_GPU_RANGE_GAP | MSR_GPU_RANGE_BUFFER_FULL, true);
		s->is_full = false;
	}
	clear(&s->left);
}
