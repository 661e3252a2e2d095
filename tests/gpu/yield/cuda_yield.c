/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses CUDA and has a profiler of its own, which calls CUPTI as the one of PyTorch
 * does: it subscribes once, and for each window registers its buffers, enables kinds of records,
 * disables them, and then flushes by force. By its first argument:
 *
 *     windows       kernels and copies before, in, between and after two windows. `flight` beside
 *         it: a window begins while earlier kernels run; `finalize`: the profiler ends its
 *         subscription and CUPTI after each window; `stopped`: the program stops its measurement
 *         before the first window and in the second, and starts it after each
 *     threads       four threads launch while the main one opens and closes windows
 *     left          the program ends in a window
 *     callbacks     the profiler gets callbacks of all calls of the run time and the driver, then
 *         none, then those of one call; it unsubscribes, and subscribes again
 *     whole         the profiler has records from before CUDA starts until the end
 *
 * Further words: `local`: CUPTI is opened so that its names are nobody else's, and its functions
 * are found in it; `early`: the profiler subscribes before CUDA starts.
 *
 * What it counts is what a tool has to find, and "unseen" what was asked for in windows. What its
 * profiler saw is a "result": it is the same with a tool that steps aside.
 */
#include "tests/gpu/cuda_work.h"
#include "hpcrun-lite/api/hpctoolkit.h"

#include <cupti.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)1 << 20)
#define CUPTI_FUNCTIONS(F) \
	F(cuptiSubscribe) F(cuptiUnsubscribe) F(cuptiFinalize) F(cuptiEnableCallback) \
	F(cuptiEnableDomain) F(cuptiGetCallbackState) F(cuptiActivityRegisterCallbacks) \
	F(cuptiActivityRegisterTimestampCallback) F(cuptiActivitySetAttribute) \
	F(cuptiActivityEnable) F(cuptiActivityDisable) F(cuptiActivityFlushAll) \
	F(cuptiActivityGetNextRecord)
#define CUPTI_FIELD(name) __typeof__(&name) name;

static struct {
	CUPTI_FUNCTIONS(CUPTI_FIELD)
} cupti;

static CUpti_SubscriberHandle subscriber;
static atomic_ulong n_kernels, n_copies, n_late;
static atomic_ulong n_entered, n_left, n_mixed, n_launches; /* in callbacks of calls */
static atomic_ulong n_unseen; /* launches in windows */
static uint64_t window_begin_ns;
static CUstream stream;
static bool is_flight, is_subscribed, is_local, is_early;

/* By name in the global scope, as a linked program finds them; or as one that opens it does. */
static void open_cupti(void)
{
	const char *file = getenv("CUPTI_FILE");
	int how = is_local ? RTLD_LOCAL | RTLD_DEEPBIND : RTLD_GLOBAL;
	void *library = dlopen(file ? file : "libcupti.so.13", RTLD_NOW | how);
	if (!library) {
		printf("no CUPTI: %s\n", dlerror());
		exit(77);
	}
#define FIND(name) \
	{ \
		void *symbol = dlsym(is_local ? library : RTLD_DEFAULT, #name); \
		memcpy(&cupti.name, &symbol, sizeof symbol); \
	}
	CUPTI_FUNCTIONS(FIND)
}

static bool good(const char *call, CUptiResult r)
{
	if (r != CUPTI_SUCCESS)
		printf("profiler: %s: %d\n", call, (int)r);
	return r == CUPTI_SUCCESS;
}
#define GOOD(call) good(#call, (call))

/* Not the clock of a tool. */
static uint64_t CUPTIAPI own_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*most = 0;
}

