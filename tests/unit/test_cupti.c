/* SPDX-License-Identifier: BSD-3-Clause */
/* The NVIDIA back end before a host and a CUPTI that are made up here: calls by name, captured and refused launches, records, code objects, buffers. */
#include "hpcrun-lite/gpu/cupti/nv.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a host ----------------------------------------------------------------------------------------------------- */

static struct {
	uint32_t generation;
	unsigned n_launched[MSR_N_GPU_KINDS], n_ops[MSR_N_GPU_KINDS], n_lost[MSR_N_GPU_LOSSES], n_nodes, n_copies;
	bool refuses;
	uint64_t launch_id, op_id, lost_id, node;
	struct gpu_op op;
	struct gpu_shape shape;
	uint32_t n_codes, n_queues, n_contexts, n_devices;
	uint64_t content; /* of the code that is loaded; 0: not known */
	uint32_t function_code;
	char function[64], queue[64];
} seen;

static uint32_t generation(const struct gpu_host *h) { (void)h; return seen.generation; }
static uint64_t widen(const struct gpu_host *h, _Atomic uint64_t *state, uint32_t id) { (void)h, (void)state; return id; }
static uint32_t device(const struct gpu_host *h, const struct gpu_device *d) { (void)h, (void)d; return ++seen.n_devices; }
static uint32_t context(const struct gpu_host *h, const struct gpu_context *c) { (void)h, (void)c; return ++seen.n_contexts; }
static uint32_t code(const struct gpu_host *h, const struct gpu_code *c, uint64_t hash[2]) { (void)h, (void)c; hash[0] = hash[1] = seen.content; return ++seen.n_codes; }
static void note(const struct gpu_host *h, const char *text) { (void)h, (void)text; }

static uint32_t queue(const struct gpu_host *h, const struct gpu_queue *q)
{
	(void)h;
	snprintf(seen.queue, sizeof seen.queue, "%s", q->name);
	return ++seen.n_queues;
}

static uint32_t function(const struct gpu_host *h, const struct gpu_function *f)
{
	(void)h;
	seen.function_code = f->code;
	snprintf(seen.function, sizeof seen.function, "%s", f->name);
	return 1;
}

static uint32_t shape(const struct gpu_host *h, const struct gpu_shape *s) { (void)h; seen.shape = *s; return 1; }

static bool launch(const struct gpu_host *h, const struct gpu_launch *l, struct gpu_ticket *t)
{
	(void)h;
	if (seen.refuses)
		return false;
	seen.n_launched[l->kind]++;
	seen.launch_id = l->id;
	*t = (struct gpu_ticket){.id = l->id, .kind = (uint8_t)l->kind};
	return true;
}

static void op_by_id(const struct gpu_host *h, uint64_t id, const struct gpu_op *o)
{
	(void)h;
	seen.n_ops[o->kind]++;
	seen.op_id = id;
	seen.op = *o;
}

static void op(const struct gpu_host *h, const struct gpu_ticket *t, const struct gpu_op *o) { op_by_id(h, t->id, o); }

static void lost_by_id(const struct gpu_host *h, uint64_t id, enum msr_gpu_kind kind, enum msr_gpu_loss cause)
{
	(void)h, (void)kind;
	seen.n_lost[cause]++;
	seen.lost_id = id;
}

static void lost_unknown(const struct gpu_host *h, enum msr_gpu_loss cause, uint64_t n) { (void)h; seen.n_lost[cause] += (unsigned)n; }

static void graph_node(const struct gpu_host *h, uint64_t node, uint64_t original)
{
	(void)h;
	seen.node = node;
	seen.n_nodes += !original;
	seen.n_copies += original != 0;
}

static const struct gpu_host host = {
	.version = GPU_HOST_VERSION, .generation = generation, .widen = widen, .device = device, .context = context, .queue = queue, .code = code, .function = function, .shape = shape, .note = note,
	.launch = launch, .op = op, .op_by_id = op_by_id, .lost_by_id = lost_by_id, .lost_unknown = lost_unknown, .graph_node = graph_node,
};

/* ---- a CUPTI and a driver --------------------------------------------------------------------------------------- */

