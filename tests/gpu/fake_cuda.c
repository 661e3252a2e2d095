/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver and a CUPTI that do not exist, in one library that is found under both names: enough of each for the workloads of this directory to run, and to be measured, where there is no GPU.
 * Kernels take the time that they are asked for (spin) or 2 us, copies 1 ns for 10 bytes; streams are in order; nothing is computed. What it does like NVIDIA's, as seen on an H200: calls tell the
 * tool at enter and exit, with correlation ids and kernel names; nothing is recorded for 0 bytes or refused launches; buffers are handed out when all in them is complete, by force also
 * before, with times of 0; captured launches make nodes; the driver asks getenv for CUDA_INJECTION64_PATH inside of cuInit. FAKE_CUDA=subscribed, old, dropping: what can go wrong.
 */
#include "hpcrun-lite/gpu/cupti/nv_headers.h"
#include "tests/gpu/fake_cuda.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RECORDS 1213u /* of 216 bytes: a buffer of 256 KiB is full, as NVIDIA's are */
#define MAX_STREAMS 64u
#define MAX_NODES 16u

struct CUmod_st {
	uint8_t image[1024];
	size_t bytes;
	char names[3][16];
	uint64_t crc;
};
struct CUfunc_st {
	struct CUmod_st *module;
	uint32_t index; /* of its symbol */
	char name[16];
};
struct CUgraph_st {
	struct node {
		struct CUfunc_st *function;
		unsigned grid, block, branch;
		uint64_t ns, bytes;
	} node[MAX_NODES];
	unsigned n;
};
struct CUstream_st {
	uint64_t free_ns;
	uint32_t id, device;
	struct CUgraph_st *captured;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The first ones are the default streams of the devices. */
static struct CUstream_st streams[MAX_STREAMS] = {{.id = 7}, {.id = 7, .device = 1}, {.id = 7, .device = 2}, {.id = 7, .device = 3}};
static unsigned n_streams = FAKE_MOST_DEVICES;
static _Atomic uint32_t correlation;
static bool is_broken; /* a kernel made a fault: nothing more is done, or recorded */

/* ---- CUPTI's side ----------------------------------------------------------------------------------------------- */

static CUpti_CallbackFunc callback;
static bool enabled[2][1024]; /* driver, resource */
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc timestamp;
static bool has_latency;
static struct {
	union {
		CUpti_Activity any;
		CUpti_ActivityKernel10 kernel;
		CUpti_ActivityMemcpy6 copy;
		CUpti_ActivityMemcpyPtoP4 peer;
		CUpti_ActivityMemset4 set;
	} u;
	uint64_t end_ns;
} records[MAX_RECORDS];
static unsigned n_records;
static bool kinds[CUPTI_ACTIVITY_KIND_COUNT]; /* which records are made */
static _Atomic uint64_t n_told; /* callbacks of calls */
static uint8_t *buffer; /* of the tool's, asked for at the first record that is to go into it */
static size_t buffer_bytes, n_dropped;

bool fake_is(const char *what)
{
	const char *how = getenv("FAKE_CUDA");
	return how && !strcmp(how, what);
}

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return timestamp ? timestamp() : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t fake_now_ns(void) { return now_ns(); }

uint64_t fake_busy_until_ns(uint32_t device)
{
	uint64_t until = 0;
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < n_streams; i++)
		if (streams[i].device == device)
			until = streams[i].free_ns > until ? streams[i].free_ns : until;
	pthread_mutex_unlock(&lock);
	return until;
}

static size_t size_of(const CUpti_Activity *r)
{
	return r->kind == CUPTI_ACTIVITY_KIND_MEMCPY    ? sizeof(CUpti_ActivityMemcpy6)
	       : r->kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ? sizeof(CUpti_ActivityMemcpyPtoP4)
	       : r->kind == CUPTI_ACTIVITY_KIND_MEMSET  ? sizeof(CUpti_ActivityMemset4)
							: sizeof(CUpti_ActivityKernel10);
}

