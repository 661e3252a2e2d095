/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_version.h. */
#include "hpcrun-lite/gpu/cupti/nv_version.h"

#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/nv.h"

#include <stddef.h>
#include <string.h>

/* The first version with something. */
#define V_CORRELATED_SAMPLES 120400u
/* 12.8.1, but that cannot be told from 12.8.0. Before, no sample has an instruction. */
#define V_SAMPLES_AND_RECORDS 120800u
#define V_REFUSED_BUFFERS 120900u

/* ---- numbers of versions ---- */

/* Until 12.9 cuptiGetVersion counted releases. The source is the header of the function. */
static const struct {
	uint32_t api;
	unsigned version;
} releases[] = {{19, 120000}, {20, 120200}, {21, 120300}, {22, 120400}, {23, 120500},
		{24, 120600}, {26, 120800}, {27, 120900}, {28, 120901}};

unsigned nv_version_of(uint32_t api)
{
	unsigned version = 0;
	if (api >= 130000)
		return api;
	for (size_t i = 0; i < sizeof releases / sizeof *releases && releases[i].api <= api; i++)
		version = releases[i].version;
	return version;
}

static bool is_before(unsigned version)
{
	return nv.lib.version < version;
}

/* ---- functions of CUDA 13 ---- */

static CUptiResult (*subscribe_12)(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
static CUresult (*synchronize_12)(void);
static CUresult (*push)(CUcontext);
static CUresult (*pop)(CUcontext *);

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user,
				      CUpti_SubscriberParams *p)
{
	(void)p;
	return subscribe_12(s, f, user);
}

static CUresult synchronize(CUcontext context)
{
	CUcontext popped;
	CUresult r = push(context);
	if (r != CUDA_SUCCESS)
		return r;
	r = synchronize_12();
	pop(&popped);
	return r;
}

static bool find(void *library, const char *name, void *to)
{
	void *symbol = nv_library_symbol(library, name);
	memcpy(to, &symbol, sizeof symbol);
	return symbol != NULL;
}

const char *nv_version_set_subscribe(struct nv_library *l, void *cupti)
{
	if (find(cupti, "cuptiSubscribe_v2", &l->cuptiSubscribe_v2))
		return NULL;
	l->cuptiSubscribe_v2 = subscribe;
	return find(cupti, "cuptiSubscribe", &subscribe_12) ? NULL : "cuptiSubscribe";
}

const char *nv_version_set_synchronize(struct nv_library *l, void *driver)
{
	if (find(driver, "cuCtxSynchronize_v2", &l->cuCtxSynchronize_v2))
		return NULL;
	l->cuCtxSynchronize_v2 = synchronize;
	return find(driver, "cuCtxSynchronize", &synchronize_12) &&
			       find(driver, "cuCtxPushCurrent_v2", &push) &&
			       find(driver, "cuCtxPopCurrent_v2", &pop)
		       ? NULL
		       : "cuCtxSynchronize";
}

/* ---- options ---- */

static void say(const char *what, const char *instead)
{
	char line[64], version[NV_VERSION_BYTES];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "CUPTI ");
	text_put(&t, nv_library_version_text(nv.lib.version, version));
	nv_note(line, what, instead);
}

void nv_version_limit(struct nv_options *o)
{
	if (o->pc == NV_PC_OFF)
		return;
	if (!o->no_times && is_before(V_SAMPLES_AND_RECORDS)) {
		say(" cannot sample instructions while it times operations, which needs 12.8.1",
		    ": operations are timed, and nothing is sampled; gpu=nvidia,pc,notimes samples "
		    "without times");
		o->pc = NV_PC_OFF;
	} else if (o->pc == NV_PC_SERIALIZED && is_before(V_CORRELATED_SAMPLES)) {
		say(" does not say which launch a sample is of, which needs 12.4",
		    ": mode=continuous instead of serialized");
		o->pc = NV_PC_CONTINUOUS;
	}
}

/* ---- buffers ---- */

bool nv_version_needs_buffers(void)
{
	return is_before(V_REFUSED_BUFFERS);
}

/* ---- PC sampling ---- */

size_t nv_version_pc_bytes(void)
{
	return is_before(V_CORRELATED_SAMPLES) ? offsetof(CUpti_PCSamplingPCData, correlationId)
					       : sizeof(CUpti_PCSamplingPCData);
}

CUpti_PCSamplingPCData *nv_version_pc(const CUpti_PCSamplingData *d, size_t i)
{
	return (CUpti_PCSamplingPCData *)(void *)((char *)d->pPcData + i * nv_version_pc_bytes());
}

uint32_t nv_version_pc_correlation(const CUpti_PCSamplingPCData *p)
{
	return is_before(V_CORRELATED_SAMPLES) ? 0 : p->correlationId;
}
