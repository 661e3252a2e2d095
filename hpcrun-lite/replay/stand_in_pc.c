/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers calls of PC sampling. Samples come from the recording. It remembers the attributes that
 * were set, in case the back end queries them more often than in the recording. See stand_in.c.
 * Test: tests/cli/gpu/replay.sh, tests/cli/gpu/replay_fault.sh.
 */
#include "hpcrun-lite/replay/player.h"

#include "hpcrun-lite/gpu/cupti/tape/nv_tape_internal.h"

#include <string.h>

#define MAX_CONTEXTS 64u
#define MAX_TYPES 16u

/* The attributes that were set for a context. */
static struct context {
	CUcontext handle;
	CUpti_PCSamplingConfigurationInfo set[MAX_TYPES]; /* by type */
	CUpti_PCSamplingData *buffer;
	size_t n_reasons;
} contexts[MAX_CONTEXTS];

static struct context *context_of(CUcontext handle)
{
	for (unsigned i = 0; i < MAX_CONTEXTS; i++)
		if (!contexts[i].handle || contexts[i].handle == handle) {
			contexts[i].handle = handle;
			return &contexts[i];
		}
	return &contexts[MAX_CONTEXTS - 1];
}

static uint64_t key_of(CUcontext context)
{
	return (uint64_t)(uintptr_t)context;
}

static const struct recording_call *call(enum recording_function f, CUcontext context)
{
	const uint64_t key = key_of(context);
	return stand_in_call(f, &key);
}

/* ---- samples ---- */

static void clear(CUpti_PCSamplingData *d)
{
	d->totalSamples = d->droppedSamples = d->nonUsrKernelsTotalSamples = d->rangeId = 0;
	d->totalNumPcs = d->remainingNumPcs = 0;
	d->hardwareBufferFull = 0;
}

static void give_pc(const struct recording_pc *from, CUpti_PCSamplingPCData *to, size_t max_reasons,
		    uint64_t order)
{
	uint64_t now = nv_map_get(&player.hashes, from->crc);
	to->cubinCrc = now ? now : from->crc;
	to->pcOffset = from->offset;
	to->functionIndex = from->function;
	to->functionName = (char *)(uintptr_t)tape_text_at(&player.tape, from->name, order);
	if (nv_version_pc_bytes() == sizeof *to)
		to->correlationId = from->correlation;
	to->stallReasonCount = from->n_reasons < max_reasons ? from->n_reasons : max_reasons;
	for (size_t i = 0; i < to->stallReasonCount; i++) {
		to->stallReason[i].pcSamplingStallReasonIndex = recording_reasons(from)[i].index;
		to->stallReason[i].samples = recording_reasons(from)[i].samples;
	}
}

static void give(const struct recording_call *c, const struct context *x, CUpti_PCSamplingData *to)
{
	const struct recording_pc_data *d = c ? recording_pc_data(c) : NULL;
	clear(to);
	if (!d)
		return;
	to->totalSamples = d->total;
	to->droppedSamples = d->dropped;
	to->nonUsrKernelsTotalSamples = d->outside;
	to->remainingNumPcs = d->remaining;
	to->rangeId = d->range;
	to->hardwareBufferFull = d->is_full != 0;
	to->totalNumPcs = d->n_pcs < to->collectNumPcs ? d->n_pcs : to->collectNumPcs;
	const struct recording_pc *p = (const void *)(d + 1);
	for (size_t i = 0; i < to->totalNumPcs; i++) {
		give_pc(p, nv_version_pc(to, i), x->n_reasons, c->head.order);
		p = recording_next_pc(p);
	}
}

