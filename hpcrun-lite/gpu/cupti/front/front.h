/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With gpu=nvidia, libhpcrun-lite-nvidia.so replaces some functions of CUPTI and passes the
 * program's calls to the back end. It is preloaded, so the linker finds its functions first, and
 * dlsym() returns them for these names. If the program calls CUPTI before CUDA starts, it loads the
 * back end at once. Test: tests/cli/gpu/cupti_yield.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_FRONT_FRONT_H
#define HPCRUN_LITE_GPU_CUPTI_FRONT_FRONT_H

#include "hpcrun-lite/gpu/cupti/front/nv_headers.h"

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Calls that begin or end a session of a profiler that counts or samples. F as in
 * CUPTI_FRONT_FUNCTIONS.
 */
#define CUPTI_FRONT_SESSIONS(F) \
	F(cuptiPCSamplingEnable, (CUpti_PCSamplingEnableParams * p), (p)) \
	F(cuptiPCSamplingDisable, (CUpti_PCSamplingDisableParams * p), (p)) \
	F(cuptiRangeProfilerEnable, (CUpti_RangeProfiler_Enable_Params * p), (p)) \
	F(cuptiRangeProfilerDisable, (CUpti_RangeProfiler_Disable_Params * p), (p)) \
	F(cuptiProfilerBeginSession, (CUpti_Profiler_BeginSession_Params * p), (p)) \
	F(cuptiProfilerEndSession, (CUpti_Profiler_EndSession_Params * p), (p)) \
	F(cuptiSassMetricsEnable, (CUpti_SassMetricsEnable_Params * p), (p)) \
	F(cuptiSassMetricsDisable, (CUpti_SassMetricsDisable_Params * p), (p))

/*
 * Calls that are only passed on, to our copy of CUPTI. If the program was linked with another copy,
 * that copy does not know what ours does.
 */
#define CUPTI_FRONT_PASSED(F) \
	F(cuptiActivityGetNextRecord, (uint8_t * b, size_t n, CUpti_Activity * *r), (b, n, r)) \
	F(cuptiActivityGetAttribute, (CUpti_ActivityAttribute a, size_t * bytes, void *value), \
	  (a, bytes, value)) \
	F(cuptiActivityFlushPeriod, (uint32_t ms), (ms)) \
	F(cuptiActivityEnableLatencyTimestamps, (uint8_t on), (on)) \
	F(cuptiActivityPushExternalCorrelationId, \
	  (CUpti_ExternalCorrelationKind k, uint64_t id), (k, id)) \
	F(cuptiActivityPopExternalCorrelationId, \
	  (CUpti_ExternalCorrelationKind k, uint64_t * id), (k, id)) \
	F(cuptiGetTimestamp, (uint64_t * ns), (ns)) \
	F(cuptiGetContextId, (CUcontext c, uint32_t * id), (c, id)) \
	F(cuptiGetDeviceId, (CUcontext c, uint32_t * id), (c, id)) \
	F(cuptiGetStreamIdEx, \
	  (CUcontext c, CUstream s, uint8_t per_thread, uint32_t * id), (c, s, per_thread, id)) \
	F(cuptiGetGraphId, (CUgraph g, uint32_t * id), (g, id)) \
	F(cuptiGetGraphExecId, (CUgraphExec g, uint32_t * id), (g, id)) \
	F(cuptiGetGraphNodeId, (CUgraphNode n, uint64_t * id), (n, id)) \
	F(cuptiPCSamplingStart, (CUpti_PCSamplingStartParams * p), (p)) \
	F(cuptiPCSamplingStop, (CUpti_PCSamplingStopParams * p), (p)) \
	F(cuptiPCSamplingGetData, (CUpti_PCSamplingGetDataParams * p), (p)) \
	F(cuptiPCSamplingGetNumStallReasons, (CUpti_PCSamplingGetNumStallReasonsParams * p), (p)) \
	F(cuptiPCSamplingGetStallReasons, (CUpti_PCSamplingGetStallReasonsParams * p), (p)) \
	F(cuptiPCSamplingSetConfigurationAttribute, \
	  (CUpti_PCSamplingConfigurationInfoParams * p), (p)) \
	F(cuptiPCSamplingGetConfigurationAttribute, \
	  (CUpti_PCSamplingConfigurationInfoParams * p), (p))

