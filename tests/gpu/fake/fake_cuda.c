/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver, a CUPTI and an NVML that do not exist, in one library that is found under all three
 * names: enough of each for the workloads of this directory to run, and to be measured, where there
 * is no GPU. This file is the driver, fake_cupti.c the CUPTI, fake_nvml.c the NVML. Kernels take
 * the time that they are asked for (spin) or 2 us, copies 1 ns for 10 bytes; streams are in order;
 * nothing is computed. What it does like NVIDIA's, as seen on an H200: nothing is recorded for 0
 * bytes or refused launches; captured launches make nodes; the driver asks getenv for
 * CUDA_INJECTION64_PATH inside of cuInit.
 */
#include "hpcrun-lite/gpu/cupti/front/nv_headers.h"
#include "tests/gpu/fake/fake_cuda.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_STREAMS 64u
#define MAX_NODES 16u

struct CUmod_st {
	uint8_t image[80 << 10];
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

/* The first ones are the default streams of the devices. */
static struct CUstream_st streams[MAX_STREAMS] = {
	{.id = 7}, {.id = 7, .device = 1}, {.id = 7, .device = 2}, {.id = 7, .device = 3}};
static unsigned n_streams = FAKE_MOST_DEVICES;
static uint64_t asked_ns[FAKE_MOST_DEVICES]; /* the times of all operations */
static bool is_broken; /* a kernel made a fault: nothing more is done, or recorded */

uint64_t fake_busy_until_ns(uint32_t device)
{
	uint64_t until = 0;
	pthread_mutex_lock(&fake_lock);
	for (unsigned i = 0; i < n_streams; i++)
		if (streams[i].device == device)
			until = streams[i].free_ns > until ? streams[i].free_ns : until;
	pthread_mutex_unlock(&fake_lock);
	return until;
}

uint64_t fake_busy_ns(uint32_t device, uint64_t now)
{
	uint64_t until = fake_busy_until_ns(device);
	pthread_mutex_lock(&fake_lock);
	uint64_t asked = asked_ns[device];
	pthread_mutex_unlock(&fake_lock);
	return until > now ? asked - (until - now < asked ? until - now : asked) : asked;
}

static struct CUstream_st *stream_of(CUstream s) { return s ? s : &streams[fake_current()]; }

/* When an operation begins and ends on its stream. */
static uint64_t begin_on(struct CUstream_st *s, uint64_t ns, uint64_t *end)
{
	uint64_t now = fake_now_ns() + 500, begin = s->free_ns > now ? s->free_ns : now;
	*end = s->free_ns = begin + ns;
	asked_ns[s->device] += ns;
	return begin;
}

static void record(const void *r, size_t bytes, uint64_t end_ns)
{
	if (!is_broken)
		fake_record(r, bytes, end_ns);
}

static void wait_until(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	pthread_mutex_unlock(&fake_lock);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	pthread_mutex_lock(&fake_lock);
}

static void run_kernel(struct CUstream_st *s, const struct node *n, uint32_t id, uint64_t node)
{
	fake_kernel_record r = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
				    .name = n->function->name,
				    .correlationId = id,
				    .deviceId = s->device,
				    .contextId = s->device + 1,
				    .streamId = s->id,
				    .graphId = (uint32_t)(node >> 32),
				    .graphNodeId = node,
				    .gridX = (int)n->grid,
				    .gridY = 1,
				    .gridZ = 1,
				    .blockX = (int)n->block,
				    .blockY = 1,
				    .blockZ = 1,
				    .registersPerThread = 16};
	uint64_t end, queued_ns = fake_now_ns();
	r.start = begin_on(s, n->ns, &end);
	r.end = end;
	if (fake_has_latency && !node) { /* in a graph CUPTI knows neither */
		r.queued = queued_ns;
		r.submitted = queued_ns + (r.start - queued_ns) / 2;
	}
	if (fake_counters_replay(s->device))
		r.start = r.end = 0;
	record(&r, sizeof r, end);
	fake_pc_kernel(s->device,
		       &(struct fake_run){n->function->module->crc, r.start, end, n->branch,
					  n->function->index, id, n->function->name});
	if (fake_counters_kernel(s->device, n->ns, (uint64_t)n->grid * n->block)) {
		r.name = "WaitNs";
		r.start = begin_on(s, 1000, &end);
		r.end = end;
		record(&r, sizeof r, end);
	}
	if (fake_pc_is_serialized(s->device) || fake_counters_replay(s->device))
		wait_until(end);
}

