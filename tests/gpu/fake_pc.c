/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC sampling of a CUPTI that does not exist. What it does like NVIDIA's, as seen on an H200 (doc/cupti-facts.md): a sample for each unit and 2^period cycles while a kernel runs; nothing before
 * 0.3 s, so short programs get all when they disable; sums come with the first of several calls; samples of modules that were loaded before, and some others, have no record; stall reasons come in pairs,
 * numbered in no order, and only when enabled; a full buffer is the end until Disable; Disable waits for kernels and fills the configuration's buffer as far as it has room.
 * FAKE_CUDA=refused: no rights; pcdropped: the device drops some; pcunknown: GetData answers as to a second process.
 */
#include "tests/gpu/fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N_REASONS 9u
#define MAX_ENTRIES 200000u
#define N_INSTRUCTIONS 8u      /* of each function */
#define DELAY_NS 300000000u
#define MAX_RUNS 65536u

static const char *const reasons[N_REASONS] = {
	"smsp__pcsamp_sample_count", "smsp__pcsamp_samples_data_dropped", "smsp__pcsamp_warps_issue_stalled_long_scoreboard", "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
	"smsp__pcsamp_warps_issue_stalled_selected", "smsp__pcsamp_warps_issue_stalled_selected_not_issued", "smsp__pcsamp_warps_issue_stalled_wait", "smsp__pcsamp_warps_issue_stalled_wait_not_issued",
	"smsp__pcsamp_warps_issue_stalled_unheard_of"};
enum { LONG = 2, SELECTED = 4, WAIT = 6, NOT_ISSUED = 1 };

