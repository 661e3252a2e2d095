/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches the kinds of CUPTI's records and the callbacks of calls. No other thread may launch
 * meanwhile. Tests: tests/unit/cupti/test_cupti_switch.c, tests/cli/gpu/cupti_trace.sh.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include "common/safe/clock.h"

/*
 * We do not use FUNCTION records, but without them CUPTI loses samples in device functions that
 * were compiled separately (doc/notes/cupti-facts.md A3).
 */
static const struct kind {
	CUpti_ActivityKind kind;
	bool with_times, with_pc;
} kinds[] = {{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true, false},
	     {CUPTI_ACTIVITY_KIND_FUNCTION, false, true},
	     {CUPTI_ACTIVITY_KIND_MEMCPY, true, false},
	     {CUPTI_ACTIVITY_KIND_MEMCPY2, true, false},
	     {CUPTI_ACTIVITY_KIND_MEMSET, true, false}};

static bool is_wanted(const struct kind *k)
{
	return (k->with_times && !nv.options.no_times) ||
	       (k->with_pc && nv.options.pc != NV_PC_OFF);
}

CUptiResult nv_records_enable(void)
{
	CUptiResult r = CUPTI_SUCCESS;
	for (size_t i = 0; r == CUPTI_SUCCESS && i < sizeof kinds / sizeof *kinds; i++)
		if (is_wanted(&kinds[i]))
			r = nv.lib.cuptiActivityEnable(kinds[i].kind);
	return r;
}

void nv_records_disable(void)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (is_wanted(&kinds[i]))
			nv.lib.cuptiActivityDisable(kinds[i].kind);
}

static uint64_t CUPTIAPI now(void)
{
	return clock_mono_ns();
}

CUptiResult nv_records_set_clock(void)
{
	return nv.lib.cuptiActivityRegisterTimestampCallback(now);
}

CUptiResult nv_records_switch(bool on)
{
	CUptiResult first = CUPTI_SUCCESS;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		/* records of functions stay on, for modules that are loaded meanwhile */
		if (!kinds[i].with_times || !is_wanted(&kinds[i]))
			continue;
		CUptiResult r = on ? nv.lib.cuptiActivityEnable(kinds[i].kind)
				   : nv.lib.cuptiActivityDisable(kinds[i].kind);
		first = first == CUPTI_SUCCESS ? r : first;
	}
	return first;
}

/*
 * Calls that load, and calls that begin or end a capture, stay enabled: they are few, and we need
 * them later.
 */
void nv_calls_switch(bool on)
{
	for (CUpti_CallbackId id = 1; id < NV_MAX_CALLS; id++)
		if (nv_trace.calls[id].kind)
			nv.lib.cuptiEnableCallback(on, nv.subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
						   id);
}

const struct nv_call *nv_call_at(CUpti_CallbackId id)
{
	const struct nv_call *c = id < NV_MAX_CALLS ? &nv_trace.calls[id] : NULL;
	return c && (c->kind || c->form) ? c : NULL;
}

static CUptiResult enable(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return nv.lib.cuptiEnableCallback(1, nv.subscriber, domain, id);
}

static CUptiResult enable_call(CUpti_CallbackId id)
{
	const char *name = NULL;
	if (nv.lib.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS ||
	    !name)
		return CUPTI_SUCCESS;
	nv_trace.calls[id] = nv_call_of(name);
	if (nv_trace.calls[id].is_new)
		nv_note("this version of CUPTI has an unknown call, ", name,
			"; it is treated like the known call whose name is similar");
	return nv_trace.calls[id].kind || nv_trace.calls[id].form
		       ? enable(CUPTI_CB_DOMAIN_DRIVER_API, id)
		       : CUPTI_SUCCESS;
}

/* Enables calls one by one, because a whole domain would cost time at every API call. */
CUptiResult nv_calls_enable(void)
{
	static const CUpti_CallbackId resources[] = {
		CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED,
		CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};
	CUptiResult r = CUPTI_SUCCESS;
	for (size_t i = 0; r == CUPTI_SUCCESS && i < sizeof resources / sizeof *resources; i++)
		r = enable(CUPTI_CB_DOMAIN_RESOURCE, resources[i]);
	if (r == CUPTI_SUCCESS && (nv.options.pc != NV_PC_OFF || nv_counters_are_on()))
		r = enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	for (CUpti_CallbackId id = 1; r == CUPTI_SUCCESS && id < NV_MAX_CALLS; id++)
		r = enable_call(id);
	return r;
}