static void clear_times(CUpti_Activity *r)
{
	uint64_t *start = r->kind == CUPTI_ACTIVITY_KIND_MEMCPY    ? &((CUpti_ActivityMemcpy6 *)r)->start
			  : r->kind == CUPTI_ACTIVITY_KIND_MEMCPY2 ? &((CUpti_ActivityMemcpyPtoP4 *)r)->start
			  : r->kind == CUPTI_ACTIVITY_KIND_MEMSET  ? &((CUpti_ActivityMemset4 *)r)->start
								   : &((CUpti_ActivityKernel10 *)r)->start;
	memset(start, 0, 2 * sizeof *start); /* and end */
}

/* All records, in the tool's buffer, when they are complete; or by force. */
static void hand_out(bool by_force)
{
	size_t at = 0;
	uint64_t now = now_ns();
	for (unsigned i = 0; i < n_records && !by_force; i++)
		if (records[i].end_ns > now)
			return; /* an unfinished one holds back the buffer */
	for (unsigned i = 0; i < n_records; i++) {
		size_t n = size_of(&records[i].u.any);
		if (!buffer || at + n > buffer_bytes || fake_is("dropping")) {
			n_dropped++;
			continue;
		}
		if (records[i].end_ns > now)
			clear_times(&records[i].u.any);
		memcpy(buffer + at, &records[i].u, n);
		at += n;
	}
	if (n_records)
		complete(NULL, 0, buffer, buffer_bytes, at);
	n_records = 0;
	buffer = NULL;
}

/* Whether there is one is settled by the launch: it comes also when its kind is switched off before it is complete. */
static void put_record(const void *record, size_t bytes, uint64_t end_ns)
{
	if (!kinds[((const CUpti_Activity *)record)->kind])
		return;
	while (n_records == MAX_RECORDS) {
		const struct timespec t = {0, 100000};
		hand_out(false);
		if (!n_records)
			break;
		pthread_mutex_unlock(&lock); /* the tool's thread may flush meanwhile */
		nanosleep(&t, NULL);
		pthread_mutex_lock(&lock);
	}
	if (!request || is_broken)
		return;
	if (!n_records) {
		size_t most;
		request(&buffer, &buffer_bytes, &most);
	}
	memcpy(&records[n_records].u, record, bytes);
	records[n_records++].end_ns = end_ns;
}

API CUptiResult cuptiGetVersion(uint32_t *v) { *v = fake_is("old") ? 120400 : 130001; return CUPTI_SUCCESS; }
API CUptiResult cuptiGetResultString(CUptiResult r, const char **s) { *s = r == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR"; return CUPTI_SUCCESS; }
API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle s) { (void)s; callback = NULL; return CUPTI_SUCCESS; }
API CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc f) { timestamp = f; return CUPTI_SUCCESS; }
API CUptiResult cuptiActivityEnable(CUpti_ActivityKind k)
{
	if (k == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && fake_pc_is_enabled())
		return CUPTI_ERROR_NOT_COMPATIBLE;
	kinds[k] = true;
	return CUPTI_SUCCESS;
}
API CUptiResult cuptiActivityDisable(CUpti_ActivityKind k) { kinds[k] = false; return CUPTI_SUCCESS; }
API CUptiResult cuptiGetContextId(CUcontext c, uint32_t *id) { *id = fake_device_of(c) + 1; return CUPTI_SUCCESS; }
API CUptiResult cuptiGetDeviceId(CUcontext c, uint32_t *id) { *id = fake_device_of(c); return CUPTI_SUCCESS; }

API CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user, CUpti_SubscriberParams *p)
{
	(void)user;
	if (fake_is("subscribed")) {
		snprintf(p->oldSubscriberName, p->oldSubscriberSize, "CUPTI for somebody");
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	}
	callback = f;
	*s = (CUpti_SubscriberHandle)&callback;
	return CUPTI_SUCCESS;
}