struct entry {
	uint64_t crc, offset;
	uint32_t index, correlation;
	char *name;
	uint32_t counts[N_REASONS];
};
/* A kernel that was launched and not yet sampled. */
struct run {
	uint64_t crc, begin_ns, end_ns;
	uint32_t index, correlation;
	char *name;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_ComputeCrcCallbackFunc compute_crc;
static struct {
	bool is_enabled, is_configured, is_full, is_gone;
	uint64_t enabled_ns, rest_cycles, samples_held;
	uint32_t period;
	size_t hardware_bytes;
	CUpti_PCSamplingCollectionMode mode;
	CUpti_PCSamplingData *left;
} pc;
static struct entry *entries;
static size_t n_entries, n_given;
static struct run runs[MAX_RUNS];
static size_t n_runs;
static uint64_t total, dropped, outside, n_sampled;
static uint64_t before[64]; /* modules that were loaded before sampling was enabled */
static unsigned n_before;

uint64_t fake_pc_load(const void *image, size_t bytes)
{
	uint64_t crc = bytes;
	if (compute_crc)
		compute_crc(image, bytes, &crc);
	pthread_mutex_lock(&lock);
	if (!pc.is_enabled && n_before < 64)
		before[n_before++] = crc;
	pthread_mutex_unlock(&lock);
	return crc;
}

bool fake_pc_is_enabled(void) { return pc.is_enabled; }
bool fake_pc_is_serialized(void) { return pc.is_enabled && pc.mode == CUPTI_PC_SAMPLING_COLLECTION_MODE_KERNEL_SERIALIZED; }

void fake_pc_context_gone(void)
{
	pthread_mutex_lock(&lock);
	pc.is_gone = pc.is_enabled;
	pc.is_enabled = false;
	pthread_mutex_unlock(&lock);
}

void fake_pc_kernel(uint64_t crc, uint32_t index, char *name, uint64_t begin_ns, uint64_t end_ns, uint32_t correlation)
{
	pthread_mutex_lock(&lock);
	if (pc.is_configured && n_runs < MAX_RUNS)
		runs[n_runs++] = (struct run){crc, begin_ns, end_ns, index, correlation, name};
	pthread_mutex_unlock(&lock);
}

/* ---- sampling ----------------------------------------------------------------------------------------------------- */

static struct entry *entry_of(const struct run *r, uint64_t offset, uint32_t correlation)
{
	size_t first = correlation && n_entries > N_INSTRUCTIONS ? n_entries - N_INSTRUCTIONS : 0;
	for (size_t i = first > n_given ? first : n_given; i < n_entries; i++)
		if (entries[i].crc == r->crc && entries[i].index == r->index && entries[i].offset == offset && entries[i].correlation == correlation)
			return &entries[i];
	if (n_entries == MAX_ENTRIES)
		abort();
	entries[n_entries] = (struct entry){.crc = r->crc, .offset = offset, .index = r->index, .correlation = correlation, .name = r->name};
	return &entries[n_entries++];
}

static bool was_before(uint64_t crc)
{
	for (unsigned i = 0; i < n_before; i++)
		if (before[i] == crc)
			return true;
	return false;
}

/* The nth sample: half of those at an instruction are selected, the others wait. */
static void sample(const struct run *r)
{
	uint64_t n = n_sampled++;
	total++;
	if (fake_is("pcdropped") && n % 50 == 7) {
		dropped++;
	} else if (n % 100 == 42 || was_before(r->crc)) {
		outside++;
	} else {
		struct entry *e = entry_of(r, 16 * (n % N_INSTRUCTIONS), fake_pc_is_serialized() ? r->correlation : 0);
		unsigned reason = n % 2 ? SELECTED : n % 4 ? WAIT : LONG;
		e->counts[reason]++;
		if (reason == LONG || (reason == WAIT && n % 3))
			e->counts[reason + NOT_ISSUED]++;
	}
}

/* Up to now: cycles of all units, with what was left over. */
static void run_until(uint64_t now)
{
	size_t kept = 0;
	for (size_t i = 0; i < n_runs; i++) {
		struct run *r = &runs[i];
		uint64_t end = r->end_ns < now ? r->end_ns : now;
		if (end > r->begin_ns) {
			pc.rest_cycles += (end - r->begin_ns) * FAKE_UNITS * FAKE_CLOCK_KHZ / 1000000u;
			uint64_t n = pc.rest_cycles >> pc.period;
			pc.rest_cycles &= (UINT64_C(1) << pc.period) - 1;
			pc.samples_held += n;
			pc.is_full = pc.is_full || pc.samples_held > pc.hardware_bytes / 32;
			for (uint64_t k = 0; k < n && !pc.is_full; k++)
				sample(r);
			r->begin_ns = end;
		}
		if (r->end_ns > now)
			runs[kept++] = *r;
	}
	n_runs = kept;
}

static void forget(void)
{
	n_entries = n_given = 0;
	total = dropped = outside = pc.samples_held = 0;
}

static void put(CUpti_PCSamplingData *d)
{
	d->totalSamples = total;
	d->droppedSamples = dropped;
	d->nonUsrKernelsTotalSamples = outside;
	total = dropped = outside = 0;
	for (d->totalNumPcs = 0; d->totalNumPcs < d->collectNumPcs && n_given < n_entries; d->totalNumPcs++) {
		const struct entry *e = &entries[n_given++];
		CUpti_PCSamplingPCData *p = &d->pPcData[d->totalNumPcs];
		p->cubinCrc = e->crc;
		p->pcOffset = e->offset;
		p->functionIndex = e->index;
		p->functionName = e->name;
		p->correlationId = e->correlation;
		p->stallReasonCount = 0;
		for (uint32_t i = 0; i < N_REASONS; i++)
			if (e->counts[i])
				p->stallReason[p->stallReasonCount++] = (CUpti_PCSamplingStallReason){N_REASONS - 1 - i, e->counts[i]};
	}
	d->remainingNumPcs = n_entries - n_given;
	if (!d->remainingNumPcs)
		forget();
}

/* ---- CUPTI's calls -------------------------------------------------------------------------------------------------- */

API CUptiResult cuptiRegisterComputeCrcCallback(CUpti_ComputeCrcCallbackFunc f) { compute_crc = f; return CUPTI_SUCCESS; }

/* As the driver: not before all is done. */
static void wait_for_kernels(void)
{
	uint64_t until = fake_busy_until_ns();
	struct timespec t = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

API CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *p)
{
	if (fake_is("refused"))
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	if (p->size != CUpti_PCSamplingEnableParamsSize || !p->ctx || pc.is_enabled)
		return CUPTI_ERROR_INVALID_PARAMETER;
	wait_for_kernels();
	pthread_mutex_lock(&lock);
	entries = entries ? entries : malloc(MAX_ENTRIES * sizeof *entries);
	memset(&pc, 0, sizeof pc);
	forget();
	n_runs = 0;
	pc.is_enabled = true;
	pc.enabled_ns = fake_now_ns();
	pc.period = 11;
	pc.hardware_bytes = (size_t)512 << 20;
	pc.mode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *p)
{
	if (!pc.is_enabled)
		return pc.is_gone ? CUPTI_ERROR_INVALID_CONTEXT : CUPTI_ERROR_INVALID_OPERATION;
	if (!p->ctx)
		return CUPTI_ERROR_INVALID_PARAMETER;
	wait_for_kernels();
	pthread_mutex_lock(&lock);
	run_until(UINT64_MAX);
	if (pc.is_full)
		forget();
	if (pc.left) {
		put(pc.left);
		pc.left->hardwareBufferFull = pc.is_full;
	}
	forget();
	pc.is_enabled = pc.is_configured = false;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *p)
{
	CUpti_PCSamplingData *d = p->pcSamplingData;
	if (!pc.is_enabled || !pc.is_configured || !pc.left || d == pc.left)
		return pc.is_gone ? CUPTI_ERROR_INVALID_CONTEXT : CUPTI_ERROR_INVALID_OPERATION;
	if (fake_is("pcunknown"))
		return CUPTI_ERROR_UNKNOWN;
	pthread_mutex_lock(&lock);
	d->hardwareBufferFull = 0;
	d->totalNumPcs = d->remainingNumPcs = 0;
	d->totalSamples = d->droppedSamples = d->nonUsrKernelsTotalSamples = 0;
	run_until(fake_now_ns());
	if (pc.is_full) {
		forget();
		d->hardwareBufferFull = 1;
	} else if (fake_now_ns() > pc.enabled_ns + DELAY_NS) {
		put(d);
		pc.samples_held = 0;
	}
	pthread_mutex_unlock(&lock);
	return pc.is_full ? CUPTI_ERROR_OUT_OF_MEMORY : CUPTI_SUCCESS;
}

API CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
	*p->numStallReasons = N_REASONS;
	return pc.is_enabled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

API CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
	if (!pc.is_enabled || p->numStallReasons < N_REASONS)
		return CUPTI_ERROR_INVALID_OPERATION;
	for (uint32_t i = 0; i < N_REASONS; i++) {
		uint32_t reason = (i * 5) % N_REASONS;
		p->stallReasonIndex[i] = N_REASONS - 1 - reason;
		snprintf(p->stallReasons[i], CUPTI_STALL_REASON_STRING_SIZE, "%s", reasons[reason]);
	}
	return CUPTI_SUCCESS;
}

