/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A yardstick: a tool that asks CUPTI for what gpu=nvidia asks it for, and does nothing with it.
 * What a program costs with it is CUPTI's. The driver loads it:
 *
 *     CUDA_INJECTION64_PATH=.../bare_cupti.so BARE_CUPTI=WORD,... PROGRAM
 *
 * BARE_CUPTI_FILE names another copy of CUPTI than the one that is found. Words:
 *
 *     kernel         records of kernels (CONCURRENT_KERNEL), by way of buffers of 256 KiB that are
 *         used again; asked for every 100 ms
 *     serial         of the kind KERNEL instead, which serialises
 *     copies         records of copies and sets too
 *     function       records of functions too
 *     callback       one callback on cuLaunchKernel that does nothing
 *     clocked        it reads the clock when it is entered
 *     calls          callbacks on each call that launches, copies, sets, allocates or waits, one by
 *         one
 *     driver         on the whole driver API
 *     modules=N      on each module that is loaded, with its code; N: on the first N only
 *     graphs         on each node of a graph that is made or cloned
 *     latency        with the times at which launches were queued
 *     clock          with times of CLOCK_MONOTONIC
 *     zeroed         buffers are given zeroed, so that CUPTI need not do it in the program's thread
 *     parsed         each record is looked at
 *     slow=NS        ... for as long, in the thread that CUPTI gives buffers back in
 *     pc=EXP         continuous PC sampling every 2^EXP cycles (19), samples taken out every 100
 *         ms; pc alone: 19
 *     once           nothing is taken out of it before the end
 *     hw=MIB scratch=MIB room=PCS sleep=MS     its hardware buffer (16), scratch buffer, room for
 *         samples (5000), CUPTI's pause; 0: as CUPTI likes
 *     buffer=KIB flush=MS                      of the buffers (256) and between flushes (100; 0:
 *         none)
 *     device=KIB pool=N first=N pinned=N       CUPTI's buffers on the device: size, most of them,
 *         how many at first; in pinned memory
 *     thread=0       one buffer for all threads
 *     memory         prints the resident memory by what is mapped, after each step, and what malloc
 *         has
 *     trim           gives back what malloc has free, after each step
 *
 * At the end "bare" lines on standard error: how many records, buffers and samples came. Not for
 * measuring programs: no fork, no second context. User: tests/gpu/bench.sh.
 */
#include <cupti.h>
#include <cupti_pcsampling.h>

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FUNCTIONS(F) \
	F(cuptiSubscribe) F(cuptiEnableCallback) F(cuptiEnableDomain) F(cuptiGetCallbackName) \
	F(cuptiActivityRegisterCallbacks) F(cuptiActivityRegisterTimestampCallback) \
	F(cuptiActivityEnable) F(cuptiActivityEnableLatencyTimestamps) F(cuptiActivityFlushAll) \
	F(cuptiActivityGetNextRecord) F(cuptiActivityGetNumDroppedRecords) \
	F(cuptiActivitySetAttribute) F(cuptiPCSamplingEnable) F(cuptiPCSamplingDisable) \
	F(cuptiPCSamplingGetData) F(cuptiPCSamplingGetNumStallReasons) \
	F(cuptiPCSamplingGetStallReasons) F(cuptiPCSamplingSetConfigurationAttribute)
#define FIELD(name) static __typeof__(&name) name##_fn;
FUNCTIONS(FIELD)

#define MAX_BUFFERS 1024u
#define MAX_REASONS 64u
#define PCS_PER_CALL 1000u

static uint8_t *free_buffers[MAX_BUFFERS];
static unsigned n_free;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, flush_lock = PTHREAD_MUTEX_INITIALIZER;
static size_t buffer_bytes;
static bool is_zeroed, is_parsed, is_clocked, is_once;
static _Atomic uint64_t n_records, n_bytes, n_dropped, n_buffers, n_made, n_calls, last_ns;
static uint64_t slow_ns;
static uint64_t n_samples, n_outside, n_lost, n_errors;
static CUpti_SubscriberHandle subscriber;
static CUcontext sampled;
static bool is_sampling;
static atomic_long n_modules_left; /* 0: no bound */
static CUpti_PCSamplingData got, left;