/* For tests/gpu/bare_cupti.c. */
API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *user) { return cuptiSubscribe_v2(s, f, user, NULL); }
API CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t on) { has_latency = on; return CUPTI_SUCCESS; }
API CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute a, size_t *bytes, void *value) { (void)a, (void)bytes, (void)value; return CUPTI_SUCCESS; }
API CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d)
{
	(void)s;
	memset(enabled[d == CUPTI_CB_DOMAIN_RESOURCE], (int)on, sizeof enabled[0]);
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d, CUpti_CallbackId id)
{
	(void)s;
	if (id >= 1024)
		return CUPTI_ERROR_INVALID_PARAMETER;
	enabled[d == CUPTI_CB_DOMAIN_RESOURCE][id] = on;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c)
{
	request = r;
	complete = c;
	return CUPTI_SUCCESS;
}

API CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	pthread_mutex_lock(&lock);
	hand_out(flag != 0);
	pthread_mutex_unlock(&lock);
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
	F(cuModuleLoadData) F(cuModuleGetFunction) F(cuMemAlloc_v2) F(cuMemFree_v2) F(cuMemHostAlloc) F(cuMemFreeHost) F(cuMemAllocAsync) F(cuMemFreeAsync) F(cuStreamSynchronize) \
	F(cuLaunchKernel) F(cuLaunchKernelEx) F(cuMemcpyHtoD_v2) F(cuMemcpyHtoDAsync_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyDtoHAsync_v2) F(cuMemcpyDtoD_v2) F(cuMemsetD8_v2) F(cuMemsetD32Async) F(cuMemcpyPeer) F(cuMemcpyPeerAsync) \
	F(cuEventSynchronize) F(cuStreamBeginCapture_v2) F(cuStreamEndCapture) F(cuGraphLaunch) F(cuCtxSynchronize)

API CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain d, uint32_t id, const char **name)
{
#define NAMED(f) [CUPTI_DRIVER_TRACE_CBID_##f] = #f,
	static const char *const names[] = {IDS(NAMED)};
	if (d != CUPTI_CB_DOMAIN_DRIVER_API || id >= sizeof names / sizeof *names || !names[id])
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = names[id];
	return CUPTI_SUCCESS;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static void tell(struct call *c, CUpti_ApiCallbackSite site)
{
	c->d.callbackSite = site;
	if (!callback || c->id >= 1024 || !enabled[0][c->id])
		return;
	n_told++;
	callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, c->id, &c->d);
}

void fake_enter(struct call *c, CUpti_CallbackId id, const char *name, const void *params, const char *symbol)
{
	*c = (struct call){.id = id};
	c->d = (CUpti_CallbackData){.functionName = name, .functionParams = params, .functionReturnValue = &c->result, .symbolName = symbol, .context = fake_context(),
	                            .correlationId = ++correlation, .correlationData = &c->data};
	tell(c, CUPTI_API_ENTER);
	pthread_mutex_lock(&lock);
}

CUresult fake_leave(struct call *c, CUresult r)
{
	pthread_mutex_unlock(&lock);
	c->result = r;
	tell(c, CUPTI_API_EXIT);
	return r;
}

void fake_resource(CUpti_CallbackId id, void *descriptor)
{
	CUpti_ResourceData r = {.context = fake_context(), .resourceDescriptor = descriptor};
	if (callback && enabled[1][id])
		callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &r);
}

static struct CUstream_st *stream_of(CUstream s) { return s ? s : &streams[fake_current()]; }

/* When an operation begins and ends on its stream. */
static uint64_t begin_on(struct CUstream_st *s, uint64_t ns, uint64_t *end)
{
	uint64_t now = now_ns() + 500, begin = s->free_ns > now ? s->free_ns : now;
	*end = s->free_ns = begin + ns;
	return begin;
}

static void wait_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	pthread_mutex_unlock(&lock);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	pthread_mutex_lock(&lock);
}

