/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer that makes faults; see fault.h. The player runs one thread at a time, so no lock is
 * needed. */
#include "tests/replay/fault.h"

#include "hpcrun-lite/replay/player.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
#define MAX_NUMBER UINT64_C(1000000000000)
#define MAX_CONTEXTS 16u
/* A call of a driver that is newer than the back end, and one above NV_MAX_CALLS. */
#define NEW_CALL 1400u
#define NEW_CALL_NAME "cuLaunchSomethingNew_v9"
#define FAR_CALL 70000u

enum fault_kind {
	FAULT_DROPPED_BUFFERS,
	FAULT_LOST_RECORD,
	FAULT_WRAP,
	FAULT_CLOCK_STEP,
	FAULT_OUT_OF_MEMORY,
	FAULT_BUFFER_FULL,
	FAULT_UNKNOWN_CALL,
	FAULT_EARLY_UNLOAD,
	FAULT_OUT_OF_ORDER,
	FAULT_SUBSCRIBER,
	FAULT_N
};

static struct {
	bool is_on;
	uint64_t number; /* after the ':' */
	uint64_t count;  /* how often its place was passed */
} faults[FAULT_N];
static uint32_t first_id; /* smallest correlation id of the recording */
static size_t n_dropped;  /* records that the back end has not been told about */

/* The player's functions, and the back end's. */
static struct nv_library next;
static struct {
	CUpti_CallbackFunc callback;
	CUpti_BuffersCallbackCompleteFunc complete;
} back_end;

static const struct kind {
	const char *name;
	uint64_t number;    /* default */
	const char *about;
} kinds[FAULT_N] = {
	[FAULT_DROPPED_BUFFERS] =
		{"dropped-buffers", 1,
		 "every N-th buffer of records is dropped, and CUPTI says how many were in it"},
	[FAULT_LOST_RECORD] = {"lost-record", 10,
			       "every N-th record is lost, and CUPTI does not say so"},
	[FAULT_WRAP] = {"wrap", 10, "correlation ids wrap around at 2^32 after the first N"},
	[FAULT_CLOCK_STEP] = {"clock-step", 1000,
			      "the device's clock jumps back by N ms in the middle"},
	[FAULT_OUT_OF_MEMORY] = {"out-of-memory", 2,
				 "the N-th request for PC samples fails with OUT_OF_MEMORY"},
	[FAULT_BUFFER_FULL] = {"buffer-full", 2, "... comes back with the hardware buffer full"},
	[FAULT_UNKNOWN_CALL] =
		{"unknown-call", 5,
		 "a call of a newer driver precedes every N-th call"},
	[FAULT_EARLY_UNLOAD] = {"early-unload", 1,
				"every N-th module is unloaded before it can be copied"},
	[FAULT_OUT_OF_ORDER] = {"out-of-order", 1,
				"the records of every N-th buffer come in reverse"},
	[FAULT_SUBSCRIBER] = {"subscriber", 1, "another tool uses CUPTI"},
};

bool fault_parse(const char *text)
{
	size_t n = strcspn(text, ":");
	for (unsigned k = 0; k < FAULT_N; k++) {
		if (strlen(kinds[k].name) != n || strncmp(kinds[k].name, text, n) != 0)
			continue;
		char *end = NULL;
		errno = 0;
		uint64_t number = text[n] && text[n + 1] >= '0' && text[n + 1] <= '9'
					  ? strtoull(text + n + 1, &end, 10)
					  : kinds[k].number;
		if ((text[n] && (!end || *end)) || errno || !number || number > MAX_NUMBER)
			return false;
		faults[k].is_on = true;
		faults[k].number = number;
		return true;
	}
	return false;
}

const char *fault_help(void)
{
	static char text[2048];
	size_t n = 0;
	for (unsigned k = 0; k < FAULT_N && n < sizeof text; k++)
		n += (size_t)snprintf(text + n, sizeof text - n, "  %s:%llu: %s\n",
				      kinds[k].name, (unsigned long long)kinds[k].number,
				      kinds[k].about);
	return text;
}