/* ---- words ----------------------------------------------------------------------------------- */

/* What stands behind WORD=, or `otherwise` for WORD alone; -1 without it. */
static long word(const char *name, long otherwise)
{
	const char *at = getenv("BARE_CUPTI");
	size_t n = strlen(name);
	for (; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (!strncmp(at, name, n) && (at[n] == '=' || at[n] == ',' || !at[n]))
			return at[n] == '=' ? atol(at + n + 1) : otherwise;
	return -1;
}

static bool has(const char *name)
{
	return word(name, 1) > 0;
}

static void check(const char *what, CUptiResult r)
{
	if (r != CUPTI_SUCCESS)
		fprintf(stderr, "bare error %s %d\n", what, (int)r);
}
#define CHECK(name, ...) check(#name, name##_fn(__VA_ARGS__))

static uint64_t CUPTIAPI now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { ANONYMOUS, HEAP, STACK, DEVICE, CUPTI_FILES, DRIVER_FILES, OTHER_FILES, N_GROUPS };
static const char *const group_names[N_GROUPS] = {
	"anonymous", "heap", "stack", "device-files", "cupti-files", "driver-files", "other-files"};

static int group_of(const char *path)
{
	if (!*path)
		return ANONYMOUS;
	if (*path == '[')
		return !strncmp(path, "[heap]", 6) ? HEAP : STACK;
	if (strstr(path, "/dev/"))
		return DEVICE;
	return strstr(path, "libcupti") || strstr(path, "nvperf") || strstr(path, "pcsampling")
		       ? CUPTI_FILES
	       : strstr(path, "libcuda") || strstr(path, "libnvidia") ? DRIVER_FILES
								      : OTHER_FILES;
}

/* One line "memory STEP", KiB resident by group / of them pages that no other process has, and
 * "mapping" lines for what has more than 2 MiB. */
static void tell_memory(const char *step)
{
	long kib[N_GROUPS] = {0}, private_kib[N_GROUPS] = {0}, all = 0, own = 0;
	char line[4096], path[4096] = "", from[64] = "";
	FILE *f = has("memory") ? fopen("/proc/self/smaps", "r") : NULL;
	int group = ANONYMOUS;
	long resident = 0;
	while (f && fgets(line, sizeof line, f)) {
		unsigned long begin, end;
		long n;
		if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %4000[^\n]", &begin, &end, path) >= 2 &&
		    strchr(line, '-') && !strstr(line, "kB")) {
			if (sscanf(line, "%*x-%*x %*s %*s %*s %*s %4000[^\n]", path) < 1)
				path[0] = 0;
			group = group_of(path);
			snprintf(from, sizeof from, "%lx+%luK", begin, (end - begin) / 1024);
		} else if (sscanf(line, "Rss: %ld", &n) == 1) {
			kib[group] += resident = n;
			all += n;
			if (n >= 2048)
				fprintf(stderr, "mapping %s %ld %s %s\n", step, resident, from,
					path);
		} else if (sscanf(line, "Private_Clean: %ld", &n) == 1 ||
			   sscanf(line, "Private_Dirty: %ld", &n) == 1) {
			private_kib[group] += n;
			own += n;
		}
	}
	if (!f)
		return;
	fclose(f);
	struct mallinfo2 m = mallinfo2();
	fprintf(stderr, "memory %-22s all %ld own %ld", step, all, own);
	for (int i = 0; i < N_GROUPS; i++)
		fprintf(stderr, "  %s %ld/%ld", group_names[i], kib[i], private_kib[i]);
	fprintf(stderr, "  malloc-used %zu malloc-free %zu malloc-mapped %zu\n", m.uordblks >> 10,
		m.fordblks >> 10, m.hblkhd >> 10);
}

static void after(const char *step)
{
	tell_memory(step);
	if (!has("trim"))
		return;
	uint64_t begin = now();
	malloc_trim(0);
	if (has("memory"))
		fprintf(stderr, "trim %s %llu us\n", step,
			(unsigned long long)(now() - begin) / 1000);
	tell_memory("  trimmed");
}

/* ---- records --------------------------------------------------------------------------------- */