static size_t n_dropped;
static CUptiResult CUPTIAPI context_id(CUcontext c, uint32_t *id) { (void)c; *id = 1; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI device_id(CUcontext c, uint32_t *id) { *id = (uintptr_t)c == 0x200; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI graph_node_id(CUgraphNode n, uint64_t *id) { *id = (uintptr_t)n; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI num_dropped(CUcontext c, uint32_t s, size_t *n) { (void)c, (void)s; *n = n_dropped; n_dropped = 0; return CUPTI_SUCCESS; }
static CUptiResult CUPTIAPI next_record(uint8_t *buffer, size_t bytes, CUpti_Activity **r)
{
	uint8_t *next = *r ? (uint8_t *)*r + sizeof(CUpti_ActivityKernel10) : buffer;
	*r = (CUpti_Activity *)next;
	return next + sizeof(CUpti_ActivityKernel10) <= buffer + bytes ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}
static CUresult CUDAAPI device_name(char *to, int room, CUdevice d) { (void)d; snprintf(to, (size_t)room, "GPU"); return CUDA_SUCCESS; }
static CUresult CUDAAPI device_attribute(int *v, CUdevice_attribute a, CUdevice d) { (void)a, (void)d; *v = 3; return CUDA_SUCCESS; }
static CUresult CUDAAPI device_memory(size_t *n, CUdevice d) { (void)d; *n = 1; return CUDA_SUCCESS; }
static CUresult CUDAAPI device_uuid(CUuuid *u, CUdevice d) { (void)d; memset(u, 1, sizeof *u); return CUDA_SUCCESS; }
static CUresult CUDAAPI driver_version(int *v) { *v = 13000; return CUDA_SUCCESS; }

enum { LAUNCH = 1, GRAPH, COPY, COPY_ASYNC, ALLOC, FREE, SYNC, CAPTURE, CAPTURED, LOAD, GET, N_CALLS };
static const char *const names[N_CALLS] = {
	[LAUNCH] = "cuLaunchKernel_ptsz", [GRAPH] = "cuGraphLaunch", [COPY] = "cuMemcpyHtoD_v2_ptds", [COPY_ASYNC] = "cuMemcpyHtoDAsync_v2", [ALLOC] = "cuMemAlloc_v2", [FREE] = "cuMemFree_v2",
	[SYNC] = "cuStreamSynchronize", [CAPTURE] = "cuStreamBeginCapture_v2", [CAPTURED] = "cuStreamEndCapture", [LOAD] = "cuModuleLoadData", [GET] = "cuModuleGetFunction"};

static int start(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof seen);
	memset(&nv, 0, sizeof nv);
	seen.generation = 1;
	nv.host = &host;
	nv.generation = 1;
	nv.pid = (int)getpid();
	nv.unfinished = MSR_GPU_LOSS_NEVER_DONE;
	struct nv_map *const maps[] = {&nv.contexts, &nv.queues, &nv.names, &nv.kernels, &nv.handles, &nv.launches, &nv.allocations, &nv.graphs, &nv.contents, &nv.on_devices};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		nv_map_init(maps[i], 1 << 16);
	pthread_mutex_init(&nv.define_lock, NULL);
	sem_init(&nv.wake, 0, 0);
	nv.lib = (struct nv_library){
		.cuptiGetContextId = context_id, .cuptiGetDeviceId = device_id, .cuptiGetGraphNodeId = graph_node_id, .cuptiActivityGetNumDroppedRecords = num_dropped,
		.cuptiActivityGetNextRecord = next_record, .cuDeviceGetName = device_name, .cuDeviceGetAttribute = device_attribute, .cuDeviceTotalMem_v2 = device_memory,
		.cuDeviceGetUuid_v2 = device_uuid, .cuDriverGetVersion = driver_version};
	nv_library_own(&nv.lib);
	for (unsigned i = 1; i < N_CALLS; i++)
		nv.calls[i] = nv_call_of(names[i]);
	return 0;
}

static void resource(CUpti_CallbackId id, void *descriptor)
{
	CUpti_ResourceData r = {.resourceDescriptor = descriptor};
	nv_callback(NULL, CUPTI_CB_DOMAIN_RESOURCE, id, &r);
}

struct call {
	uint64_t data;
	CUresult result;
	CUpti_CallbackData d;
};

static void enter(struct call *c, unsigned id, uint32_t correlation, const void *params, const char *symbol)
{
	*c = (struct call){.data = 0};
	c->d = (CUpti_CallbackData){.callbackSite = CUPTI_API_ENTER, .functionParams = params, .functionReturnValue = &c->result, .correlationId = correlation, .correlationData = &c->data, .symbolName = symbol};
	nv_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &c->d);
}

static void leave(struct call *c, unsigned id, CUresult r)
{
	c->result = r;
	c->d.callbackSite = CUPTI_API_EXIT;
	nv_callback(NULL, CUPTI_CB_DOMAIN_DRIVER_API, id, &c->d);
}

static void do_call(unsigned id, uint32_t correlation, const void *params, CUresult r)
{
	struct call c;
	enter(&c, id, correlation, params, "k");
	leave(&c, id, r);
}

/* ---- calls by name ---------------------------------------------------------------------------------------------- */

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned kind, form;
		bool is_new;
	} wanted[] = {
		{"cuLaunchKernel", MSR_GPU_KERNEL, NV_FORM_LAUNCH, false}, {"cuLaunchKernelEx_ptsz", MSR_GPU_KERNEL, NV_FORM_LAUNCH_EX, false}, {"cuLaunchCooperativeKernelMultiDevice", MSR_GPU_KERNEL, 0, false},
		{"cuLaunchHostFunc", 0, 0, false}, {"cuLaunchHostFunc_ptsz", 0, 0, false}, {"cuLaunchSomethingNew_v3", MSR_GPU_KERNEL, 0, true}, {"cuGraphLaunch_ptsz", MSR_GPU_GRAPH, 0, false},
		{"cuMemcpyHtoD_v2_ptds", MSR_GPU_COPY, NV_FORM_AMOUNT_2, false}, {"cuMemcpyHtoD", MSR_GPU_COPY, 0, false}, {"cu64MemcpyHtoD", MSR_GPU_COPY, 0, false}, {"cuMemcpyBatchAsync_v2_ptsz", MSR_GPU_COPY, 0, false},
		{"cuMemcpyWarp_v9", MSR_GPU_COPY, 0, true}, {"cuMemsetD2D32Async_ptsz", MSR_GPU_SET, NV_FORM_SET_2D, false}, {"cu64MemAlloc", MSR_GPU_ALLOC, 0, false}, {"cuMemAllocFromPoolAsync_ptsz", MSR_GPU_ALLOC, NV_FORM_ALLOC, false},
		{"cuMemFreeAsync", MSR_GPU_FREE, NV_FORM_FREE, false}, {"cuCtxSynchronize_v2", MSR_GPU_SYNC, 0, false}, {"cuStreamQuery", 0, 0, false}, {"cuMemGetInfo_v2", 0, 0, false},
		{"cuStreamBeginCaptureToGraph_ptsz", 0, NV_FORM_CAPTURE_BEGIN, false}, {"cuGraphAddKernelNode_v2", 0, 0, false}, {"", 0, 0, false}, {"x", 0, 0, false}, {"cu", 0, 0, false}, {"cu64", 0, 0, false}, {"cu_v2", 0, 0, false},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct nv_call c = nv_call_of(wanted[i].name);
		if (c.kind != wanted[i].kind || c.form != wanted[i].form || c.is_new != wanted[i].is_new)
			fail_msg("%s: kind %u, form %u, new %d", wanted[i].name, c.kind, c.form, c.is_new);
	}
	assert_true(nv_call_of("cuMemcpyDtoH_v2").waits);
	assert_false(nv_call_of("cuMemcpyDtoHAsync_v2").waits);
	assert_int_equal(nv_call_of("cuEventSynchronize").detail, MSR_GPU_SYNC_EVENT);
}