/* Returns true every n-th time it is asked, n being the fault's number. */
static bool now(enum fault_kind kind)
{
	return faults[kind].is_on && ++faults[kind].count % faults[kind].number == 0;
}

/* Returns true the n-th time only. */
static bool once(enum fault_kind kind)
{
	return now(kind) && faults[kind].count == faults[kind].number;
}

/* The correlation id that the back end gets. */
static uint32_t correlation_of(uint32_t id)
{
	const uint32_t n = (uint32_t)faults[FAULT_WRAP].number;
	return faults[FAULT_WRAP].is_on ? id - first_id - n : id;
}

/* ---- records ---- */

struct fields {
	uint32_t *correlation;
	uint64_t *start, *end;
};

static struct fields fields_of(void *record)
{
	CUpti_ActivityKernel10 *k = record;
	CUpti_ActivityMemcpy6 *c = record;
	CUpti_ActivityMemcpyPtoP4 *p = record;
	CUpti_ActivityMemset4 *s = record;
	switch (((CUpti_Activity *)record)->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return (struct fields){&k->correlationId, &k->start, &k->end};
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return (struct fields){&c->correlationId, &c->start, &c->end};
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return (struct fields){&p->correlationId, &p->start, &p->end};
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return (struct fields){&s->correlationId, &s->start, &s->end};
	default:
		return (struct fields){NULL, NULL, NULL};
	}
}

static void step_back(uint64_t *ns, uint64_t middle_ns, uint64_t by_ns)
{
	if (*ns > middle_ns)
		*ns = *ns > by_ns ? *ns - by_ns : 1;
}

/* Returns false if the record does not come. */
static bool change_record(void *record, uint64_t middle_ns)
{
	struct fields r = fields_of(record);
	if (!r.correlation)
		return true;
	*r.correlation = correlation_of(*r.correlation);
	if (faults[FAULT_CLOCK_STEP].is_on) {
		step_back(r.start, middle_ns, faults[FAULT_CLOCK_STEP].number * NS_PER_MS);
		step_back(r.end, middle_ns, faults[FAULT_CLOCK_STEP].number * NS_PER_MS);
	}
	return !now(FAULT_LOST_RECORD);
}

static void reverse(CUpti_Activity **record, uint32_t n)
{
	for (uint32_t i = 0; i < n / 2; i++) {
		CUpti_Activity *kept = record[i];
		record[i] = record[n - 1 - i];
		record[n - 1 - i] = kept;
	}
}

/* Changes the records, in place. Returns how many of them come. */
static uint32_t change_records(CUpti_Activity **record, uint32_t n)
{
	const struct tape *t = &player.tape;
	uint64_t middle_ns =
		t->event[0].head->time_ns / 2 + t->event[t->n_events - 1].head->time_ns / 2;
	uint32_t kept = 0;
	if (n && now(FAULT_DROPPED_BUFFERS)) {
		n_dropped += n;
		return 0;
	}
	for (uint32_t i = 0; i < n; i++)
		if (change_record(record[i], middle_ns))
			record[kept++] = record[i];
	if (now(FAULT_OUT_OF_ORDER))
		reverse(record, kept);
	return kept;
}

/* The buffer that the back end reads now, in this thread. */
static __thread struct {
	CUpti_Activity **record;
	uint32_t n, at;
} reading;

static uint32_t list_records(uint8_t *buffer, size_t valid_bytes, CUpti_Activity **list)
{
	CUpti_Activity *record = NULL;
	uint32_t n = 0;
	while (valid_bytes &&
	       next.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
		if (list)
			list[n] = record;
		n++;
	}
	return n;
}

static void CUPTIAPI on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid_bytes)
{
	uint32_t n = list_records(buffer, valid_bytes, NULL);
	reading.record = calloc((size_t)n + 1, sizeof(CUpti_Activity *));
	reading.at = reading.n = 0;
	if (!reading.record)
		return;
	list_records(buffer, valid_bytes, reading.record);
	reading.n = change_records(reading.record, n);
	back_end.complete(context, stream, buffer, bytes, reading.n ? valid_bytes : 0);
	free(reading.record);
}