static uint8_t *made(void)
{
	void *at = NULL;
	n_made++;
	if (posix_memalign(&at, 4096, buffer_bytes) != 0)
		return NULL;
	memset(at, 0, buffer_bytes);
	return at;
}

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *max)
{
	pthread_mutex_lock(&lock);
	*buffer = n_free ? free_buffers[--n_free] : NULL;
	pthread_mutex_unlock(&lock);
	if (!*buffer)
		*buffer = made();
	*bytes = *buffer ? buffer_bytes : 0;
	*max = 0;
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
			      size_t valid)
{
	CUpti_Activity *r = NULL;
	size_t dropped = 0;
	(void)bytes;
	n_buffers++;
	n_bytes += valid;
	while (is_parsed && valid &&
	       cuptiActivityGetNextRecord_fn(buffer, valid, &r) == CUPTI_SUCCESS) {
		n_records++;
		for (uint64_t until = slow_ns ? now() + slow_ns : 0; slow_ns && now() < until;)
			;
	}
	if (cuptiActivityGetNumDroppedRecords_fn(context, stream, &dropped) == CUPTI_SUCCESS)
		n_dropped += dropped;
	if (is_zeroed)
		memset(buffer, 0, valid);
	pthread_mutex_lock(&lock);
	if (n_free < MAX_BUFFERS)
		free_buffers[n_free++] = buffer;
	pthread_mutex_unlock(&lock);
}

/* ---- PC samples ------------------------------------------------------------------------------ */

static void lay_out(CUpti_PCSamplingData *d, size_t n, size_t n_reasons)
{
	*d = (CUpti_PCSamplingData){
		.size = sizeof *d,
		.collectNumPcs = n,
		.pPcData = calloc(n, sizeof *d->pPcData),
	};
	CUpti_PCSamplingStallReason *reasons = calloc(n * n_reasons, sizeof *reasons);
	for (size_t i = 0; i < n; i++) {
		d->pPcData[i].size = sizeof *d->pPcData;
		d->pPcData[i].stallReason = reasons + i * n_reasons;
	}
}

static void count(const CUpti_PCSamplingData *d)
{
	n_samples += d->totalSamples;
	n_outside += d->nonUsrKernelsTotalSamples;
	n_lost += d->droppedSamples;
}

static void get(void)
{
	CUpti_PCSamplingGetDataParams p = {
		.size = CUpti_PCSamplingGetDataParamsSize, .ctx = sampled, .pcSamplingData = &got};
	do {
		got.totalSamples = got.droppedSamples = got.nonUsrKernelsTotalSamples =
			got.totalNumPcs = got.remainingNumPcs = 0;
		if (cuptiPCSamplingGetData_fn(&p) != CUPTI_SUCCESS) {
			n_errors++;
			return;
		}
		count(&got);
	} while (got.remainingNumPcs);
}

static void add(CUpti_PCSamplingConfigurationInfo *a, size_t *n,
		CUpti_PCSamplingConfigurationAttributeType type, long value)
{
	if (value > 0) {
		a[*n] = (CUpti_PCSamplingConfigurationInfo){.attributeType = type};
		/* all of these are a size or a number in the same place */
		memcpy(&a[(*n)++].attributeData, &(size_t){(size_t)value}, sizeof(size_t));
	}
}

static long or_else(long value, long otherwise)
{
	return value < 0 ? otherwise : value;
}