static void test_launch(void **state)
{
	(void)state;
	struct call c;
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	enter(&c, LAUNCH, 21, &p, "k");
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 1); /* before the driver does anything */
	assert_int_equal(seen.launch_id, 42);
	leave(&c, LAUNCH, CUDA_SUCCESS);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_REFUSED], 0);
	assert_int_equal(nv_open_count(), 1);
	do_call(LAUNCH, 22, &p, CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(nv_open_count(), 1);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_REFUSED], 1);
	assert_int_equal(seen.lost_id, 44);
	seen.refuses = true; /* the host has no room: nothing is to be taken back */
	do_call(LAUNCH, 23, &p, CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_REFUSED], 1);
}

static void test_copy(void **state)
{
	(void)state;
	cuMemcpyHtoD_v2_params p = {.ByteCount = 100}, none = {.ByteCount = 0};
	do_call(COPY, 5, &p, CUDA_SUCCESS);
	assert_int_equal(seen.n_launched[MSR_GPU_COPY], 1);
	assert_int_equal(seen.n_ops[MSR_GPU_SYNC], 1); /* a blocking copy is a wait too, with an id of its own */
	assert_int_equal(seen.op_id, 11);
	assert_int_equal(seen.op.detail, MSR_GPU_SYNC_COPY);
	assert_true(seen.op.start_ns <= seen.op.end_ns && seen.op.start_ns > 0);
	do_call(COPY, 6, &none, CUDA_SUCCESS);
	assert_int_equal(seen.n_launched[MSR_GPU_COPY], 1);
	cuMemcpyHtoDAsync_v2_params later = {.ByteCount = 100};
	do_call(COPY_ASYNC, 7, &later, CUDA_SUCCESS);
	assert_int_equal(seen.n_launched[MSR_GPU_COPY], 2);
	assert_int_equal(seen.n_ops[MSR_GPU_SYNC], 1);
}

