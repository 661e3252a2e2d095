/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything in which the versions of CUPTI differ for us, from CUDA 12.0 on. The file is compiled
 * once, with the headers of any of these versions, and the version is looked at in the process.
 * doc/notes/cupti-facts.md (V) has the differences. Independent of the other parts' state, except
 * nv.lib.version. Tests: tests/unit/cupti/test_cupti_pc.c, tests/cli/gpu/cupti_trace.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_VERSION_H
#define HPCRUN_LITE_GPU_CUPTI_NV_VERSION_H

#include "hpcrun-lite/gpu/cupti/front/nv_headers.h"
#include "hpcrun-lite/gpu/cupti/nv_options.h"

struct nv_library;

/* 10000 x major + 100 x minor + update of CUDA, as CUPTI itself counts from 13.0 on. */
#define NV_LEAST_CUPTI 120000u

/*
 * Returns the version for a result of cuptiGetVersion, and the first one if several have the same
 * result. 0: older than NV_LEAST_CUPTI.
 */
unsigned nv_version_of(uint32_t api);

/*
 * Records, in the oldest form. We do not read what later versions append. Only
 * cuptiActivityGetNextRecord knows their real length.
 */
typedef CUpti_ActivityKernel9 nv_kernel_record;
typedef CUpti_ActivityMemcpy5 nv_copy_record;
typedef CUpti_ActivityMemcpyPtoP4 nv_peer_copy_record;
typedef CUpti_ActivityMemset4 nv_set_record;

/*
 * These set functions of `l` that are new in CUDA 13, or put functions of CUDA 12 in their place:
 * cuptiSubscribe_v2 (without it the name of another subscriber stays unknown), cuCtxSynchronize_v2.
 * Return NULL, or the name of a missing function.
 */
const char *nv_version_set_subscribe(struct nv_library *l, void *cupti);
const char *nv_version_set_synchronize(struct nv_library *l, void *driver);

/* Changes options that this version cannot fulfil; a note says what it does instead. */
void nv_version_limit(struct nv_options *o);

/* Returns true if CUPTI crashes when it asks for a buffer and gets none. */
bool nv_version_needs_buffers(void);

/* ---- PC sampling ---- */

/* The size of an element of CUpti_PCSamplingData.pPcData. */
size_t nv_version_pc_bytes(void);
/* The element with this number. */
CUpti_PCSamplingPCData *nv_version_pc(const CUpti_PCSamplingData *d, size_t i);
/* The correlation id of the launch; 0: unknown. */
uint32_t nv_version_pc_correlation(const CUpti_PCSamplingPCData *p);

#endif
