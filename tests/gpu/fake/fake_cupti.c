/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUPTI of the driver that does not exist. What it does like NVIDIA's, as seen on an H200
 * (doc/notes/cupti-facts.md): calls tell the tool at enter and exit, with correlation ids and
 * kernel names; buffers are handed out when all in them is complete, by force also before, with
 * times of 0; and a tool that switches callbacks or kinds of records beside other threads' calls
 * loses what these launch from then on. FAKE_CUDA=subscribed, old, dropping: what can go wrong
 * besides. See fake_cuda.c.
 */
#include "tests/gpu/fake/fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RECORDS 1213u /* of 216 bytes: a buffer of 256 KiB is full, as NVIDIA's are */

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
bool fake_has_latency;
static _Atomic uint32_t correlation;
static CUpti_CallbackFunc callback;
static void *callback_user;
static bool enabled[CUPTI_CB_DOMAIN_SIZE][1024];
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc timestamp;
static struct {
	union {
		CUpti_Activity any;
		fake_kernel_record kernel;
		fake_copy_record copy;
		CUpti_ActivityMemcpyPtoP4 peer;
		CUpti_ActivityMemset4 set;
	} u;
	uint64_t end_ns;
} records[MAX_RECORDS];
static unsigned n_records;
static bool kinds[CUPTI_ACTIVITY_KIND_COUNT]; /* which records are made */
static _Atomic uint64_t n_switches; /* of kinds: when one begins and when it has ended */
static _Atomic uint64_t n_told; /* callbacks of calls */
/*
 * What the calling thread has of a tool that switched beside it, for good (doc/notes/cupti-facts.md
 * K). Of the records that has_no_records keeps back NVIDIA's gives some: 0.5 to 23 in 100.
 */
static __thread struct {
	/* of a call of which the tool was told the beginning and not the end: all later ones have
	 * it; 0: none */
	uint32_t id;
	bool has_no_records; /* kinds of records were switched while it was inside of a launch */
} own;
static uint8_t *buffer; /* of the tool's, asked for at the first record that is to go into it */
static size_t buffer_bytes, n_dropped;

bool fake_is(const char *what)
{
	const char *how = getenv("FAKE_CUDA");
	return how && !strcmp(how, what);
}

uint64_t fake_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static size_t size_of(const CUpti_Activity *r)
{
	return r->kind == CUPTI_ACTIVITY_KIND_MEMCPY    ? sizeof(fake_copy_record)
	       : r->kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ? sizeof(CUpti_ActivityMemcpyPtoP4)
	       : r->kind == CUPTI_ACTIVITY_KIND_MEMSET  ? sizeof(CUpti_ActivityMemset4)
							: sizeof(fake_kernel_record);
}

/* And after it the end. */
static uint64_t *start_of(CUpti_Activity *r)
{
	return r->kind == CUPTI_ACTIVITY_KIND_MEMCPY    ? &((fake_copy_record *)r)->start
	       : r->kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ? &((CUpti_ActivityMemcpyPtoP4 *)r)->start
	       : r->kind == CUPTI_ACTIVITY_KIND_MEMSET  ? &((CUpti_ActivityMemset4 *)r)->start
							: &((fake_kernel_record *)r)->start;
}

/* Times are converted to the tool's clock of the moment when records are handed out. */
static void set_times(CUpti_Activity *r, bool is_finished, uint64_t clock_offset)
{
	uint64_t *start = start_of(r);
	for (int i = 0; i < 2; i++)
		start[i] = is_finished ? start[i] + clock_offset : 0;
}

/* Between the tool's clock and ours; 0: it is the same. */
static uint64_t offset_of_clock(void)
{
	uint64_t now = fake_now_ns(), offset = timestamp ? timestamp() - now : 0;
	return offset + 1000000000u < 2000000000u ? 0 : offset;
}

/* All records, in the tool's buffer, when they are complete; or by force. */
static void hand_out(bool by_force)
{
	size_t at = 0;
	uint64_t now = fake_now_ns(), offset = offset_of_clock();
	for (unsigned i = 0; i < n_records && !by_force; i++)
		if (records[i].end_ns > now)
			return; /* an unfinished one holds back the buffer */
	for (unsigned i = 0; i < n_records; i++) {
		size_t n = size_of(&records[i].u.any);
		if (!buffer || at + n > buffer_bytes || fake_is("dropping")) {
			n_dropped++;
			continue;
		}
		set_times(&records[i].u.any, records[i].end_ns <= now, offset);
		memcpy(buffer + at, &records[i].u, n);
		at += n;
	}
	if (n_records)
		complete(NULL, 0, buffer, buffer_bytes, at);
	n_records = 0;
	buffer = NULL;
}

/* Whether there is one is settled by the launch: it comes also when its kind is switched off before
 * it is complete. */