static void run_kernel(struct CUstream_st *s, const struct node *n, uint32_t id, uint64_t node)
{
	CUpti_ActivityKernel10 r = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .name = n->function->name, .correlationId = id, .deviceId = s->device, .contextId = s->device + 1, .streamId = s->id, .graphId = (uint32_t)(node >> 32), .graphNodeId = node,
	                            .gridX = (int)n->grid, .gridY = 1, .gridZ = 1, .blockX = (int)n->block, .blockY = 1, .blockZ = 1, .registersPerThread = 16};
	uint64_t end, queued_ns = now_ns();
	r.start = begin_on(s, n->ns, &end);
	r.end = end;
	if (has_latency && !node) { /* in a graph CUPTI knows neither */
		r.queued = queued_ns;
		r.submitted = queued_ns + (r.start - queued_ns) / 2;
	}
	put_record(&r, sizeof r, end);
	fake_pc_kernel(s->device, &(struct fake_run){n->function->module->crc, r.start, end, n->branch, n->function->index, id, n->function->name});
	if (fake_pc_is_serialized(s->device))
		wait_until(end);
}

static void run_set(struct CUstream_st *s, uint64_t bytes, uint32_t id, uint64_t node)
{
	CUpti_ActivityMemset4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMSET, .bytes = bytes, .correlationId = id, .deviceId = s->device, .contextId = s->device + 1, .streamId = s->id, .graphId = (uint32_t)(node >> 32), .graphNodeId = node};
	uint64_t end;
	r.start = begin_on(s, 1000 + bytes / 100, &end);
	r.end = end;
	if (bytes)
		put_record(&r, sizeof r, end);
}

CUresult fake_copy(CUstream stream, unsigned kind, uint64_t bytes, uint32_t id, bool waits)
{
	struct CUstream_st *s = stream_of(stream);
	CUpti_ActivityMemcpy6 r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY, .copyKind = (uint8_t)kind, .bytes = bytes, .correlationId = id, .deviceId = s->device, .contextId = s->device + 1, .streamId = s->id, .copyCount = 1};
	uint64_t end;
	if (!bytes)
		return CUDA_SUCCESS;
	r.start = begin_on(s, 1000 + bytes / 10, &end);
	r.end = end;
	put_record(&r, sizeof r, end);
	if (waits)
		wait_until(end);
	return CUDA_SUCCESS;
}

/* Between two devices: on the stream of the one that it is asked of. */
CUresult fake_peer_copy(CUstream stream, CUcontext to, CUcontext from, uint64_t bytes, uint32_t id)
{
	struct CUstream_st *s = stream_of(stream);
	CUpti_ActivityMemcpyPtoP4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2, .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, .bytes = bytes, .correlationId = id, .deviceId = s->device, .contextId = s->device + 1, .streamId = s->id,
	                               .srcDeviceId = fake_device_of(from), .srcContextId = fake_device_of(from) + 1, .dstDeviceId = fake_device_of(to), .dstContextId = fake_device_of(to) + 1};
	uint64_t end;
	r.start = begin_on(s, 1000 + bytes / 5, &end);
	r.end = end;
	put_record(&r, sizeof r, end);
	return CUDA_SUCCESS;
}

static void capture(struct CUstream_st *s, const struct node *n)
{
	CUpti_GraphData data = {.node = (CUgraphNode)(uintptr_t)(UINT64_C(1) << 32 | s->captured->n)};
	if (s->captured->n < MAX_NODES)
		s->captured->node[s->captured->n++] = *n;
	pthread_mutex_unlock(&lock);
	fake_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
	pthread_mutex_lock(&lock);
}

CUresult fake_set(CUstream stream, uint64_t bytes, uint32_t id)
{
	struct CUstream_st *s = stream_of(stream);
	if (s->captured)
		capture(s, &(struct node){.bytes = bytes});
	else
		run_set(s, bytes, id, 0);
	return CUDA_SUCCESS;
}

/* For programs that ask what a tool has left switched on: callbacks of calls that were made, kinds of records of what devices do, whether instructions are sampled. */
void fake_switched_on(uint64_t *n_callbacks, uint64_t *n_kinds, uint64_t *n_sampling);
API void fake_switched_on(uint64_t *n_callbacks, uint64_t *n_kinds, uint64_t *n_sampling)
{
	*n_callbacks = n_told;
	*n_kinds = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		*n_kinds += kinds[k] && k != CUPTI_ACTIVITY_KIND_FUNCTION;
	*n_sampling = fake_pc_is_enabled();
}

/* ---- the driver's side ------------------------------------------------------------------------------------------ */

