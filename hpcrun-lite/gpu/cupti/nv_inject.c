/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entrance: the CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls
 * InitializeInjection inside cuInit. If something fails, a note says so and the program goes on
 * without us. Tests: tests/unit/cupti/test_cupti.c, tests/cli/gpu/cupti_trace.sh.
 *
 * The order matters. What CUPTI records is set before CUPTI is asked to call us. Records of kernels
 * are enabled before PC sampling, which would refuse them.
 */
#include "common/safe/clock.h"
#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))
#define VARIABLE "CUDA_INJECTION64_PATH"
#define TEXT_BYTES 512u

struct nv_state nv;
static _Atomic bool was_called;

/* 0 is also the generation of a child that could not be measured. */
bool nv_is_here(void)
{
	uint32_t now = nv.host->generation(nv.host);
	return now == nv.generation || (now == 0 && nv.pid == sys_getpid());
}

void nv_note(const char *a, const char *b, const char *c)
{
	char line[2 * TEXT_BYTES];
	struct text t = text_in(line, sizeof line);
	text_put(&t, "gpu=nvidia: ");
	text_put(&t, a);
	text_put(&t, b);
	text_put(&t, c);
	nv.host->note(nv.host, line);
}

const char *nv_result_name(CUptiResult r)
{
	const char *name = NULL;
	return nv.lib.cuptiGetResultString(r, &name) == CUPTI_SUCCESS && name ? name
									      : "unknown error";
}

/* ---- what is asked of CUPTI ---- */

static uint64_t CUPTIAPI now(void)
{
	return clock_mono_ns();
}

static bool subscribe(void)
{
	char other[TEXT_BYTES] = "";
	CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
					 .subscriberName = "hpctoolkit-lite",
					 .oldSubscriberName = other,
					 .oldSubscriberSize = sizeof other};
	CUptiResult r = nv.lib.cuptiSubscribe_v2(&nv.subscriber, nv_callback, NULL, &params);
	if (r == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		nv_note("another tool uses CUPTI, which supports only one: ",
			other[0] ? other : "its name is unknown", "; only the CPU is measured");
	else if (r != CUPTI_SUCCESS)
		nv_note("CUPTI refuses a subscription: ", nv_result_name(r),
			"; only the CPU is measured");
	return r == CUPTI_SUCCESS;
}

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

/*
 * Something could not be enabled. Records without launches, or launches without records, are
 * useless.
 */
static void leave(void)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (is_wanted(&kinds[i]))
			nv.lib.cuptiActivityDisable(kinds[i].kind);
	nv.options.pc = NV_PC_OFF;
	nv.lib.cuptiUnsubscribe(nv.subscriber);
}

static bool enable_records(void)
{
	CUptiResult r =
		nv.lib.cuptiActivityRegisterCallbacks(nv_buffer_request, nv_buffer_complete);
	if (r == CUPTI_SUCCESS)
		r = nv.lib.cuptiActivityRegisterTimestampCallback(now);
	if (r == CUPTI_SUCCESS && nv.options.latency)
		r = nv.lib.cuptiActivityEnableLatencyTimestamps(1);
	for (size_t i = 0; r == CUPTI_SUCCESS && i < sizeof kinds / sizeof *kinds; i++)
		if (is_wanted(&kinds[i]))
			r = nv.lib.cuptiActivityEnable(kinds[i].kind);
	if (r != CUPTI_SUCCESS)
		nv_note("CUPTI cannot enable its records: ", nv_result_name(r),
			"; only the CPU is measured");
	return r == CUPTI_SUCCESS;
}

CUptiResult nv_records_switch(bool on)
{
	CUptiResult first = CUPTI_SUCCESS;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		/* functions: of modules that are loaded meanwhile */
		if (!kinds[i].with_times || !is_wanted(&kinds[i]))
			continue;
		CUptiResult r = on ? nv.lib.cuptiActivityEnable(kinds[i].kind)
				   : nv.lib.cuptiActivityDisable(kinds[i].kind);
		first = first == CUPTI_SUCCESS ? r : first;
	}
	return first;
}

/*
 * Calls that load, and that begin or end a capture, stay enabled: we need them later and they are
 * few.
 */
void nv_calls_switch(bool on)
{
	for (CUpti_CallbackId id = 1; id < NV_MAX_CALLS; id++)
		if (nv.calls[id].kind)
			nv.lib.cuptiEnableCallback(on, nv.subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
						   id);
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
	nv.calls[id] = nv_call_of(name);
	if (nv.calls[id].is_new)
		nv_note("this version of CUPTI has an unknown call, ", name,
			"; it is treated like the known call whose name is similar");
	return nv.calls[id].kind || nv.calls[id].form ? enable(CUPTI_CB_DOMAIN_DRIVER_API, id)
						      : CUPTI_SUCCESS;
}