static void CUPTIAPI complete(CUcontext context, uint32_t id, uint8_t *buffer, size_t bytes,
			      size_t valid_bytes)
{
	CUpti_Activity *r = NULL;
	(void)context, (void)id, (void)bytes;
	while (valid_bytes &&
	       cupti.cuptiActivityGetNextRecord(buffer, valid_bytes, &r) == CUPTI_SUCCESS) {
		uint64_t start = 0;
		if (r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			start = ((CUpti_ActivityKernel9 *)r)->start;
			n_kernels++;
		} else if (r->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
			start = ((CUpti_ActivityMemcpy5 *)r)->start;
			n_copies++;
		}
		n_late += start < window_begin_ns || start > own_time();
	}
	free(buffer);
}

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    const void *data)
{
	const CUpti_CallbackData *d = data;
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API)
		return;
	uint64_t word = (uint64_t)d->correlationId << 32 | (uint64_t)domain << 16 | id;
	n_mixed += user != &subscriber;
	if (d->callbackSite == CUPTI_API_ENTER) {
		n_mixed += *d->correlationData != 0;
		*d->correlationData = word;
		n_entered++;
		n_launches += domain == CUPTI_CB_DOMAIN_DRIVER_API &&
			      id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
	} else {
		n_mixed += *d->correlationData != word;
		n_left++;
	}
}

/* As PyTorch 2.11, the profiler does without the device if it cannot subscribe. */
static void subscribe(void)
{
	if (is_subscribed)
		return;
	is_subscribed = GOOD(cupti.cuptiSubscribe(&subscriber, called, &subscriber));
	if (is_subscribed)
		GOOD(cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
					       CUPTI_CBID_RESOURCE_CONTEXT_CREATED));
	if (is_subscribed)
		GOOD(cupti.cuptiActivityRegisterTimestampCallback(own_time));
}

