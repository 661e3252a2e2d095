/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records calls of PC sampling; see nv_tape_call.c. It saves samples with all their reasons,
 * including samples that Disable puts into the configuration's buffer. Test:
 * tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

#include <string.h>

#define MAX_CONTEXTS 64u

static uint64_t key_of(CUcontext context)
{
	return (uint64_t)(uintptr_t)context;
}

/* ---- the configuration's buffer, by context ---- */

static struct {
	pthread_mutex_t lock;
	struct {
		CUcontext context;
		const CUpti_PCSamplingData *data;
	} of[MAX_CONTEXTS];
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Replaces the entry of the same context, or of a context that is gone. */
static void keep_buffer(CUcontext context, const CUpti_PCSamplingData *data)
{
	pthread_mutex_lock(&buffers.lock);
	for (unsigned i = 0, kept = 0; i < MAX_CONTEXTS && !kept; i++)
		if (!buffers.of[i].data || buffers.of[i].context == context) {
			buffers.of[i].context = context;
			buffers.of[i].data = data;
			kept = 1;
		}
	pthread_mutex_unlock(&buffers.lock);
}

static const CUpti_PCSamplingData *kept_buffer(CUcontext context)
{
	const CUpti_PCSamplingData *data = NULL;
	pthread_mutex_lock(&buffers.lock);
	for (unsigned i = 0; i < MAX_CONTEXTS && !data; i++)
		if (buffers.of[i].context == context)
			data = buffers.of[i].data;
	pthread_mutex_unlock(&buffers.lock);
	return data;
}

/* ---- samples ---- */

static size_t n_pcs(const CUpti_PCSamplingData *d)
{
	return !d ? 0 : d->totalNumPcs < d->collectNumPcs ? d->totalNumPcs : d->collectNumPcs;
}

static size_t data_bytes(const CUpti_PCSamplingData *d)
{
	size_t n = sizeof(struct recording_pc_data) + n_pcs(d) * sizeof(struct recording_pc);
	for (size_t i = 0; i < n_pcs(d); i++)
		n += nv_version_pc(d, i)->stallReasonCount * sizeof(struct recording_reason);
	return n;
}

static uint8_t *write_pc(const CUpti_PCSamplingPCData *from, uint8_t *at)
{
	struct recording_pc *to = (struct recording_pc *)at;
	struct recording_reason *r = (struct recording_reason *)(to + 1);
	*to = (struct recording_pc){.crc = from->cubinCrc,
				    .offset = from->pcOffset,
				    .name = (uint64_t)(uintptr_t)from->functionName,
				    .function = from->functionIndex,
				    .correlation = nv_version_pc_correlation(from),
				    .n_reasons = (uint32_t)from->stallReasonCount};
	for (size_t i = 0; i < from->stallReasonCount; i++)
		r[i] = (struct recording_reason){from->stallReason[i].pcSamplingStallReasonIndex,
						 from->stallReason[i].samples};
	return (uint8_t *)(r + from->stallReasonCount);
}

static void record_data(enum recording_function f, uint64_t begin, CUptiResult result,
			CUcontext context, const CUpti_PCSamplingData *d)
{
	if (!begin)
		return;
	for (size_t i = 0; i < n_pcs(d); i++)
		tape_string(nv_version_pc(d, i)->functionName);
	struct recording_call *e =
		tape_call_event(f, begin, result, key_of(context), 0, d ? data_bytes(d) : 0);
	if (!e)
		return;
	if (d) {
		struct recording_pc_data *to = (struct recording_pc_data *)(e + 1);
		uint8_t *at = (uint8_t *)(to + 1);
		*to = (struct recording_pc_data){.total = d->totalSamples,
						 .dropped = d->droppedSamples,
						 .outside = d->nonUsrKernelsTotalSamples,
						 .remaining = d->remainingNumPcs,
						 .range = d->rangeId,
						 .n_pcs = (uint32_t)n_pcs(d),
						 .is_full = d->hardwareBufferFull};
		for (size_t i = 0; i < n_pcs(d); i++)
			at = write_pc(nv_version_pc(d, i), at);
	}
	tape_commit();
}

static CUptiResult CUPTIAPI pc_enable(CUpti_PCSamplingEnableParams *p)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiPCSamplingEnable(p);
	tape_called(RECORDING_PC_ENABLE, b, result, key_of(p->ctx), 0, NULL, 0);
	return result;
}