/* Enables calls one by one, because a whole domain would cost time at every API call. */
static bool enable_calls(void)
{
	static const CUpti_CallbackId resources[] = {
		CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED,
		CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};
	CUptiResult r = CUPTI_SUCCESS;
	for (size_t i = 0; r == CUPTI_SUCCESS && i < sizeof resources / sizeof *resources; i++)
		r = enable(CUPTI_CB_DOMAIN_RESOURCE, resources[i]);
	if (r == CUPTI_SUCCESS && nv.options.pc != NV_PC_OFF)
		r = enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	for (CUpti_CallbackId id = 1; r == CUPTI_SUCCESS && id < NV_MAX_CALLS; id++)
		r = enable_call(id);
	if (r != CUPTI_SUCCESS)
		nv_note("CUPTI cannot enable its callbacks: ", nv_result_name(r),
			"; only the CPU is measured");
	return r == CUPTI_SUCCESS;
}

static void thread_ends(void)
{
	nv_pc_gate_thread_ends();
	nv_switch_thread_ends();
	nv_tape_thread_ends();
}

/* ---- coming in ---- */

static void prepare(void)
{
	nv.generation = nv.host->generation(nv.host);
	nv.pid = sys_getpid();
	atomic_store_explicit(&nv.unfinished, MSR_GPU_LOSS_NO_TIMES, memory_order_relaxed);
	pthread_mutex_init(&nv.flush_lock, NULL);
	pthread_mutex_init(&nv.define_lock, NULL);
	pthread_mutex_init(&nv.graph_lock, NULL);
	sem_init(&nv.wake, 0, 0);
	nv_map_init(&nv.contexts, NV_MAX_QUEUES);
	nv_map_init(&nv.queues, NV_MAX_QUEUES);
	nv_map_init(&nv.contents, NV_MAX_NAMES);
	nv_map_init(&nv.on_devices, NV_MAX_NAMES);
	nv_map_init(&nv.names, NV_MAX_NAMES);
	nv_map_init(&nv.kernels, NV_MAX_NAMES);
	nv_map_init(&nv.handles, NV_MAX_NAMES);
	nv_map_init(&nv.launches, NV_MAX_LAUNCHES);
	nv_map_init(&nv.graphs, NV_MAX_LAUNCHES);
	nv_map_init(&nv.allocations, NV_MAX_ALLOCATIONS);
}

static bool open_library(void)
{
	char why[TEXT_BYTES], preferred[4096];
	if (!nv_options_read(nv.host->options(nv.host), &nv.options, why, sizeof why))
		nv_note(why, "; its options are ignored", ""); /* the launcher lets none through */
	nv_library_preferred(nv.host->options(nv.host), preferred, sizeof preferred);
	bool good = nv_library_open(&nv.lib, preferred, false, why, sizeof why);
	if (good)
		nv_tape_start(&nv.lib);
	else
		nv_note(why, "; only the CPU is measured", "");
	return good;
}

/* The caller has blocked signals and suspended samples, because threads of CUPTI inherit both. */
static bool start(void)
{
	const char *theirs = getenv(VARIABLE);
	if (theirs && *theirs && !nv_library_stand_in)
		nv_note(VARIABLE " names ", theirs,
			", which is not loaded: the driver loads only one library, and that is "
			"ours");
	if (!open_library() || !subscribe())
		return false;
	/* Frames of the driver and of CUPTI between a call and us have no meaning for the user. */
	nv.host->entered(nv.host, NULL, nv.lib.cupti_text);
	nv.host->entered(nv.host, NULL, nv.lib.driver_text);
	if (nv.options.pc != NV_PC_OFF && !nv_pc_start())
		nv.options = (struct nv_options){.pc = NV_PC_OFF};
	bool good = enable_records();
	if (good && !nv_flush_start()) {
		nv_note("cannot start the thread that asks CUPTI for records",
			"; only the CPU is measured", "");
		good = false;
	}
	if (good && enable_calls())
		return true;
	leave();
	return false;
}

void nv_come_in(const struct gpu_host *host)
{
	sigset_t all, old;
	nv.host = host;
	prepare();
	nv.host->at_thread_end(nv.host, thread_ends);
	nv.host->entered(nv.host, "CUDA's injection", (const void *)(uintptr_t)InitializeInjection);
	nv.host->suspend(nv.host);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	bool is_in = start();
	nv_tape_ready();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	nv.host->resume(nv.host);
	if (is_in)
		nv_switch_start();
}

VISIBLE int InitializeInjection(void)
{
	int saved = errno;
	void *symbol = dlsym(RTLD_DEFAULT, GPU_HOST_SYMBOL);
	gpu_host_fn *find = (gpu_host_fn *)(uintptr_t)symbol;
	if (!find || atomic_exchange_explicit(&was_called, true, memory_order_acq_rel))
		return 1;
	const struct gpu_host *host = find("nvidia", GPU_HOST_VERSION);
	if (host && host->generation(host))
		nv_come_in(host);
	errno = saved;
	return 1;
}