static void test_memory(void **state)
{
	(void)state;
	CUdeviceptr at = 0x7000;
	cuMemAlloc_v2_params p = {.dptr = &at, .bytesize = 12345};
	cuMemFree_v2_params q = {.dptr = at}, other = {.dptr = 0x8000};
	do_call(ALLOC, 1, &p, CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(seen.n_launched[MSR_GPU_ALLOC], 0);
	do_call(ALLOC, 2, &p, CUDA_SUCCESS);
	assert_int_equal(seen.op.amount, 12345);
	assert_int_equal(seen.op.detail, MSR_GPU_MEMORY_DEVICE);
	do_call(FREE, 3, &q, CUDA_SUCCESS);
	assert_int_equal(seen.op.kind, MSR_GPU_FREE);
	assert_int_equal(seen.op.amount, 12345);
	do_call(FREE, 4, &other, CUDA_SUCCESS);
	assert_int_equal(seen.op.amount, 0);
	do_call(SYNC, 5, NULL, CUDA_SUCCESS);
	assert_int_equal(seen.n_ops[MSR_GPU_SYNC], 1);
	assert_int_equal(seen.op.detail, MSR_GPU_SYNC_QUEUE);
}

static void test_capture(void **state)
{
	(void)state;
	struct call c;
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	CUpti_GraphData node = {.node = (CUgraphNode)(uintptr_t)77}, copy = {.node = (CUgraphNode)(uintptr_t)88, .originalNode = node.node};
	do_call(CAPTURE, 1, NULL, CUDA_SUCCESS);
	enter(&c, LAUNCH, 2, &p, "k");
	resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &node);
	leave(&c, LAUNCH, CUDA_SUCCESS);
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 0);
	assert_int_equal(seen.n_nodes, 1);
	assert_int_equal(seen.node, 77);
	do_call(LAUNCH, 3, &p, CUDA_SUCCESS); /* on another stream */
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 1);
	assert_int_equal(seen.launch_id, 6);
	do_call(LAUNCH, 4, &p, CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 1);
	/* One that the host does not take has a record all the same, but where CUPTI records nothing. */
	int64_t n_open = nv_open_count();
	seen.refuses = true;
	do_call(LAUNCH, 9, &p, CUDA_SUCCESS);
	assert_int_equal(nv_open_count(), n_open + 1);
	nv.has_no_records = true;
	do_call(LAUNCH, 10, &p, CUDA_SUCCESS);
	assert_int_equal(nv_open_count(), n_open + 1);
	nv.has_no_records = seen.refuses = false;
	do_call(CAPTURED, 5, NULL, CUDA_ERROR_INVALID_VALUE); /* an invalid capture is at its end too */
	resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &copy);
	assert_int_equal(seen.n_copies, 1);
	enter(&c, LAUNCH, 6, &p, "k");
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 2);
	leave(&c, LAUNCH, CUDA_SUCCESS);
	do_call(CAPTURED, 7, NULL, CUDA_SUCCESS); /* one too many */
	do_call(GRAPH, 8, NULL, CUDA_SUCCESS);
	assert_int_equal(seen.n_launched[MSR_GPU_GRAPH], 1);
}