static CUptiResult CUPTIAPI pc_disable(CUpti_PCSamplingDisableParams *p)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiPCSamplingDisable(p);
	record_data(RECORDING_PC_DISABLE, b, result, p->ctx,
		    result == CUPTI_SUCCESS ? kept_buffer(p->ctx) : NULL);
	return result;
}

static CUptiResult CUPTIAPI pc_get_data(CUpti_PCSamplingGetDataParams *p)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiPCSamplingGetData(p);
	record_data(RECORDING_PC_GET_DATA, b, result, p->ctx,
		    result == CUPTI_SUCCESS ? p->pcSamplingData : NULL);
	return result;
}

/* ---- configuration ---- */

static CUptiResult CUPTIAPI pc_get_num_stall_reasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiPCSamplingGetNumStallReasons(p);
	uint64_t n = result == CUPTI_SUCCESS ? *p->numStallReasons : 0;
	tape_called(RECORDING_PC_GET_NUM_STALL_REASONS, b, result, key_of(p->ctx), 0, &n, sizeof n);
	return result;
}

static CUptiResult CUPTIAPI pc_get_stall_reasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiPCSamplingGetStallReasons(p);
	size_t n = result == CUPTI_SUCCESS ? p->numStallReasons : 0;
	struct recording_call *e =
		tape_call_event(RECORDING_PC_GET_STALL_REASONS, b, result, key_of(p->ctx), 0,
				n * sizeof(struct recording_reason_name));
	if (!e)
		return result;
	struct recording_reason_name *to = (struct recording_reason_name *)(e + 1);
	for (size_t i = 0; i < n; i++) {
		to[i].index = p->stallReasonIndex[i];
		memcpy(to[i].name, p->stallReasons[i],
		       strnlen(p->stallReasons[i], sizeof to[i].name - 1));
	}
	tape_commit();
	return result;
}

static void record_attributes(enum recording_function f, uint64_t begin, CUptiResult result,
			      const CUpti_PCSamplingConfigurationInfoParams *p)
{
	struct recording_call *e =
		tape_call_event(f, begin, result, key_of(p->ctx), 0,
				p->numAttributes * sizeof(struct recording_attribute));
	if (!e)
		return;
	struct recording_attribute *to = (struct recording_attribute *)(e + 1);
	for (size_t i = 0; i < p->numAttributes; i++) {
		const CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		to[i].type = a->attributeType;
		to[i].status = a->attributeStatus;
		memcpy(to[i].value, &a->attributeData, sizeof to[i].value);
	}
	tape_commit();
}
_Static_assert(sizeof((CUpti_PCSamplingConfigurationInfo *)0)->attributeData >=
		       sizeof((struct recording_attribute *)0)->value,
	       "three words");

static CUptiResult CUPTIAPI pc_set_configuration(CUpti_PCSamplingConfigurationInfoParams *p)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiPCSamplingSetConfigurationAttribute(p);
	for (size_t i = 0; b && i < p->numAttributes; i++) {
		const CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		if (a->attributeType ==
		    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
			keep_buffer(p->ctx,
				    a->attributeData.samplingDataBufferData.samplingDataBuffer);
	}
	record_attributes(RECORDING_PC_SET_CONFIGURATION, b, result, p);
	return result;
}

static CUptiResult CUPTIAPI pc_get_configuration(CUpti_PCSamplingConfigurationInfoParams *p)
{
	uint64_t b = tape_begin();
	CUptiResult result = tape_real.cuptiPCSamplingGetConfigurationAttribute(p);
	record_attributes(RECORDING_PC_GET_CONFIGURATION, b, result, p);
	return result;
}

/* ---- other calls ---- */

static CUptiResult CUPTIAPI register_crc(CUpti_ComputeCrcCallbackFunc f)
{
	uint64_t b = tape_begin();
	tape_crc = f;
	CUptiResult result = tape_real.cuptiRegisterComputeCrcCallback(tape_on_crc);
	tape_called(RECORDING_REGISTER_CRC, b, result, 0, 0, NULL, 0);
	return result;
}

static CUresult CUDAAPI ctx_synchronize(CUcontext context)
{
	uint64_t b = tape_begin();
	CUresult result = tape_real.cuCtxSynchronize_v2(context);
	tape_called(RECORDING_CTX_SYNCHRONIZE, b, (int)result, key_of(context), 0, NULL, 0);
	return result;
}

void tape_wrap_pc(struct nv_library *l)
{
	TAPE_PC_FUNCTIONS(TAPE_PUT)
}