void fake_record(const void *record, size_t bytes, uint64_t end_ns)
{
	if (!kinds[((const CUpti_Activity *)record)->kind] || own.has_no_records)
		return;
	while (n_records == MAX_RECORDS) {
		const struct timespec t = {0, 100000};
		hand_out(false);
		if (!n_records)
			break;
		pthread_mutex_unlock(&fake_lock); /* the tool's thread may flush meanwhile */
		nanosleep(&t, NULL);
		pthread_mutex_lock(&fake_lock);
	}
	if (!request)
		return;
	if (!n_records) {
		size_t most;
		request(&buffer, &buffer_bytes, &most);
#ifdef FAKE_CUPTI_12
		if (!buffer)
			abort();
#endif
	}
	memcpy(&records[n_records].u, record, bytes);
	records[n_records++].end_ns = end_ns;
}

API CUptiResult cuptiGetVersion(uint32_t *v)
{
	*v = fake_is("old") ? 18 : fake_is("12.8") ? 26 : FAKE_CUPTI_VERSION;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiGetResultString(CUptiResult r, const char **s)
{
	*s = r == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR";
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle s)
{
	(void)s;
	callback = NULL;
	memset(enabled, 0, sizeof enabled);
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiFinalize(void)
{
	callback = NULL;
	memset(enabled, 0, sizeof enabled);
	memset(kinds, 0, sizeof kinds);
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc f)
{
	timestamp = f;
	return CUPTI_SUCCESS;
}
static CUptiResult switch_kind(CUpti_ActivityKind k, bool on)
{
	const struct timespec t = {0, 5000}; /* NVIDIA's takes 10 to 36 us for four */
	n_switches++;
	nanosleep(&t, NULL);
	kinds[k] = on;
	n_switches++;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityEnable(CUpti_ActivityKind k)
{
	if (k == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake_pc_is_enabled())
		return CUPTI_ERROR_NOT_COMPATIBLE;
	return switch_kind(k, true);
}
API CUptiResult cuptiActivityDisable(CUpti_ActivityKind k) { return switch_kind(k, false); }
bool fake_has_kernel_records(void) { return kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]; }
API CUptiResult cuptiGetContextId(CUcontext c, uint32_t *id)
{
	*id = fake_device_of(c) + 1;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiGetDeviceId(CUcontext c, uint32_t *id)
{
	*id = fake_device_of(c);
	return CUPTI_SUCCESS;
}

static CUptiResult subscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user)
{
	if (fake_is("subscribed") || callback)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	callback = f;
	callback_user = user;
	*s = (CUpti_SubscriberHandle)&callback;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user)
{
	return subscribe(s, f, user);
}

#ifndef FAKE_CUPTI_12
API CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user,
				  CUpti_SubscriberParams *p)
{
	CUptiResult r = subscribe(s, f, user);
	if (r != CUPTI_SUCCESS && p)
		snprintf(p->oldSubscriberName, p->oldSubscriberSize, "CUPTI for somebody");
	return r;
}
#endif
API CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t on)
{
	fake_has_latency = on;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute a, size_t *bytes, void *value)
{
	(void)a, (void)bytes, (void)value;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d)
{
	(void)s;
	if ((unsigned)d >= CUPTI_CB_DOMAIN_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	memset(enabled[d], (int)on, sizeof enabled[0]);
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiEnableAllDomains(uint32_t on, CUpti_SubscriberHandle s)
{
	(void)s;
	memset(enabled, (int)on, sizeof enabled);
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiGetCallbackState(uint32_t *on, CUpti_SubscriberHandle s,
				      CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	(void)s;
	if ((unsigned)d >= CUPTI_CB_DOMAIN_SIZE || id >= 1024)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*on = enabled[d][id];
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d,
				    CUpti_CallbackId id)
{
	(void)s;
	if ((unsigned)d >= CUPTI_CB_DOMAIN_SIZE || id >= 1024)
		return CUPTI_ERROR_INVALID_PARAMETER;
	enabled[d][id] = on;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc r,
					       CUpti_BuffersCallbackCompleteFunc c)
{
	request = r;
	complete = c;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	pthread_mutex_lock(&fake_lock);
	hand_out(flag != 0);
	pthread_mutex_unlock(&fake_lock);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityGetNextRecord(uint8_t *from, size_t bytes, CUpti_Activity **r)
{
	uint8_t *next = *r ? (uint8_t *)*r + size_of(*r) : from;
	if (next >= from + bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*r = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext c, uint32_t stream, size_t *n)
{
	(void)c, (void)stream;
	*n = n_dropped;
	n_dropped = 0;
	return CUPTI_SUCCESS;
}

#define IDS(F) \
	F(cuModuleLoadData) F(cuModuleGetFunction) F(cuMemAlloc_v2) F(cuMemFree_v2) \
	F(cuMemHostAlloc) F(cuMemFreeHost) F(cuMemAllocAsync) F(cuMemFreeAsync) \
	F(cuStreamSynchronize) F(cuLaunchKernel) F(cuLaunchKernelEx) F(cuMemcpyHtoD_v2) \
	F(cuMemcpyHtoDAsync_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyDtoHAsync_v2) F(cuMemcpyDtoD_v2) \
	F(cuMemsetD8_v2) F(cuMemsetD32Async) F(cuMemcpyPeer) F(cuMemcpyPeerAsync) \
	F(cuEventSynchronize) F(cuStreamBeginCapture_v2) F(cuStreamEndCapture) F(cuGraphLaunch) \
	F(cuCtxSynchronize)

API CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain d, uint32_t id, const char **name)
{
#define NAMED(f) [CUPTI_DRIVER_TRACE_CBID_##f] = #f,
	static const char *const names[] = {IDS(NAMED)};
	if (d != CUPTI_CB_DOMAIN_DRIVER_API || id >= sizeof names / sizeof *names || !names[id])
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = names[id];
	return CUPTI_SUCCESS;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static bool tell(struct call *c, CUpti_ApiCallbackSite site)
{
	c->d.callbackSite = site;
	if (!callback || c->id >= 1024 || !enabled[CUPTI_CB_DOMAIN_DRIVER_API][c->id])
		return false;
	n_told++;
	callback(callback_user, CUPTI_CB_DOMAIN_DRIVER_API, c->id, &c->d);
	return true;
}

/* A kernel is launched by a call of the run time, which calls the driver. */
static void tell_runtime(struct call *c, CUpti_ApiCallbackSite site)
{
	const CUpti_CallbackId id = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
	if (c->id != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel || !callback ||
	    !enabled[CUPTI_CB_DOMAIN_RUNTIME_API][id])
		return;
	CUpti_CallbackData d = c->d;
	d.functionName = "cudaLaunchKernel";
	d.callbackSite = site;
	d.correlationData = &c->runtime_data;
	callback(callback_user, CUPTI_CB_DOMAIN_RUNTIME_API, id, &d);
}

static bool launches(const char *name)
{
	return !strncmp(name, "cuLaunch", 8) || !strcmp(name, "cuGraphLaunch");
}

void fake_enter(struct call *c, CUpti_CallbackId id, const char *name, const void *params,
		const char *symbol)
{
	*c = (struct call){.id = id};
	c->d = (CUpti_CallbackData){.functionName = name,
				    .functionParams = params,
				    .functionReturnValue = &c->result,
				    .symbolName = symbol,
				    .context = fake_context(),
				    .contextUid = fake_device_of(fake_context()) + 1,
				    .correlationId = own.id ? own.id : ++correlation,
				    .correlationData = &c->data};
	tell_runtime(c, CUPTI_API_ENTER);
	c->is_told = tell(c, CUPTI_API_ENTER);
	c->n_switches = n_switches;
	pthread_mutex_lock(&fake_lock);
}

CUresult fake_leave(struct call *c, CUresult r)
{
	if ((c->n_switches != n_switches || c->n_switches % 2) && launches(c->d.functionName))
		own.has_no_records = true;
	pthread_mutex_unlock(&fake_lock);
	c->result = r;
	if (!tell(c, CUPTI_API_EXIT) && c->is_told)
		own.id = c->d.correlationId;
	tell_runtime(c, CUPTI_API_EXIT);
	return r;
}

void fake_resource(CUpti_CallbackId id, void *descriptor)
{
	CUpti_ResourceData r = {.context = fake_context(), .resourceDescriptor = descriptor};
	if (callback && enabled[CUPTI_CB_DOMAIN_RESOURCE][id])
		callback(callback_user, CUPTI_CB_DOMAIN_RESOURCE, id, &r);
}

/* For programs that ask what a tool has left switched on: callbacks of calls that were made, kinds
 * of records of what devices do, whether instructions are sampled. */
void fake_switched_on(uint64_t *n_callbacks, uint64_t *n_kinds, uint64_t *n_sampling);
API void fake_switched_on(uint64_t *n_callbacks, uint64_t *n_kinds, uint64_t *n_sampling)
{
	*n_callbacks = n_told;
	*n_kinds = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		*n_kinds += kinds[k] && k != CUPTI_ACTIVITY_KIND_FUNCTION;
	*n_sampling = fake_pc_is_enabled();
}

/* For programs that kill themselves when a tool has had all: whether there is something that it has
 * not asked for yet. */
bool fake_is_unread(void);
API bool fake_is_unread(void)
{
	pthread_mutex_lock(&fake_lock);
	bool is_unread = n_records != 0;
	pthread_mutex_unlock(&fake_lock);
	return is_unread || fake_pc_is_unread();
}

API CUptiResult cuptiGetGraphNodeId(CUgraphNode n, uint64_t *id)
{
	*id = (uint64_t)(uintptr_t)n;
	return CUPTI_SUCCESS;
}
