/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How libhpcrun-lite-nvidia.so, which stands in front of some functions of CUPTI with
 * gpu=nvidia,yield, hands the program's calls to the back end. It is preloaded, so the linker finds
 * its functions first. Functions that a program gets by dlsym() from a library that it opened are
 * not seen. Test: tests/cli/gpu/cupti_yield.sh.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_FRONT_FRONT_H
#define HPCRUN_LITE_GPU_CUPTI_FRONT_FRONT_H

#include "hpcrun-lite/gpu/cupti/nv_headers.h"

#include <stdatomic.h>

/* F(name, parameters, arguments) */
#define CUPTI_FRONT_FUNCTIONS(F) \
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
	F(cuptiActivityFlushAll, (uint32_t flag), (flag))

#define CUPTI_FRONT_FIELD(name, parameters, arguments) __typeof__(&name) name;
struct cupti_table {
	CUPTI_FRONT_FUNCTIONS(CUPTI_FRONT_FIELD)
};
#undef CUPTI_FRONT_FIELD

struct cupti_front {
	/* CUPTI's own functions; NULL: CUPTI is not loaded. Any thread. */
	const struct cupti_table *(*behind)(void);
	/* Who gets the calls of the program; NULL: CUPTI. Set once. */
	_Atomic(const struct cupti_table *) client;
};

/* The exported function. */
typedef struct cupti_front *cupti_front_fn(void);
#define CUPTI_FRONT_SYMBOL "hpcrun_lite_cupti_front"

#endif