static CUptiResult CUPTIAPI get_next_record(uint8_t *buffer, size_t valid_bytes,
					    CUpti_Activity **record)
{
	(void)buffer;
	(void)valid_bytes;
	if (reading.at == reading.n)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = reading.record[reading.at++];
	return CUPTI_SUCCESS;
}

static CUptiResult CUPTIAPI get_num_dropped(CUcontext context, uint32_t stream, size_t *n)
{
	CUptiResult result = next.cuptiActivityGetNumDroppedRecords(context, stream, n);
	*n += n_dropped;
	n_dropped = 0;
	return result;
}

static CUptiResult CUPTIAPI register_callbacks(CUpti_BuffersCallbackRequestFunc request,
					       CUpti_BuffersCallbackCompleteFunc complete)
{
	back_end.complete = complete;
	return next.cuptiActivityRegisterCallbacks(request, on_complete);
}

/* ---- calls ---- */

static void unknown_calls(void *user, const CUpti_CallbackData *d)
{
	static const uint32_t ids[] = {NEW_CALL, FAR_CALL};
	static uint32_t n_calls;
	CUresult result = CUDA_SUCCESS;
	uint64_t arguments[16] = {0}, left = 0;
	CUpti_CallbackData data = {
		.functionName = NEW_CALL_NAME,
		.functionParams = arguments,
		.functionReturnValue = &result,
		.symbolName = "something_new",
		.context = d->context,
		.correlationData = &left,
		.correlationId =
			correlation_of(d->correlationId + UINT32_C(0x10000000) + n_calls++)};
	for (unsigned i = 0; i < 2; i++)
		for (unsigned site = CUPTI_API_ENTER; site <= CUPTI_API_EXIT; site++) {
			data.callbackSite = (CUpti_ApiCallbackSite)site;
			back_end.callback(user, CUPTI_CB_DOMAIN_DRIVER_API, ids[i], &data);
		}
}