static void window_begin(void)
{
	uint8_t off = 0;
	size_t bytes = sizeof off;
	window_begin_ns = own_time();
	if (!is_subscribed)
		return;
	GOOD(cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &bytes,
					     &off));
	GOOD(cupti.cuptiActivityRegisterCallbacks(request, complete));
	GOOD(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	GOOD(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

static void window_end(void)
{
	if (!is_subscribed)
		return;
	GOOD(cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY));
	GOOD(cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	GOOD(cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

/* ---- what is asked for ---- */

enum whose { OURS, THEIRS, NOBODYS };

static void settle(enum whose whose)
{
	MUST(cuda.cuCtxSynchronize());
	cuda_count(TRUTH_SYNC, whose != NOBODYS);
}

/*
 * 12 kernels (2 of them long), an asynchronous copy, an allocation and its release. A tool needs no
 * records of the device for the last two.
 */
static void work(enum whose whose)
{
	CUdeviceptr p;
	char bytes[64] = "";
	uint64_t ns = 3000000;
	void *arguments[] = {&ns};
	MUST(cuda.cuMemAlloc_v2(&p, 4096));
	for (int i = 0; i < 10; i++)
		MUST(cuda.cuLaunchKernel(cuda_empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	MUST(cuda.cuMemcpyHtoDAsync_v2(p, bytes, sizeof bytes, stream));
	for (int i = 0; i < 2; i++)
		MUST(cuda.cuLaunchKernel(cuda_spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
	if (whose != OURS || !is_flight)
		settle(whose);
	MUST(cuda.cuMemFree_v2(p));
	n_unseen += whose == THEIRS ? 13 : 0;
	cuda_count(TRUTH_KERNEL, whose == OURS ? 12 : 0);
	cuda_count(TRUTH_COPY, whose == OURS);
	cuda_count(TRUTH_ALLOC, whose != NOBODYS);
	cuda_count(TRUTH_FREE, whose != NOBODYS);
}

static void result(const char *name)
{
	printf("result %s: kernels %lu copies %lu outside %lu\n", name, n_kernels, n_copies,
	       n_late);
	n_kernels = n_copies = n_late = 0;
}

static void windows(const char *how)
{
	bool is_stopped = !strcmp(how, "stopped"), is_final = !strcmp(how, "finalize");
	subscribe();
	work(OURS);
	for (int i = 0; i < 2; i++) {
		if (is_stopped && i == 0)
			hpctoolkit_sampling_stop();
		window_begin();
		if (is_stopped && i == 1)
			hpctoolkit_sampling_stop();
		work(is_stopped ? NOBODYS : THEIRS);
		window_end();
		result(i ? "second" : "first");
		if (is_stopped)
			hpctoolkit_sampling_start();
		if (is_final) {
			GOOD(cupti.cuptiUnsubscribe(subscriber));
			GOOD(cupti.cuptiFinalize());
			is_subscribed = false;
		}
		work(OURS);
		if (is_final && i == 0)
			subscribe();
	}
	settle(OURS);
}

static void left(void)
{
	subscribe();
	work(OURS);
	settle(OURS);
	window_begin();
	work(THEIRS);
}

static void called_result(const char *name, CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	uint32_t on = 2;
	GOOD(cupti.cuptiGetCallbackState(&on, subscriber, d, id));
	printf("result %s: launches %lu, left without entry %ld, mixed up %lu, enabled %u\n", name,
	       n_launches, (long)(n_left - n_entered), n_mixed, on);
	n_launches = n_entered = n_left = n_mixed = 0;
}

static void callbacks(void)
{
	const CUpti_CallbackDomain driver = CUPTI_CB_DOMAIN_DRIVER_API;
	const CUpti_CallbackId launch = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
	subscribe();
	work(OURS);
	called_result("before", driver, launch);
	GOOD(cupti.cuptiEnableDomain(1, subscriber, driver));
	GOOD(cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	work(OURS);
	called_result("domains", driver, launch);
	GOOD(cupti.cuptiEnableDomain(0, subscriber, driver));
	GOOD(cupti.cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
	work(OURS);
	called_result("none", driver, launch);
	GOOD(cupti.cuptiEnableCallback(1, subscriber, driver, launch));
	work(OURS);
	called_result("one", driver, launch);
	GOOD(cupti.cuptiUnsubscribe(subscriber));
	is_subscribed = false;
	work(OURS);
	subscribe();
	called_result("again", driver, launch);
	GOOD(cupti.cuptiEnableCallback(1, subscriber, driver, launch));
	window_begin();
	work(THEIRS);
	window_end();
	called_result("window", driver, launch);
	result("window");
	GOOD(cupti.cuptiUnsubscribe(subscriber));
	settle(OURS);
}

static void whole(void)
{
	subscribe();
	work(THEIRS);
	settle(OURS);
	window_end();
	result("whole");
	settle(OURS);
}

static void threads(void)
{
	subscribe();
	cuda_launchers_start();
	for (int i = 0; i < 30; i++) {
		usleep(3000);
		window_begin();
		usleep(3000);
		window_end();
	}
	const unsigned long n = cuda_launchers_end();
	printf("all %lu theirs %lu\n", n, n_kernels);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "windows", *how = "";
	for (int i = 2; i < argc; i++) {
		is_flight = is_flight || !strcmp(argv[i], "flight");
		is_local = is_local || !strcmp(argv[i], "local");
		is_early = is_early || !strcmp(argv[i], "early");
		how = !strcmp(argv[i], "local") || !strcmp(argv[i], "early") ? how : argv[i];
	}
	is_early = is_early || !strcmp(way, "whole");
	if (!is_early)
		cuda_open();
	open_cupti();
	if (is_early)
		subscribe();
	if (!strcmp(way, "whole"))
		window_begin();
	if (is_early)
		cuda_open();
	MUST(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	if (!strcmp(way, "threads"))
		threads();
	else if (!strcmp(way, "left"))
		left();
	else if (!strcmp(way, "callbacks"))
		callbacks();
	else if (!strcmp(way, "whole"))
		whole();
	else
		windows(how);
	printf("unseen %lu\n", n_unseen);
	cuda_report();
	return 0;
}