static void test_fork(void **state)
{
	(void)state;
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	seen.generation = 0; /* after the end: the host counts them */
	do_call(LAUNCH, 1, &p, CUDA_SUCCESS);
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 1);
	seen.generation = 2; /* in a child */
	do_call(LAUNCH, 2, &p, CUDA_SUCCESS);
	seen.generation = 0; /* in one that is not measured */
	nv.pid++;
	do_call(LAUNCH, 3, &p, CUDA_SUCCESS);
	nv_buffer_complete(NULL, 0, (uint8_t *)&p, sizeof p, sizeof p);
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 1);
}

/* Destructors launch after exit(): nobody asks for their records, and those that come all the same are of what was counted already. */
static void test_over(void **state)
{
	(void)state;
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	uint8_t *buffer = NULL;
	size_t bytes = 0, most = 0;
	nv_buffer_request(&buffer, &bytes, &most);
	nv.is_over = true;
	do_call(LAUNCH, 1, &p, CUDA_SUCCESS);
	do_call(LAUNCH, 2, &p, CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 2);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 1);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_REFUSED], 1);
	assert_int_equal(nv_open_count(), 0);
	do_call(GRAPH, 3, &p, CUDA_SUCCESS);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 2);
	assert_int_equal(seen.lost_id, 6);
	nv_buffer_complete(NULL, 0, buffer, bytes, bytes);
	assert_int_equal(nv.n_outstanding, 1);
}

/* ---- code objects ----------------------------------------------------------------------------------------------- */

struct cubin {
	Elf64_Ehdr head;
	Elf64_Shdr section[3];
	Elf64_Sym symbol[3];
	char strings[32];
};

static struct cubin make_cubin(void)
{
	struct cubin c = {
		.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64}, .e_shoff = offsetof(struct cubin, section), .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3},
		.section = {{0}, {.sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct cubin, symbol), .sh_size = 3 * sizeof(Elf64_Sym), .sh_link = 2},
		            {.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct cubin, strings), .sh_size = 32}},
		.symbol = {{0}, {.st_name = 1, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_other = 0x10}, {.st_name = 3, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}},
		.strings = "\0k\0inner"};
	return c;
}

static void count_name(void *arg, const char *name)
{
	++*(unsigned *)arg;
	assert_string_equal(name, "k");
}

static void any_name(void *arg, const char *name)
{
	*(unsigned *)arg += (unsigned)strlen(name);
}

static void test_cubin(void **state)
{
	(void)state;
	unsigned n = 0;
	struct cubin c = make_cubin();
	nv_code_names(&c, sizeof c, count_name, &n);
	assert_int_equal(n, 1);
	for (size_t bytes = 0; bytes < sizeof c; bytes++) /* cut off anywhere */
		nv_code_names(&c, bytes, count_name, &n);
	assert_int_equal(n, 1);
	for (size_t at = 0; at < sizeof c.head + sizeof c.section; at++)
		for (unsigned v = 1; v < 256; v += 127) { /* damaged: any answer but a fault */
			struct cubin d = c;
			((uint8_t *)&d)[at] ^= (uint8_t)v;
			unsigned m = 0;
			nv_code_names(&d, sizeof d, any_name, &m);
		}
}

static CUpti_ActivityKernel10 kernel_record(uint32_t correlation, const char *name)
{
	return (CUpti_ActivityKernel10){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .correlationId = correlation, .contextId = 1, .streamId = 7, .start = 100, .end = 200, .name = name, .gridX = 3, .gridY = 2,
	                                .gridZ = 1, .blockX = 64, .blockY = 1, .blockZ = 1, .registersPerThread = 20, .staticSharedMemory = 10, .dynamicSharedMemory = 20, .graphNodeId = 5};
}

static void load(uint32_t correlation, uintptr_t handle, uintptr_t function)
{
	struct call c;
	struct cubin image = make_cubin();
	CUmodule module = NULL;
	CUfunction f = NULL;
	cuModuleLoadData_params p = {.module = &module};
	CUpti_ModuleResourceData data = {.pCubin = (const char *)&image, .cubinSize = sizeof image};
	enter(&c, LOAD, correlation, &p, NULL);
	resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
	module = (CUmodule)handle;
	leave(&c, LOAD, CUDA_SUCCESS);
	cuModuleGetFunction_params g = {.hfunc = &f, .hmod = module};
	enter(&c, GET, correlation + 1, &g, NULL);
	f = (CUfunction)function;
	leave(&c, GET, CUDA_SUCCESS);
}