static void configure(void)
{
	static char text[MAX_REASONS][CUPTI_STALL_REASON_STRING_SIZE];
	static uint32_t index[MAX_REASONS];
	char *names[MAX_REASONS];
	size_t n_reasons = 0, n = 0;
	CUpti_PCSamplingConfigurationInfo a[8];
	CUpti_PCSamplingGetNumStallReasonsParams number = {
		.size = CUpti_PCSamplingGetNumStallReasonsParamsSize,
		.ctx = sampled,
		.numStallReasons = &n_reasons};
	for (size_t i = 0; i < MAX_REASONS; i++)
		names[i] = text[i];
	CHECK(cuptiPCSamplingGetNumStallReasons, &number);
	CUpti_PCSamplingGetStallReasonsParams list = {
		.size = CUpti_PCSamplingGetStallReasonsParamsSize,
		.ctx = sampled,
		.numStallReasons = n_reasons,
		.stallReasonIndex = index,
		.stallReasons = names};
	CHECK(cuptiPCSamplingGetStallReasons, &list);
	lay_out(&got, PCS_PER_CALL, n_reasons);
	lay_out(&left, (size_t)or_else(word("room", 0), 5000), n_reasons);
	add(a, &n, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD, word("pc", 19));
	add(a, &n, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE,
	    or_else(word("hw", 16), 16) << 20);
	add(a, &n, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE,
	    or_else(word("scratch", 0), 0) << 20);
	add(a, &n, CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN,
	    word("sleep", 0));
	a[n++] = (CUpti_PCSamplingConfigurationInfo){
		.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON,
		.attributeData.stallReasonData = {.stallReasonCount = n_reasons,
						  .pStallReasonIndex = index}};
	a[n++] = (CUpti_PCSamplingConfigurationInfo){
		.attributeType = CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER,
		.attributeData.samplingDataBufferData = {.samplingDataBuffer = &left}};
	CUpti_PCSamplingConfigurationInfoParams p = {
		.size = CUpti_PCSamplingConfigurationInfoParamsSize,
		.ctx = sampled,
		.numAttributes = n,
		.pPCSamplingConfigurationInfo = a};
	CHECK(cuptiPCSamplingSetConfigurationAttribute, &p);
	after("configured");
}