static void on_driver(void *user, CUpti_CallbackId id, const CUpti_CallbackData *d)
{
	CUpti_CallbackData data = *d;
	if (d->callbackSite == CUPTI_API_ENTER && now(FAULT_UNKNOWN_CALL))
		unknown_calls(user, d);
	data.correlationId = correlation_of(d->correlationId);
	back_end.callback(user, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

/* The module is unloaded before anybody can copy it. */
static void lose_module(void *user, const CUpti_ResourceData *r)
{
	CUpti_ModuleResourceData module = *(const CUpti_ModuleResourceData *)r->resourceDescriptor;
	CUpti_ResourceData data = *r;
	module.pCubin = NULL;
	module.cubinSize = 0;
	data.resourceDescriptor = &module;
	back_end.callback(user, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
	back_end.callback(user, CUPTI_CB_DOMAIN_RESOURCE,
			  CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &data);
}

static void CUPTIAPI on_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
				 const void *data)
{
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		on_driver(user, id, data);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED &&
		 now(FAULT_EARLY_UNLOAD))
		lose_module(user, data);
	else
		back_end.callback(user, domain, id, data);
}

static CUptiResult CUPTIAPI subscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user,
				      CUpti_SubscriberParams *p)
{
	back_end.callback = f;
	CUptiResult result = next.cuptiSubscribe_v2(s, on_callback, user, p);
	if (!faults[FAULT_SUBSCRIBER].is_on)
		return result;
	next.cuptiUnsubscribe(*s);
	snprintf(p->oldSubscriberName, p->oldSubscriberSize, "%s", "a tool that was put in");
	return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

static CUptiResult CUPTIAPI get_callback_name(CUpti_CallbackDomain domain, uint32_t id,
					      const char **name)
{
	bool is_new = faults[FAULT_UNKNOWN_CALL].is_on && domain == CUPTI_CB_DOMAIN_DRIVER_API &&
		      id == NEW_CALL;
	if (!is_new)
		return next.cuptiGetCallbackName(domain, id, name);
	*name = NEW_CALL_NAME;
	return CUPTI_SUCCESS;
}

/* ---- PC samples ---- */

/* The buffers that cuptiPCSamplingDisable fills, by context. */
static struct {
	CUcontext context;
	CUpti_PCSamplingData *data;
} last_samples[MAX_CONTEXTS];

static void change_samples(CUpti_PCSamplingData *d)
{
	for (size_t i = 0; i < d->totalNumPcs; i++)
		if (d->pPcData[i].correlationId)
			d->pPcData[i].correlationId = correlation_of(d->pPcData[i].correlationId);
}

static void clear_samples(CUpti_PCSamplingData *d)
{
	d->totalSamples = d->droppedSamples = d->nonUsrKernelsTotalSamples = d->rangeId = 0;
	d->totalNumPcs = d->remainingNumPcs = 0;
	d->hardwareBufferFull = 0;
}

static CUptiResult CUPTIAPI pc_get_data(CUpti_PCSamplingGetDataParams *p)
{
	CUptiResult result = next.cuptiPCSamplingGetData(p);
	CUpti_PCSamplingData *d = p->pcSamplingData;
	bool is_out_of_memory = once(FAULT_OUT_OF_MEMORY),
	     is_full = !is_out_of_memory && once(FAULT_BUFFER_FULL);
	if (is_out_of_memory || is_full)
		clear_samples(d);
	if (is_full)
		d->hardwareBufferFull = 1;
	change_samples(d);
	return is_out_of_memory ? CUPTI_ERROR_OUT_OF_MEMORY : result;
}

static CUptiResult CUPTIAPI pc_set_configuration(CUpti_PCSamplingConfigurationInfoParams *p)
{
	unsigned n = 0;
	while (n < MAX_CONTEXTS - 1 && last_samples[n].context && last_samples[n].context != p->ctx)
		n++;
	for (size_t i = 0; i < p->numAttributes; i++) {
		const CUpti_PCSamplingConfigurationInfo *a = &p->pPCSamplingConfigurationInfo[i];
		if (a->attributeType !=
		    CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
			continue;
		last_samples[n].context = p->ctx;
		last_samples[n].data = a->attributeData.samplingDataBufferData.samplingDataBuffer;
	}
	return next.cuptiPCSamplingSetConfigurationAttribute(p);
}

static CUptiResult CUPTIAPI pc_disable(CUpti_PCSamplingDisableParams *p)
{
	CUptiResult result = next.cuptiPCSamplingDisable(p);
	for (unsigned i = 0; i < MAX_CONTEXTS; i++)
		if (last_samples[i].data && last_samples[i].context == p->ctx)
			change_samples(last_samples[i].data);
	return result;
}

/* ---- all ---- */

static void find_first_id(void)
{
	first_id = UINT32_MAX;
	for (uint32_t i = 0; i < player.tape.n_events; i++) {
		const struct tape_event *e = &player.tape.event[i];
		const struct recording_driver *d = (const void *)e->head;
		if (tape_is_enter(e, RECORDING_DRIVER) && d->correlation < first_id)
			first_id = d->correlation;
	}
}

void fault_library(struct nv_library *l)
{
	find_first_id();
	next = *l;
	l->cuptiSubscribe_v2 = subscribe;
	l->cuptiGetCallbackName = get_callback_name;
	l->cuptiActivityRegisterCallbacks = register_callbacks;
	l->cuptiActivityGetNextRecord = get_next_record;
	l->cuptiActivityGetNumDroppedRecords = get_num_dropped;
	l->cuptiPCSamplingGetData = pc_get_data;
	l->cuptiPCSamplingSetConfigurationAttribute = pc_set_configuration;
	l->cuptiPCSamplingDisable = pc_disable;
}