static void run_set(struct CUstream_st *s, uint64_t bytes, uint32_t id, uint64_t node)
{
	CUpti_ActivityMemset4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
				   .bytes = bytes,
				   .correlationId = id,
				   .deviceId = s->device,
				   .contextId = s->device + 1,
				   .streamId = s->id,
				   .graphId = (uint32_t)(node >> 32),
				   .graphNodeId = node};
	uint64_t end;
	r.start = begin_on(s, 1000 + bytes / 100, &end);
	r.end = end;
	if (bytes)
		record(&r, sizeof r, end);
}

CUresult fake_copy(CUstream stream, unsigned kind, uint64_t bytes, uint32_t id, bool waits)
{
	struct CUstream_st *s = stream_of(stream);
	fake_copy_record r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
				   .copyKind = (uint8_t)kind,
				   .bytes = bytes,
				   .correlationId = id,
				   .deviceId = s->device,
				   .contextId = s->device + 1,
				   .streamId = s->id};
	uint64_t end;
	if (!bytes)
		return CUDA_SUCCESS;
	r.start = begin_on(s, 1000 + bytes / 10, &end);
	r.end = end;
	record(&r, sizeof r, end);
	if (waits)
		wait_until(end);
	return CUDA_SUCCESS;
}

/* Between two devices: on the stream of the one that it is asked of. */
CUresult fake_peer_copy(CUstream stream, CUcontext to, CUcontext from, uint64_t bytes, uint32_t id)
{
	struct CUstream_st *s = stream_of(stream);
	CUpti_ActivityMemcpyPtoP4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
				       .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
				       .bytes = bytes,
				       .correlationId = id,
				       .deviceId = s->device,
				       .contextId = s->device + 1,
				       .streamId = s->id,
				       .srcDeviceId = fake_device_of(from),
				       .srcContextId = fake_device_of(from) + 1,
				       .dstDeviceId = fake_device_of(to),
				       .dstContextId = fake_device_of(to) + 1};
	uint64_t end;
	r.start = begin_on(s, 1000 + bytes / 5, &end);
	r.end = end;
	record(&r, sizeof r, end);
	return CUDA_SUCCESS;
}

static void capture(struct CUstream_st *s, const struct node *n)
{
	CUpti_GraphData data = {
		.node = (CUgraphNode)(uintptr_t)(UINT64_C(1) << 32 | s->captured->n)};
	if (s->captured->n < MAX_NODES)
		s->captured->node[s->captured->n++] = *n;
	pthread_mutex_unlock(&fake_lock);
	fake_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
	pthread_mutex_lock(&fake_lock);
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

/* ---- calls ----------------------------------------------------------------------------------- */

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

API CUresult cuDriverGetVersion(int *v) { *v = FAKE_CUDA_VERSION; return CUDA_SUCCESS; }
API CUresult cuModuleUnload(CUmodule m) { (void)m; return CUDA_SUCCESS; }

#define SMALL_BYTES 1024u /* of an image */
#define CODE_BYTES 128u   /* of a kernel in a big one */

/* With FAKE_BIG_CUBIN a cubin as libraries have them: big, with code of each kernel, no lines. */
static void add_code(struct CUmod_st *m, Elf64_Shdr *sections, unsigned n)
{
	Elf64_Sym s;
	size_t at = 1;
	sections[3] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = SMALL_BYTES, .sh_size = 128};
	for (unsigned i = 0; i < n; i++) {
		uint8_t *symbol = m->image + 512 + sizeof s * (i + 1);
		memcpy(&s, symbol, sizeof s);
		s.st_shndx = (Elf64_Half)(4 + i);
		s.st_size = CODE_BYTES;
		memcpy(symbol, &s, sizeof s);
		sections[4 + i] = (Elf64_Shdr){.sh_name = (unsigned)at,
					       .sh_type = SHT_PROGBITS,
					       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					       .sh_offset = 2 * SMALL_BYTES + CODE_BYTES * i,
					       .sh_size = CODE_BYTES,
					       .sh_addralign = CODE_BYTES};
		memset(m->image + sections[4 + i].sh_offset, m->image[900] + (int)i, CODE_BYTES);
		at += 1 + (size_t)sprintf((char *)m->image + SMALL_BYTES + at, ".text.%s",
					  m->names[i]);
	}
	m->bytes = sizeof m->image;
}