/* Kernels of one name in two modules that are both loaded before either is launched. */
static void test_same_name(void **state)
{
	(void)state;
	static const char first[] = "k", second[] = {'k', 0};
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x11}, q = {.f = (CUfunction)(uintptr_t)0x21};
	load(1, 0x10, 0x11);
	do_call(LAUNCH, 3, &p, CUDA_SUCCESS);
	CUpti_ActivityKernel10 early = kernel_record(3, first);
	load(4, 0x20, 0x21);
	do_call(LAUNCH, 6, &p, CUDA_SUCCESS);
	do_call(LAUNCH, 7, &q, CUDA_SUCCESS);
	CUpti_ActivityKernel10 one = kernel_record(6, first), two = kernel_record(7, second), of_graph = kernel_record(99, second);
	nv_record((CUpti_Activity *)&early); /* launched when there was one, told of when there are two */
	assert_int_equal(seen.function_code, 1);
	nv_record((CUpti_Activity *)&two);
	assert_int_equal(seen.function_code, 2);
	nv_record((CUpti_Activity *)&one);
	assert_int_equal(seen.function_code, 1);
	nv_record((CUpti_Activity *)&of_graph);
	assert_int_equal(seen.function_code, 2);
	assert_int_equal(nv.launches.n, 0);
}

/* The same content on two devices, of which the second has it from the first launch there; handles of CUDA's run time serve both. */
static void test_two_devices(void **state)
{
	(void)state;
	struct cubin image = make_cubin();
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x11};
	seen.content = 7;
	assert_int_equal(nv_code_on(0, 1), 0);
	assert_int_equal(nv_code_loaded((CUcontext)(uintptr_t)0x100, &image, sizeof image), 1);
	assert_int_equal(nv_code_on(1, 0), 1);
	assert_int_equal(nv_code_loaded((CUcontext)(uintptr_t)0x200, &image, sizeof image), 1); /* the second one is 2, of the same content */
	assert_int_equal(nv_code_on(1, 0), 1);
	assert_int_equal(nv_code_on(1, 1), 2);
	assert_int_equal(nv_code_on(1, 5), 1);
	assert_int_equal(nv.n_ambiguous, 0);
	for (uint32_t d = 0; d < 2; d++) {
		do_call(LAUNCH, 3 + d, &p, CUDA_SUCCESS);
		CUpti_ActivityKernel10 k = kernel_record(3 + d, "k");
		k.deviceId = d;
		nv_record((CUpti_Activity *)&k);
		assert_int_equal(seen.function_code, 1 + d);
	}
	seen.content = 8;
	assert_int_equal(nv_code_loaded((CUcontext)(uintptr_t)0x200, &image, sizeof image), 3); /* other content on the second alone */
	assert_int_equal(nv_code_on(3, 1), 3);
}

/* Loaded during the first launch of one of its kernels. */
static void test_lazy(void **state)
{
	(void)state;
	struct call c;
	struct cubin image = make_cubin();
	CUpti_ModuleResourceData data = {.pCubin = (const char *)&image, .cubinSize = sizeof image};
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x31};
	load(1, 0x10, 0x11);
	enter(&c, LAUNCH, 3, &p, "k");
	resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
	leave(&c, LAUNCH, CUDA_SUCCESS);
	do_call(LAUNCH, 4, &p, CUDA_SUCCESS);
	for (uint32_t id = 3; id <= 4; id++) {
		CUpti_ActivityKernel10 r = kernel_record(id, "k");
		nv_record((CUpti_Activity *)&r);
		assert_int_equal(seen.function_code, 2);
	}
	static const char elsewhere[] = {'k', 0};
	cuLaunchKernel_params q = {.f = (CUfunction)(uintptr_t)0x41}; /* of nothing that was seen: not of what another launch has loaded */
	do_call(LAUNCH, 5, &q, CUDA_SUCCESS);
	CUpti_ActivityKernel10 r = kernel_record(5, elsewhere);
	nv_record((CUpti_Activity *)&r);
	assert_int_equal(seen.function_code, 1);
}

/* ---- records and buffers ---------------------------------------------------------------------------------------- */