static void sample(CUcontext context)
{
	CUpti_PCSamplingEnableParams p = {.size = CUpti_PCSamplingEnableParamsSize, .ctx = context};
	after("context");
	if (!has("pc") || sampled)
		return;
	sampled = context;
	CHECK(cuptiPCSamplingEnable, &p);
	after("sampling-enabled");
	configure();
	pthread_mutex_lock(&flush_lock);
	is_sampling = true;
	pthread_mutex_unlock(&flush_lock);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void CUPTIAPI called(void *unused, CUpti_CallbackDomain domain, CUpti_CallbackId id,
			    const void *data)
{
	(void)unused;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		sample(((const CUpti_ResourceData *)data)->context);
	else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED &&
		 atomic_fetch_sub(&n_modules_left, 1) == 1)
		CHECK(cuptiEnableCallback, 0, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
		      CUPTI_CBID_RESOURCE_MODULE_LOADED);
	else if (is_clocked && domain == CUPTI_CB_DOMAIN_DRIVER_API &&
		 ((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_ENTER)
		atomic_store_explicit(&last_ns, now(), memory_order_relaxed);
}

static void enable(CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	n_calls++;
	CHECK(cuptiEnableCallback, 1, subscriber, domain, id);
}

static void enable_calls(void)
{
	static const char *const beginnings[] = {
		"cuLaunch",           "cuMemcpy",        "cuMemset",  "cuGraphLaunch",
		"cuMemAlloc",         "cuMemFree",       "cuMemHost", "cuStreamSynchronize",
		"cuEventSynchronize", "cuCtxSynchronize"};
	if (has("driver"))
		CHECK(cuptiEnableDomain, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
	for (CUpti_CallbackId id = 1; has("calls") && id < 1536; id++) {
		const char *name = NULL;
		bool wanted = false;
		if (cuptiGetCallbackName_fn(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) !=
			    CUPTI_SUCCESS ||
		    !name)
			continue;
		for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
			wanted = wanted || !strncmp(name, beginnings[i], strlen(beginnings[i]));
		if (wanted)
			enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
	}
	if (has("callback") || is_clocked)
		enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	if (has("pc") || has("memory"))
		enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	n_modules_left = word("modules", 0);
	if (has("modules"))
		enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
	if (has("graphs")) {
		enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
		enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
	}
	after("callbacks");
}

/* ---- life ------------------------------------------------------------------------------------ */

static void flush(uint32_t flag)
{
	pthread_mutex_lock(&flush_lock);
	cuptiActivityFlushAll_fn(flag);
	if (is_sampling && !is_once)
		get();
	pthread_mutex_unlock(&flush_lock);
}

static void *work(void *pause_ms)
{
	long ms = (long)(intptr_t)pause_ms;
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
	for (;;) {
		nanosleep(&t, NULL);
		flush(0);
	}
	return NULL;
}

static void end(void)
{
	CUpti_PCSamplingDisableParams p = {.size = CUpti_PCSamplingDisableParamsSize,
					   .ctx = sampled};
	after("end");
	flush(0);
	pthread_mutex_lock(&flush_lock);
	if (is_sampling) {
		CHECK(cuptiPCSamplingDisable, &p);
		count(&left);
		is_sampling = false;
		after("sampling-disabled");
	}
	pthread_mutex_unlock(&flush_lock);
	fprintf(stderr,
		"bare records %llu bytes %llu buffers %llu made %llu dropped %llu callbacks %llu\n",
		(unsigned long long)n_records, (unsigned long long)n_bytes,
		(unsigned long long)n_buffers, (unsigned long long)n_made,
		(unsigned long long)n_dropped, (unsigned long long)n_calls);
	if (has("pc"))
		fprintf(stderr,
			"bare samples %llu outside %llu dropped %llu errors %llu hardware-full "
			"%d\n",
			(unsigned long long)n_samples, (unsigned long long)n_outside,
			(unsigned long long)n_lost, (unsigned long long)n_errors,
			got.hardwareBufferFull || left.hardwareBufferFull);
}

static void set(const char *name, CUpti_ActivityAttribute attribute, long unit)
{
	size_t value = (size_t)(word(name, 1) * unit),
	       bytes = attribute == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
				       attribute ==
					       CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
				       attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER
			       ? 1
			       : sizeof value;
	if (word(name, 1) >= 0)
		check(name, cuptiActivitySetAttribute_fn(attribute, &bytes, &value));
}

static void enable_records(void)
{
	static const struct {
		const char *name;
		CUpti_ActivityKind kind;
	} kinds[] = {{"kernel", CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL},
		     {"serial", CUPTI_ACTIVITY_KIND_KERNEL},
		     {"function", CUPTI_ACTIVITY_KIND_FUNCTION},
		     {"copies", CUPTI_ACTIVITY_KIND_MEMCPY},
		     {"copies", CUPTI_ACTIVITY_KIND_MEMCPY2},
		     {"copies", CUPTI_ACTIVITY_KIND_MEMSET}};
	set("thread", CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 1);
	CHECK(cuptiActivityRegisterCallbacks, request, complete);
	set("zeroed", CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
	set("device", CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, 1024);
	set("pool", CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, 1);
	set("first", CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, 1);
	set("pinned", CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, 1);
	if (has("clock"))
		CHECK(cuptiActivityRegisterTimestampCallback, now);
	if (has("latency"))
		CHECK(cuptiActivityEnableLatencyTimestamps, 1);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (has(kinds[i].name)) {
			CHECK(cuptiActivityEnable, kinds[i].kind);
			after(kinds[i].name);
		}
}

static bool find(void)
{
	const char *file = getenv("BARE_CUPTI_FILE");
	void *library = dlopen(file && *file ? file : "libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
	library = library ? library
			  : dlopen("/usr/local/cuda/lib64/libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
	bool good = library != NULL;
#define FIND(name) \
	if (good) { \
		void *symbol = dlsym(library, #name); \
		memcpy(&name##_fn, &symbol, sizeof symbol); \
		good = symbol != NULL; \
	}
	FUNCTIONS(FIND)
	if (!good)
		fprintf(stderr, "bare error no CUPTI: %s\n", dlerror());
	return good;
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	pthread_t thread;
	long pause_ms = or_else(word("flush", 100), 100);
	after("before");
	if (!find())
		return 1;
	after("loaded");
	buffer_bytes = (size_t)or_else(word("buffer", 256), 256) << 10;
	is_zeroed = has("zeroed");
	is_parsed = has("parsed");
	slow_ns = has("slow") ? (uint64_t)word("slow", 0) : 0;
	is_clocked = has("clocked");
	is_once = has("once");
	CHECK(cuptiSubscribe, &subscriber, called, NULL);
	after("subscribed");
	enable_records();
	enable_calls();
	if (pause_ms > 0)
		pthread_create(&thread, NULL, work, (void *)(intptr_t)pause_ms);
	atexit(end);
	return 1;
}