static CUptiResult CUPTIAPI pc_get_data(CUpti_PCSamplingGetDataParams *p)
{
	const struct recording_call *c = call(RECORDING_PC_GET_DATA, p->ctx);
	give(c, context_of(p->ctx), p->pcSamplingData);
	return c ? (CUptiResult)c->result : CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI pc_enable(CUpti_PCSamplingEnableParams *p)
{
	const struct recording_call *c = call(RECORDING_PC_ENABLE, p->ctx);
	if (!c)
		c = stand_in_answer(RECORDING_PC_ENABLE, key_of(p->ctx), 0);
	return c ? (CUptiResult)c->result : CUPTI_ERROR_UNKNOWN;
}

static CUptiResult CUPTIAPI pc_disable(CUpti_PCSamplingDisableParams *p)
{
	const struct recording_call *c = call(RECORDING_PC_DISABLE, p->ctx);
	struct context *x = context_of(p->ctx);
	if (x->buffer)
		give(c, x, x->buffer);
	return c ? (CUptiResult)c->result : CUPTI_SUCCESS;
}

/* ---- configuration ---- */

static CUptiResult CUPTIAPI pc_get_num_stall_reasons(CUpti_PCSamplingGetNumStallReasonsParams *p)
{
	const struct recording_call *c =
		stand_in_answer(RECORDING_PC_GET_NUM_STALL_REASONS, key_of(p->ctx), 0);
	uint64_t n = 0;
	if (c && c->n_out >= sizeof n)
		memcpy(&n, recording_out(c), sizeof n);
	*p->numStallReasons = n;
	return c ? (CUptiResult)c->result : CUPTI_ERROR_UNKNOWN;
}

static CUptiResult CUPTIAPI pc_get_stall_reasons(CUpti_PCSamplingGetStallReasonsParams *p)
{
	const struct recording_call *c =
		stand_in_answer(RECORDING_PC_GET_STALL_REASONS, key_of(p->ctx), 0);
	const struct recording_reason_name *from = c ? recording_out(c) : NULL;
	size_t n = c ? c->n_out / sizeof *from : 0;
	if (!c || n < p->numStallReasons)
		return CUPTI_ERROR_UNKNOWN;
	for (size_t i = 0; i < p->numStallReasons; i++) {
		p->stallReasonIndex[i] = from[i].index;
		memcpy(p->stallReasons[i], from[i].name, RECORDING_REASON_NAME - 1);
		p->stallReasons[i][RECORDING_REASON_NAME - 1] = 0;
	}
	return (CUptiResult)c->result;
}
_Static_assert(RECORDING_REASON_NAME <= CUPTI_STALL_REASON_STRING_SIZE, "a name that fits");

/* Returns the recorded answer about an attribute. NULL: there is none. */
static const struct recording_attribute *attribute_of(const struct recording_call *c, uint32_t type)
{
	const struct recording_attribute *a = c ? recording_out(c) : NULL;
	for (size_t i = 0; c && i < c->n_out / sizeof *a; i++)
		if (a[i].type == type)
			return &a[i];
	return NULL;
}

static CUptiResult CUPTIAPI pc_set_configuration(CUpti_PCSamplingConfigurationInfoParams *p)
{
	const struct recording_call *c = call(RECORDING_PC_SET_CONFIGURATION, p->ctx);
	struct context *x = context_of(p->ctx);
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		const struct recording_attribute *then = attribute_of(c, a->attributeType);
		a->attributeStatus = then ? (CUptiResult)then->status : CUPTI_SUCCESS;
		if (a->attributeType < MAX_TYPES)
			x->set[a->attributeType] = *a;
		if (a->attributeType ==
		    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
			x->buffer = a->attributeData.samplingDataBufferData.samplingDataBuffer;
		if (a->attributeType == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON)
			x->n_reasons = a->attributeData.stallReasonData.stallReasonCount;
	}
	return c ? (CUptiResult)c->result : CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI pc_get_configuration(CUpti_PCSamplingConfigurationInfoParams *p)
{
	const struct recording_call *c = call(RECORDING_PC_GET_CONFIGURATION, p->ctx);
	const struct context *x = context_of(p->ctx);
	for (size_t i = 0; i < p->numAttributes; i++) {
		CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		const struct recording_attribute *then = attribute_of(c, a->attributeType);
		if (then)
			memcpy(&a->attributeData, then->value, sizeof then->value);
		else if (a->attributeType < MAX_TYPES)
			a->attributeData = x->set[a->attributeType].attributeData;
		a->attributeStatus = then ? (CUptiResult)then->status : CUPTI_SUCCESS;
	}
	return c ? (CUptiResult)c->result : CUPTI_SUCCESS;
}

/* ---- other calls ---- */

static CUptiResult CUPTIAPI register_crc(CUpti_ComputeCrcCallbackFunc f)
{
	const struct recording_call *c = stand_in_answer(RECORDING_REGISTER_CRC, 0, 0);
	CUptiResult result = c ? (CUptiResult)c->result : CUPTI_ERROR_UNKNOWN;
	if (result == CUPTI_SUCCESS)
		player.crc = f;
	return result;
}

static CUresult CUDAAPI ctx_synchronize(CUcontext context)
{
	const struct recording_call *c = call(RECORDING_CTX_SYNCHRONIZE, context);
	if (!c)
		/* the recorded call never returned: the kernel ran longer than the process */
		stand_in_rest();
	return c ? (CUresult)c->result : CUDA_SUCCESS;
}

void stand_in_pc(struct nv_library *l)
{
	TAPE_PC_FUNCTIONS(TAPE_PUT)
}