static void test_records(void **state)
{
	(void)state;
	CUpti_ActivityKernel10 k = kernel_record(4, "unknown");
	nv_record((CUpti_Activity *)&k);
	assert_int_equal(seen.op_id, 8);
	assert_int_equal(seen.op.amount, 5);
	assert_int_equal(seen.shape.grid[0], 3);
	assert_int_equal(seen.shape.block[0], 64);
	assert_int_equal(seen.shape.dynamic_shared_bytes, 20);
	assert_int_equal(seen.function_code, 0);
	assert_string_equal(seen.queue, "stream 7");
	nv_record((CUpti_Activity *)&k);
	assert_int_equal(seen.n_queues, 1);
	k.start = k.end = 0;
	nv_record((CUpti_Activity *)&k);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 1);
	CUpti_ActivityMemcpy6 c = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY, .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, .bytes = 9, .start = 1, .end = 2, .correlationId = 3, .contextId = 1, .streamId = 8};
	nv_record((CUpti_Activity *)&c);
	assert_int_equal(seen.op.detail, MSR_GPU_COPY_D2H);
	assert_int_equal(seen.op.amount, 9);
	c.copyKind = 200;
	nv_record((CUpti_Activity *)&c);
	assert_int_equal(seen.op.detail, MSR_GPU_COPY_UNKNOWN);
	CUpti_ActivityMemset4 s = {.kind = CUPTI_ACTIVITY_KIND_MEMSET, .bytes = 11, .start = 1, .end = 2, .correlationId = 3, .contextId = 2, .streamId = 7};
	nv_record((CUpti_Activity *)&s);
	assert_int_equal(seen.op.kind, MSR_GPU_SET);
	assert_int_equal(seen.n_queues, 3);
	assert_int_equal(seen.n_contexts, 2);
	assert_int_equal(seen.n_devices, 1);
}

/* What becomes of each launch is known also where the core could not record it, and of a graph's launch whether any of its nodes came. */
static void test_open(void **state)
{
	(void)state;
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	CUpti_ActivityKernel10 k = kernel_record(5, "k");
	for (uint32_t i = 1; i <= 4; i++)
		do_call(GRAPH, i, &p, i == 4 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_REFUSED], 1);
	seen.refuses = true;
	do_call(LAUNCH, 5, &p, CUDA_SUCCESS);
	do_call(LAUNCH, 6, &p, CUDA_ERROR_INVALID_VALUE);
	seen.refuses = false;
	do_call(LAUNCH, 7, &p, CUDA_SUCCESS);
	assert_int_equal(nv_open_count(), 2);
	nv_record((CUpti_Activity *)&k);
	k.correlationId = 2;
	k.graphId = 9;
	nv_record((CUpti_Activity *)&k);
	nv_record((CUpti_Activity *)&k); /* another node */
	nv_flush_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3); /* graphs 1 and 3, kernel 7 */
	nv_flush_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3);
	nv.options.no_times = true; /* nothing has a record */
	do_call(GRAPH, 8, &p, CUDA_SUCCESS);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	nv_flush_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3);
}

/* A program that makes streams and forgets them: the file does not grow with each record for ever. */
static void test_many_streams(void **state)
{
	(void)state;
	CUpti_ActivityKernel10 k = kernel_record(4, "k");
	nv_map_clear(&nv.queues);
	nv_map_init(&nv.queues, NV_MAX_QUEUES);
	for (uint32_t i = 1; i <= NV_MAX_QUEUES + 10; i++) {
		k.streamId = i;
		nv_record((CUpti_Activity *)&k);
	}
	assert_int_equal(seen.n_queues, NV_MAX_QUEUES - NV_MAX_FURTHER + 1);
	assert_string_equal(seen.queue, "further streams");
	assert_int_equal(seen.op.queue, seen.n_queues);
	k.contextId = 2; /* another context has its own */
	nv_record((CUpti_Activity *)&k);
	nv_record((CUpti_Activity *)&k);
	assert_int_equal(seen.op.queue, NV_MAX_QUEUES - NV_MAX_FURTHER + 2);
	k.streamId = 3;
	k.contextId = 1;
	nv_record((CUpti_Activity *)&k); /* the first ones are as they were */
	assert_int_equal(seen.op.queue, 3);
}