API CUresult cuInit(unsigned flags)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *tool = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*come_in)(void) = NULL;
	void *symbol = tool ? dlsym(tool, "InitializeInjection") : NULL;
	(void)flags;
	memcpy(&come_in, &symbol, sizeof symbol);
	if (come_in)
		come_in();
	return CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int *v) { *v = 13000; return CUDA_SUCCESS; }
API CUresult cuModuleUnload(CUmodule m) { (void)m; return CUDA_SUCCESS; }

/* A cubin with the names of the text's entries and nothing else; other texts give other bytes. */
static void compile(struct CUmod_st *m, const char *text)
{
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT}, .e_type = ET_EXEC, .e_machine = 190, .e_version = EV_CURRENT, .e_shoff = 64,
	                   .e_ehsize = sizeof(Elf64_Ehdr), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3};
	Elf64_Shdr sections[3] = {{0}, {.sh_type = SHT_SYMTAB, .sh_offset = 512, .sh_link = 2, .sh_entsize = sizeof(Elf64_Sym)}, {.sh_type = SHT_STRTAB, .sh_offset = 768, .sh_size = 64}};
	unsigned n = 0;
	size_t at = 1;
	for (const char *entry = text; n < 3 && (entry = strstr(entry, ".entry ")); n++) {
		size_t bytes = strcspn(entry += 7, "(");
		memcpy(m->names[n], entry, bytes < 15 ? bytes : 15);
		Elf64_Sym s = {.st_name = (unsigned)at, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_other = 0x10 /* a kernel */};
		memcpy(m->image + 512 + sizeof s * (n + 1), &s, sizeof s);
		strcpy((char *)m->image + 768 + at, m->names[n]);
		at += strlen(m->names[n]) + 1;
	}
	sections[1].sh_size = sizeof(Elf64_Sym) * (n + 1);
	memcpy(m->image, &head, sizeof head);
	memcpy(m->image + 64, sections, sizeof sections);
	for (size_t i = 0; text[i]; i++)
		m->image[900 + i % 64] += (uint8_t)text[i] * (uint8_t)(i + 1);
	m->bytes = sizeof m->image;
}

API CUresult cuModuleLoadData(CUmodule *m, const void *image)
{
	struct CUmod_st *made = calloc(1, sizeof *made);
	ENTER(cuModuleLoadData, NULL, m, image);
	CUpti_ModuleResourceData data = {.moduleId = 1};
	compile(made, image);
	*m = made;
	data.cubinSize = made->bytes;
	data.pCubin = (const char *)made->image;
	made->crc = fake_pc_load(made->image, made->bytes);
	pthread_mutex_unlock(&lock);
	fake_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
	pthread_mutex_lock(&lock);
	LEAVE(CUDA_SUCCESS);
}

API CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name)
{
	struct CUfunc_st *made = calloc(1, sizeof *made);
	ENTER(cuModuleGetFunction, NULL, f, m, name);
	made->module = m;
	snprintf(made->name, sizeof made->name, "%s", name);
	for (uint32_t i = 0; i < 3; i++)
		if (!strcmp(m->names[i], name))
			made->index = i + 1;
	*f = made;
	LEAVE(CUDA_SUCCESS);
}

API CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
	(void)flags;
	pthread_mutex_lock(&lock);
	if (n_streams < MAX_STREAMS) {
		*s = &streams[n_streams];
		streams[n_streams].id = 12 + n_streams;
		streams[n_streams].device = fake_current();
		n_streams++;
	}
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}
API CUresult cuStreamSynchronize(CUstream s)
{
	ENTER(cuStreamSynchronize, NULL, s);
	wait_until(stream_of(s)->free_ns);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuCtxSynchronize(void)
{
	struct call call;
	fake_enter(&call, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize", NULL, NULL);
	for (unsigned i = 0; i < n_streams; i++)
		if (streams[i].device == fake_current())
			wait_until(streams[i].free_ns);
	LEAVE(is_broken ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS);
}

API CUresult cuCtxSynchronize_v2(CUcontext c) { (void)c; return cuCtxSynchronize(); }

static CUresult launch(CUfunction f, unsigned grid, unsigned block, CUstream stream, void **arguments, uint32_t id)
{
	struct CUstream_st *s = stream_of(stream);
	struct node n = {.function = f, .grid = grid, .block = block, .ns = 2000};
	if (!grid || block > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	is_broken = is_broken || !strcmp(f->name, "fault");
	if (!strcmp(f->name, "spin"))
		memcpy(&n.ns, arguments[0], sizeof n.ns);
	if (!strcmp(f->name, "either")) { /* its time, and which of two halves of it that is spent in */
		memcpy(&n.ns, arguments[0], sizeof n.ns);
		memcpy(&n.branch, arguments[1], sizeof n.branch);
	}
	if (s->captured)
		capture(s, &n);
	else
		run_kernel(s, &n, id, 0);
	return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **arguments, void **extra)
{
	ENTER(cuLaunchKernel, f->name, f, gx, gy, gz, bx, by, bz, shared, s, arguments, extra);
	LEAVE(launch(f, gx, bx, s, arguments, call.d.correlationId));
}
API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **arguments, void **extra)
{
	ENTER(cuLaunchKernelEx, f->name, c, f, arguments, extra);
	LEAVE(launch(f, c->gridDimX, c->blockDimX, c->hStream, arguments, call.d.correlationId));
}

API CUresult cuEventCreate(CUevent *e, unsigned flags) { (void)flags; *e = calloc(1, sizeof(uint64_t)); return CUDA_SUCCESS; }
API CUresult cuEventRecord(CUevent e, CUstream s)
{
	uint64_t now = now_ns() + 500, at = stream_of(s)->free_ns > now ? stream_of(s)->free_ns : now;
	memcpy(e, &at, sizeof at);
	return CUDA_SUCCESS;
}
API CUresult cuEventSynchronize(CUevent e)
{
	uint64_t at;
	ENTER(cuEventSynchronize, NULL, e);
	memcpy(&at, e, sizeof at);
	wait_until(at);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuEventElapsedTime_v2(float *ms, CUevent a, CUevent b)
{
	uint64_t begin, end;
	memcpy(&begin, a, sizeof begin);
	memcpy(&end, b, sizeof end);
	*ms = (float)((double)(end - begin) / 1e6);
	return CUDA_SUCCESS;
}

API CUresult cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode)
{
	ENTER(cuStreamBeginCapture_v2, NULL, s, mode);
	s->captured = calloc(1, sizeof *s->captured);
	LEAVE(CUDA_SUCCESS);
}
API CUresult cuStreamEndCapture(CUstream s, CUgraph *g)
{
	ENTER(cuStreamEndCapture, NULL, s, g);
	*g = s->captured;
	s->captured = NULL;
	LEAVE(CUDA_SUCCESS);
}
API CUptiResult cuptiGetGraphNodeId(CUgraphNode n, uint64_t *id) { *id = (uint64_t)(uintptr_t)n; return CUPTI_SUCCESS; }
API CUresult cuGraphInstantiateWithFlags(CUgraphExec *e, CUgraph g, unsigned long long flags)
{
	(void)flags;
	for (unsigned i = 0; i < g->n; i++) {
		CUpti_GraphData data = {.node = (CUgraphNode)(uintptr_t)(UINT64_C(2) << 32 | i), .originalNode = (CUgraphNode)(uintptr_t)(UINT64_C(1) << 32 | i)};
		fake_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &data);
	}
	*e = (CUgraphExec)g;
	return CUDA_SUCCESS;
}
API CUresult cuGraphLaunch(CUgraphExec e, CUstream s)
{
	struct CUgraph_st *g = (struct CUgraph_st *)e;
	ENTER(cuGraphLaunch, NULL, e, s);
	for (unsigned i = 0; i < g->n; i++) {
		if (g->node[i].function)
			run_kernel(stream_of(s), &g->node[i], call.d.correlationId, UINT64_C(2) << 32 | i);
		else
			run_set(stream_of(s), g->node[i].bytes, call.d.correlationId, UINT64_C(2) << 32 | i);
	}
	LEAVE(CUDA_SUCCESS);
}