static CUptiResult set(CUpti_PCSamplingConfigurationInfo *a)
{
	uint32_t period = a->attributeData.samplingPeriodData.samplingPeriod;
	switch (a->attributeType) {
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
		if (period < 5 || period > 31)
			return CUPTI_ERROR_INVALID_OPERATION;
		pc.period = period;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE:
		pc.hardware_bytes = a->attributeData.hardwareBufferSizeData.hardwareBufferSize;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE:
		pc.mode = a->attributeData.collectionModeData.collectionMode;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
		pc.left = a->attributeData.samplingDataBufferData.samplingDataBuffer;
		return CUPTI_SUCCESS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON:
		return a->attributeData.stallReasonData.stallReasonCount == N_REASONS ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_OUTPUT_DATA_FORMAT:
		return CUPTI_SUCCESS;
	default: /* start/stop control above all: nobody may want it */
		return CUPTI_ERROR_INVALID_PARAMETER;
	}
}

API CUptiResult cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p)
{
	CUptiResult r = pc.is_enabled ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; pc.is_enabled && i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		a->attributeStatus = set(a);
		r = a->attributeStatus == CUPTI_SUCCESS ? r : CUPTI_ERROR_INVALID_PARAMETER;
	}
	pc.is_configured = r == CUPTI_SUCCESS;
	pthread_mutex_unlock(&lock);
	return r;
}

API CUptiResult cuptiPCSamplingGetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *p)
{
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		a->attributeStatus = CUPTI_SUCCESS;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
			a->attributeData.samplingPeriodData.samplingPeriod = pc.period;
		else if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
			a->attributeData.hardwareBufferSizeData.hardwareBufferSize = pc.hardware_bytes;
		else if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
			a->attributeData.collectionModeData.collectionMode = pc.mode;
		else
			a->attributeStatus = CUPTI_ERROR_INVALID_PARAMETER;
	}
	return CUPTI_SUCCESS;
}