/* A cubin with the names of the text's entries; other texts give other bytes. */
static void compile(struct CUmod_st *m, const char *text)
{
	const bool is_big = getenv("FAKE_BIG_CUBIN") != NULL;
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_machine = 190,
			   .e_version = EV_CURRENT,
			   .e_shoff = 64,
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 3};
	Elf64_Shdr sections[7] = {{0},
				  {.sh_type = SHT_SYMTAB,
				   .sh_offset = 512,
				   .sh_link = 2,
				   .sh_entsize = sizeof(Elf64_Sym)},
				  {.sh_type = SHT_STRTAB, .sh_offset = 768, .sh_size = 64}};
	unsigned n = 0;
	size_t at = 1;
	for (const char *entry = text; n < 3 && (entry = strstr(entry, ".entry ")); n++) {
		size_t bytes = strcspn(entry += 7, "(");
		memcpy(m->names[n], entry, bytes < 15 ? bytes : 15);
		Elf64_Sym s = {.st_name = (unsigned)at,
			       .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			       .st_other = 0x10 /* a kernel */};
		memcpy(m->image + 512 + sizeof s * (n + 1), &s, sizeof s);
		strcpy((char *)m->image + 768 + at, m->names[n]);
		at += strlen(m->names[n]) + 1;
	}
	sections[1].sh_size = sizeof(Elf64_Sym) * (n + 1);
	for (size_t i = 0; text[i]; i++)
		m->image[900 + i % 64] += (uint8_t)text[i] * (uint8_t)(i + 1);
	m->bytes = SMALL_BYTES;
	if (is_big) {
		add_code(m, sections, n);
		head.e_shnum = (Elf64_Half)(4 + n);
		head.e_shstrndx = 3;
	}
	memcpy(m->image, &head, sizeof head);
	memcpy(m->image + 64, sections, head.e_shnum * sizeof *sections);
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
	pthread_mutex_unlock(&fake_lock);
	fake_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
	pthread_mutex_lock(&fake_lock);
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
	pthread_mutex_lock(&fake_lock);
	if (n_streams < MAX_STREAMS) {
		*s = &streams[n_streams];
		streams[n_streams].id = 12 + n_streams;
		streams[n_streams].device = fake_current();
		n_streams++;
	}
	pthread_mutex_unlock(&fake_lock);
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

#ifndef FAKE_CUPTI_12
#if CUDA_VERSION < 13000
CUresult cuCtxSynchronize_v2(CUcontext c);
#endif
API CUresult cuCtxSynchronize_v2(CUcontext c) { (void)c; return cuCtxSynchronize(); }
#endif

static CUresult launch(CUfunction f, unsigned grid, unsigned block, CUstream stream,
		       void **arguments, uint32_t id)
{
	struct CUstream_st *s = stream_of(stream);
	struct node n = {.function = f, .grid = grid, .block = block, .ns = 2000};
	if (!grid || block > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	is_broken = is_broken || !strcmp(f->name, "fault");
	if (!strcmp(f->name, "spin"))
		memcpy(&n.ns, arguments[0], sizeof n.ns);
	/* its time, and which of two halves of it that is spent in */
	if (!strcmp(f->name, "either")) {
		memcpy(&n.ns, arguments[0], sizeof n.ns);
		memcpy(&n.branch, arguments[1], sizeof n.branch);
	}
	if (s->captured)
		capture(s, &n);
	else
		run_kernel(s, &n, id, 0);
	return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			    unsigned by, unsigned bz, unsigned shared, CUstream s, void **arguments,
			    void **extra)
{
	ENTER(cuLaunchKernel, f->name, f, gx, gy, gz, bx, by, bz, shared, s, arguments, extra);
	LEAVE(launch(f, gx, bx, s, arguments, call.d.correlationId));
}
API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **arguments, void **extra)
{
	ENTER(cuLaunchKernelEx, f->name, c, f, arguments, extra);
	LEAVE(launch(f, c->gridDimX, c->blockDimX, c->hStream, arguments, call.d.correlationId));
}

API CUresult cuEventCreate(CUevent *e, unsigned flags)
{
	(void)flags;
	*e = calloc(1, sizeof(uint64_t));
	return CUDA_SUCCESS;
}
API CUresult cuEventRecord(CUevent e, CUstream s)
{
	uint64_t now = fake_now_ns() + 500,
		 at = stream_of(s)->free_ns > now ? stream_of(s)->free_ns : now;
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
/* By the name that drivers of CUDA 12 have, too. */
#ifdef cuEventElapsedTime
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b);
#endif
API CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b)
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
API CUresult cuGraphInstantiateWithFlags(CUgraphExec *e, CUgraph g, unsigned long long flags)
{
	(void)flags;
	for (unsigned i = 0; i < g->n; i++) {
		CUpti_GraphData data = {.node = (CUgraphNode)(uintptr_t)(UINT64_C(2) << 32 | i),
					.originalNode =
						(CUgraphNode)(uintptr_t)(UINT64_C(1) << 32 | i)};
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
			run_kernel(stream_of(s), &g->node[i], call.d.correlationId,
				   UINT64_C(2) << 32 | i);
		else
			run_set(stream_of(s), g->node[i].bytes, call.d.correlationId,
				UINT64_C(2) << 32 | i);
	}
	LEAVE(CUDA_SUCCESS);
}