/* F(name, parameters, arguments) */
#define CUPTI_FRONT_FUNCTIONS(F) \
	CUPTI_FRONT_PASSED(F) \
	F(cuptiSubscribe, (CUpti_SubscriberHandle * s, CUpti_CallbackFunc f, void *user), \
	  (s, f, user)) \
	F(cuptiSubscribe_v2, \
	  (CUpti_SubscriberHandle * s, CUpti_CallbackFunc f, void *user, \
	   CUpti_SubscriberParams *p), \
	  (s, f, user, p)) \
	F(cuptiUnsubscribe, (CUpti_SubscriberHandle s), (s)) \
	F(cuptiFinalize, (void), ()) \
	F(cuptiEnableCallback, \
	  (uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d, CUpti_CallbackId id), \
	  (on, s, d, id)) \
	F(cuptiEnableDomain, (uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d), \
	  (on, s, d)) \
	F(cuptiEnableAllDomains, (uint32_t on, CUpti_SubscriberHandle s), (on, s)) \
	F(cuptiGetCallbackState, \
	  (uint32_t * on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d, CUpti_CallbackId id), \
	  (on, s, d, id)) \
	F(cuptiActivityRegisterCallbacks, \
	  (CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c), (r, c)) \
	F(cuptiActivityRegisterTimestampCallback, (CUpti_TimestampCallbackFunc f), (f)) \
	F(cuptiActivitySetAttribute, (CUpti_ActivityAttribute a, size_t * bytes, void *value), \
	  (a, bytes, value)) \
	F(cuptiActivityEnable, (CUpti_ActivityKind k), (k)) \
	F(cuptiActivityDisable, (CUpti_ActivityKind k), (k)) \
	F(cuptiActivityEnableAndDump, (CUpti_ActivityKind k), (k)) \
	F(cuptiActivityEnableContext, (CUcontext c, CUpti_ActivityKind k), (c, k)) \
	F(cuptiActivityDisableContext, (CUcontext c, CUpti_ActivityKind k), (c, k)) \
	F(cuptiActivityGetNumDroppedRecords, (CUcontext c, uint32_t s, size_t * n), (c, s, n)) \
	F(cuptiActivityFlushAll, (uint32_t flag), (flag)) \
	CUPTI_FRONT_SESSIONS(F)

#define CUPTI_FRONT_FIELD(name, parameters, arguments) __typeof__(&name) name;
struct cupti_table {
	CUPTI_FRONT_FUNCTIONS(CUPTI_FRONT_FIELD)
};
#undef CUPTI_FRONT_FIELD

struct cupti_front {
	/*
	 * Returns the functions of the CUPTI that the program uses, and in *text an address in it.
	 * NULL: none is loaded. Any thread.
	 */
	const struct cupti_table *(*behind)(const void **text);
	/* dlsym, but it never finds our functions. */
	void *(*symbol)(void *library, const char *name);
	/*
	 * The functions that get the program's calls; NULL: CUPTI's own. Set once, after `library`.
	 */
	_Atomic(const struct cupti_table *) client;
	void *library;             /* the copy of CUPTI that the client uses */
	_Atomic bool was_called;   /* the program called one of our functions */
	/* the program asked for functions of another copy than `behind` */
	_Atomic bool has_stranger;
};

/* The exported function. */
typedef struct cupti_front *cupti_front_fn(void);
#define CUPTI_FRONT_SYMBOL "hpcrun_lite_cupti_front"
/* The back end's function that is called if the program calls CUPTI before CUDA starts. */
typedef void cupti_early_fn(void);
#define CUPTI_EARLY_SYMBOL "hpcrun_lite_cupti_early"

#endif
