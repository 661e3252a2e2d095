/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entrance: the CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls
 * InitializeInjection inside cuInit. If something fails, a note says so and the program goes on
 * without us. Tests: tests/unit/cupti/test_cupti.c, tests/cli/gpu/cupti_trace.sh.
 *
 * The order matters. We set what CUPTI records before we ask CUPTI to call us. We enable records of
 * kernels before PC sampling, because CUPTI refuses them afterwards.
 */
#include "hpcrun-lite/gpu/cupti/counters/nv_counters.h"
#include "hpcrun-lite/gpu/cupti/energy/nv_energy.h"
#include "hpcrun-lite/gpu/cupti/pc/nv_pc.h"
#include "hpcrun-lite/gpu/cupti/tape/nv_tape.h"
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))
#define VARIABLE "CUDA_INJECTION64_PATH"
#define TEXT_BYTES 512u

static _Atomic bool was_called, has_chained;
static bool is_early; /* the program called CUPTI before CUDA started */

/* ---- what CUPTI is asked for ---- */

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
 * Gives up, because something could not be enabled. Records without launches are useless, and so
 * are launches without records.
 */
static void leave(void)
{
	nv_records_disable();
	nv.options.pc = NV_PC_OFF;
	nv.lib.cuptiUnsubscribe(nv.subscriber);
}

static bool enable_records(void)
{
	CUptiResult r =
		nv.lib.cuptiActivityRegisterCallbacks(nv_buffer_request, nv_buffer_complete);
	if (r == CUPTI_SUCCESS)
		r = nv_records_set_clock();
	if (r == CUPTI_SUCCESS && nv.options.latency)
		r = nv.lib.cuptiActivityEnableLatencyTimestamps(1);
	if (r == CUPTI_SUCCESS)
		r = nv_records_enable();
	if (r != CUPTI_SUCCESS)
		nv_note("CUPTI cannot enable its records: ", nv_result_name(r),
			"; only the CPU is measured");
	return r == CUPTI_SUCCESS;
}

static bool enable_calls(void)
{
	CUptiResult r = nv_calls_enable();
	if (r != CUPTI_SUCCESS)
		nv_note("CUPTI cannot enable its callbacks: ", nv_result_name(r),
			"; only the CPU is measured");
	return r == CUPTI_SUCCESS;
}

static void thread_ends(void)
{
	nv_counters_thread_ends();
	nv_pc_gate_thread_ends();
	nv_switch_thread_ends();
	nv_tape_thread_ends();
}

/* ---- coming in ---- */

static bool open_library(void)
{
	char why[TEXT_BYTES], preferred[4096];
	if (!nv_options_read(nv.host->options(nv.host), &nv.options, why, sizeof why))
		nv_note(why, "; its options are ignored", ""); /* the launcher refuses them */
	nv_library_preferred(nv.host->options(nv.host), preferred, sizeof preferred);
	if (!nv_library_open(&nv.lib, preferred, is_early, why, sizeof why)) {
		nv_note(why, "; only the CPU is measured", "");
		return false;
	}
	if (!nv_client_is_first()) {
		nv_note("the program uses another copy of CUPTI than ", nv.lib.path,
			", and two do not work; only the CPU is measured");
		return false;
	}
	nv_version_limit(&nv.options);
	nv_tape_start(&nv.lib);
	return true;
}

/* The caller has blocked signals and suspended samples, because CUPTI's threads inherit both. */
static bool start(void)
{
	if (!open_library() || !subscribe())
		return false;
	/* The frames of the driver and of CUPTI between a call and us mean nothing to users. */
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
	nv_counters_start();
	nv_pc_gate_start();
	if (good && enable_calls()) {
		nv_energy_start();
		return true;
	}
	leave();
	return false;
}

void nv_come_in(const struct gpu_host *host)
{
	sigset_t all, old;
	nv_state_prepare(host);
	nv_trace_prepare();
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
	if (is_in && !nv_library_stand_in)
		nv_client_start();
}

void nv_end_recording(const char *why)
{
	nv_tape_end(why);
}

static void come_in(void)
{
	void *symbol = dlsym(RTLD_DEFAULT, GPU_HOST_SYMBOL);
	gpu_host_fn *find = (gpu_host_fn *)(uintptr_t)symbol;
	if (!find || atomic_exchange_explicit(&was_called, true, memory_order_acq_rel))
		return;
	const struct gpu_host *host = find("nvidia", GPU_HOST_VERSION);
	if (host && host->generation(host)) {
		host->sample_by_timer(host);
		nv_come_in(host);
	}
}

/*
 * The driver loads only one library, ours. We load the library that the user's variable names, and
 * treat its calls of CUPTI like those of a profiler in the program.
 */
static void chain(void)
{
	const char *theirs = getenv(VARIABLE);
	if (!theirs || !*theirs ||
	    atomic_exchange_explicit(&has_chained, true, memory_order_acq_rel))
		return;
	void *library = dlopen(theirs, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
	int (*initialize)(void) = (int (*)(void))(uintptr_t)symbol;
	if (initialize && initialize != InitializeInjection)
		initialize();
	else if (nv.host && !initialize)
		nv_note(VARIABLE " names ", theirs, ", which cannot be loaded");
}

VISIBLE int InitializeInjection(void)
{
	int saved = errno;
	come_in();
	errno = saved;
	chain();
	return 1;
}

/* Starts the back end when a program calls CUPTI before CUDA starts; see front/front.h. */
VISIBLE void hpcrun_lite_cupti_early(void);
void hpcrun_lite_cupti_early(void)
{
	is_early = true;
	come_in();
}