static void test_buffers(void **state)
{
	(void)state;
	uint8_t *at[NV_N_BUFFERS + 1];
	size_t bytes, most;
	for (unsigned i = 0; i < NV_N_BUFFERS; i++) {
		nv_buffer_request(&at[i], &bytes, &most);
		assert_non_null(at[i]);
		assert_int_equal(bytes, NV_BUFFER_BYTES);
		for (unsigned k = 0; k < i; k++)
			assert_ptr_not_equal(at[k], at[i]);
	}
	int n = 0;
	sem_getvalue(&nv.wake, &n);
	assert_int_equal(n, 1); /* the thread is woken, once */
	nv_buffer_request(&at[NV_N_BUFFERS], &bytes, &most);
	assert_null(at[NV_N_BUFFERS]);
	assert_int_equal(bytes, 0);
	CUpti_ActivityKernel10 k = kernel_record(4, "unknown");
	memcpy(at[3], &k, sizeof k);
	memcpy(at[3] + sizeof k, &k, sizeof k);
	n_dropped = 17;
	nv_buffer_complete(NULL, 0, at[3], NV_BUFFER_BYTES, 2 * sizeof k);
	assert_int_equal(seen.n_ops[MSR_GPU_KERNEL], 2);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_DROPPED], 17);
	assert_int_equal(nv.n_outstanding, NV_N_BUFFERS - 1);
	nv_buffer_request(&at[0], &bytes, &most);
	assert_ptr_equal(at[0], at[3]);
}

static uint64_t n_taken, sum_taken;

static void count_taken(uint64_t key, uint64_t value)
{
	assert_int_equal(key, value << 12);
	n_taken++;
	sum_taken += value;
}

static void test_map(void **state)
{
	(void)state;
	struct nv_map m;
	nv_map_init(&m, 5000);
	assert_int_equal(nv_map_get(&m, 1), 0);
	assert_false(nv_map_put(&m, 0, 1));
	for (uint64_t k = 1; k <= 5000; k++)
		assert_true(nv_map_put(&m, k << 12, k));
	assert_false(nv_map_put(&m, 1, 1));         /* full */
	assert_true(nv_map_put(&m, 77 << 12, 7700)); /* in place of */
	for (uint64_t k = 1; k <= 5000; k += 2)
		assert_int_equal(nv_map_take(&m, k << 12), k == 77 ? 7700 : k);
	assert_int_equal(nv_map_take(&m, 1 << 12), 0);
	for (uint64_t k = 1; k <= 5000; k++)
		assert_int_equal(nv_map_get(&m, k << 12), k % 2 ? 0 : k);
	n_taken = sum_taken = 0;
	nv_map_take_all(&m, count_taken);
	assert_int_equal(n_taken, 2500);
	assert_int_equal(sum_taken, 2500u * 2501u);
	nv_map_take_all(&m, count_taken);
	assert_int_equal(n_taken, 2500);
	assert_true(nv_map_put(&m, 1, 1));
	nv_map_clear(&m);
	assert_int_equal(nv_map_get(&m, 1), 0);
}

static void test_options(void **state)
{
	(void)state;
	char path[16];
	nv_library_preferred("", path, sizeof path);
	assert_string_equal(path, "");
	nv_library_preferred("pc,cupti=/a/b.so", path, sizeof path);
	assert_string_equal(path, "/a/b.so");
	char why[256];
	struct nv_library l;
	assert_false(nv_library_open(&l, "/nowhere", false, why, sizeof why));
	assert_non_null(strstr(why, "libcuda.so.1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_names, start), cmocka_unit_test_setup(test_launch, start), cmocka_unit_test_setup(test_copy, start), cmocka_unit_test_setup(test_memory, start),
		cmocka_unit_test_setup(test_capture, start), cmocka_unit_test_setup(test_cubin, start), cmocka_unit_test_setup(test_same_name, start), cmocka_unit_test_setup(test_two_devices, start),
		cmocka_unit_test_setup(test_lazy, start), cmocka_unit_test_setup(test_records, start), cmocka_unit_test_setup(test_buffers, start), cmocka_unit_test_setup(test_map, start),
		cmocka_unit_test_setup(test_options, start), cmocka_unit_test_setup(test_fork, start), cmocka_unit_test_setup(test_over, start),
		cmocka_unit_test_setup(test_open, start), cmocka_unit_test_setup(test_many_streams, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
