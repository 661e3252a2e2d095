/* SPDX-License-Identifier: BSD-3-Clause */
/* The NVIDIA back end before a fake host and a fake CUPTI: code objects and which kernel is
 * of which, records, buffers. */
#include "tests/unit/cupti/fake_cupti_trace.h"

#include <elf.h>

/* ---- code objects ---- */

struct cubin {
	Elf64_Ehdr head;
	Elf64_Shdr section[3];
	Elf64_Sym symbol[3];
	char strings[32];
};

static struct cubin make_cubin(void)
{
	struct cubin c = {
		.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
			 .e_shoff = offsetof(struct cubin, section),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 3},
		.section = {{0},
			    {.sh_type = SHT_SYMTAB,
			     .sh_offset = offsetof(struct cubin, symbol),
			     .sh_size = 3 * sizeof(Elf64_Sym),
			     .sh_link = 2},
			    {.sh_type = SHT_STRTAB,
			     .sh_offset = offsetof(struct cubin, strings),
			     .sh_size = 32}},
		.symbol = {{0},
			   {.st_name = 1,
			    .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
			    .st_other = 0x10},
			   {.st_name = 3, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}},
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
	return (CUpti_ActivityKernel10){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
					.correlationId = correlation,
					.contextId = 1,
					.streamId = 7,
					.start = 100,
					.end = 200,
					.name = name,
					.gridX = 3,
					.gridY = 2,
					.gridZ = 1,
					.blockX = 64,
					.blockY = 1,
					.blockZ = 1,
					.registersPerThread = 20,
					.staticSharedMemory = 10,
					.dynamicSharedMemory = 20,
					.graphNodeId = 5};
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
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x11},
			      q = {.f = (CUfunction)(uintptr_t)0x21};
	load(1, 0x10, 0x11);
	do_call(LAUNCH, 3, &p, CUDA_SUCCESS);
	CUpti_ActivityKernel10 early = kernel_record(3, first);
	load(4, 0x20, 0x21);
	do_call(LAUNCH, 6, &p, CUDA_SUCCESS);
	do_call(LAUNCH, 7, &q, CUDA_SUCCESS);
	CUpti_ActivityKernel10 one = kernel_record(6, first), two = kernel_record(7, second),
			       of_graph = kernel_record(99, second);
	nv_record((CUpti_Activity
			   *)&early); /* launched when there was one, told of when there are two */
	assert_int_equal(seen.function_code, 1);
	nv_record((CUpti_Activity *)&two);
	assert_int_equal(seen.function_code, 2);
	nv_record((CUpti_Activity *)&one);
	assert_int_equal(seen.function_code, 1);
	nv_record((CUpti_Activity *)&of_graph);
	assert_int_equal(seen.function_code, 2);
	assert_int_equal(nv_trace.launches.n, 0);
}

/* The same content on two devices, of which the second has it from the first launch there; handles
 * of CUDA's run time serve both. */
static void test_two_devices(void **state)
{
	(void)state;
	struct cubin image = make_cubin();
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x11};
	seen.content = 7;
	assert_int_equal(nv_code_on(0, 1), 0);
	assert_int_equal(nv_code_loaded((CUcontext)(uintptr_t)0x100, &image, sizeof image,
					nv_kernel_named), 1);
	assert_int_equal(nv_code_on(1, 0), 1);
	assert_int_equal(nv_code_loaded((CUcontext)(uintptr_t)0x200, &image, sizeof image,
					nv_kernel_named),
			 1); /* the second one is 2, of the same content */
	assert_int_equal(nv_code_on(1, 0), 1);
	assert_int_equal(nv_code_on(1, 1), 2);
	assert_int_equal(nv_code_on(1, 5), 1);
	assert_int_equal(nv_trace.n_ambiguous, 0);
	for (uint32_t d = 0; d < 2; d++) {
		do_call(LAUNCH, 3 + d, &p, CUDA_SUCCESS);
		CUpti_ActivityKernel10 k = kernel_record(3 + d, "k");
		k.deviceId = d;
		nv_record((CUpti_Activity *)&k);
		assert_int_equal(seen.function_code, 1 + d);
	}
	nv.options.no_times = true; /* then the call tells */
	for (uint32_t d = 0; d < 2; d++) {
		struct call c;
		enter(&c, LAUNCH, 8 + d, &p, "k");
		c.d.context = (CUcontext)(uintptr_t)(d ? 0x200 : 0x100);
		leave(&c, LAUNCH, CUDA_SUCCESS);
		assert_int_equal(seen.function_code, 1 + d);
	}
	nv.options.no_times = false;
	seen.content = 8;
	assert_int_equal(nv_code_loaded((CUcontext)(uintptr_t)0x200, &image, sizeof image,
					nv_kernel_named),
			 3); /* other content on the second alone */
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
	cuLaunchKernel_params q = {
		.f = (CUfunction)(uintptr_t)0x41}; /* of nothing that was seen: not of what another
						      launch has loaded */
	do_call(LAUNCH, 5, &q, CUDA_SUCCESS);
	CUpti_ActivityKernel10 r = kernel_record(5, elsewhere);
	nv_record((CUpti_Activity *)&r);
	assert_int_equal(seen.function_code, 1);
}

/* One that is loaded when a function of it is asked for, or in a launch when there was no other
 * yet; two more later. */
static void test_lazy_is_remembered(void **state)
{
	(void)state;
	static const char name[] = {'k', 0};
	struct cubin image = make_cubin();
	CUpti_ModuleResourceData data = {.pCubin = (const char *)&image, .cubinSize = sizeof image};
	for (unsigned at_get = 0; at_get < 2; at_get++) {
		struct call c;
		CUfunction f = (CUfunction)(uintptr_t)0x31;
		cuModuleGetFunction_params g = {.hfunc = &f, .hmod = (CUmodule)(uintptr_t)0x30};
		cuLaunchKernel_params p = {.f = f};
		start(NULL);
		enter(&c, at_get ? GET : LAUNCH, 1, at_get ? (void *)&g : (void *)&p, "k");
		resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, &data);
		leave(&c, at_get ? GET : LAUNCH, CUDA_SUCCESS);
		load(2, 0x10, 0x11);
		load(4, 0x20, 0x21);
		do_call(LAUNCH, 6, &p, CUDA_SUCCESS);
		CUpti_ActivityKernel10 k = kernel_record(6, name);
		nv_record((CUpti_Activity *)&k);
		assert_int_equal(seen.function_code, 1);
	}
}

/* Handles and addresses of names are used again for others. */
static void test_used_again(void **state)
{
	(void)state;
	struct call c;
	static char name[2] = "k";
	CUmodule module = (CUmodule)(uintptr_t)0x20;
	cuModuleLoadData_params l = {.module = &module};
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x21};
	load(1, 0x10, 0x11);
	load(3, 0x20, 0x21);
	do_call(LAUNCH, 5, &p, CUDA_SUCCESS);
	CUpti_ActivityKernel10 k = kernel_record(5, name);
	nv_record((CUpti_Activity *)&k);
	assert_int_equal(seen.function_code, 2);
	nv_kernel_named("x", 7);
	nv_kernel_named("x", 8);
	name[0] = 'x';
	assert_int_equal(nv_kernel_code(98, name),
			 7);          /* not what the kernel is of whose name was there */
	enter(&c, LOAD, 6, &l, NULL); /* a module whose code nobody told */
	leave(&c, LOAD, CUDA_SUCCESS);
	do_call(LAUNCH, 7, &p, CUDA_SUCCESS);
	assert_int_equal(nv_trace.launches.n, 0);
	nv_kernel_named("only", 9); /* tells by itself: nothing is kept for its launches */
	p.f = (CUfunction)(uintptr_t)0x11;
	enter(&c, LAUNCH, 8, &p, "only");
	leave(&c, LAUNCH, CUDA_SUCCESS);
	assert_int_equal(nv_trace.launches.n, 0);
}

/* ---- records and buffers ---- */

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
	k.start = 100; /* begun and not ended */
	nv_record((CUpti_Activity *)&k);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 2);
	assert_int_equal(nv_shared.n_unfinished, 2);
	CUpti_ActivityMemcpy6 c = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
				   .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
				   .bytes = 9,
				   .start = 1,
				   .end = 2,
				   .correlationId = 3,
				   .contextId = 1,
				   .streamId = 8};
	nv_record((CUpti_Activity *)&c);
	assert_int_equal(seen.op.detail, MSR_GPU_COPY_D2H);
	assert_int_equal(seen.op.amount, 9);
	c.copyKind = 200;
	nv_record((CUpti_Activity *)&c);
	assert_int_equal(seen.op.detail, MSR_GPU_COPY_UNKNOWN);
	CUpti_ActivityMemset4 s = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
				   .bytes = 11,
				   .start = 1,
				   .end = 2,
				   .correlationId = 3,
				   .contextId = 2,
				   .streamId = 7};
	nv_record((CUpti_Activity *)&s);
	assert_int_equal(seen.op.kind, MSR_GPU_SET);
	assert_int_equal(seen.op.amount, 11);
	assert_int_equal(seen.op.queue, 3);
	assert_int_equal(seen.n_queues, 3);
	assert_int_equal(seen.n_contexts, 2);
	assert_int_equal(seen.n_devices, 1);
}

static void test_copies(void **state)
{
	(void)state;
	static const uint8_t wanted[][2] = {{CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, MSR_GPU_COPY_H2D},
					    {CUPTI_ACTIVITY_MEMCPY_KIND_HTOA, MSR_GPU_COPY_H2D},
					    {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, MSR_GPU_COPY_D2H},
					    {CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, MSR_GPU_COPY_D2H},
					    {CUPTI_ACTIVITY_MEMCPY_KIND_ATOD, MSR_GPU_COPY_D2D},
					    {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, MSR_GPU_COPY_D2D},
					    {CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, MSR_GPU_COPY_H2H},
					    {CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, MSR_GPU_COPY_P2P}};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		CUpti_ActivityMemcpy6 c = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
					   .copyKind = wanted[i][0],
					   .bytes = 9,
					   .start = 1,
					   .end = 2,
					   .correlationId = 3,
					   .contextId = 1,
					   .streamId = 8};
		nv_record((CUpti_Activity *)&c);
		assert_int_equal(seen.op.detail, wanted[i][1]);
	}
	CUpti_ActivityMemcpyPtoP4 p = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
				       .bytes = 10,
				       .start = 1,
				       .end = 2,
				       .correlationId = 4,
				       .contextId = 1,
				       .streamId = 9};
	nv_record((CUpti_Activity *)&p);
	assert_int_equal(seen.op.detail, MSR_GPU_COPY_P2P);
	assert_int_equal(seen.op.amount, 10);
	assert_int_equal(seen.op.queue, 2);
}

/* When a kernel came into its queue, where that was asked for; and the sum of kernels that were
 * sampled, by which the rate of samples is judged. */
static void test_kernel_times(void **state)
{
	(void)state;
	CUpti_ActivityKernel10 k = kernel_record(4, "k");
	k.queued = 50;
	k.submitted = 60;
	nv_record((CUpti_Activity *)&k);
	assert_false(seen.op.has_waits);
	assert_int_equal(nv_shared.kernel_ns[0], 0);
	nv.options.latency = true;
	nv.options.pc = NV_PC_CONTINUOUS;
	nv_record((CUpti_Activity *)&k);
	assert_true(seen.op.has_waits);
	assert_int_equal(seen.op.queued_ns, 50);
	assert_int_equal(seen.op.submitted_ns, 60);
	k.deviceId = 1;
	nv_record((CUpti_Activity *)&k);
	nv_record((CUpti_Activity *)&k);
	assert_int_equal(nv_shared.kernel_ns[0], 100);
	assert_int_equal(nv_shared.kernel_ns[1], 200);
}

/* What becomes of each launch is known also where the core could not record it, and of a graph's
 * launch whether any of its nodes came. */
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
	nv_open_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3); /* graphs 1 and 3, kernel 7 */
	nv_open_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3);
	nv.options.no_times = true; /* nothing has a record */
	do_call(GRAPH, 8, &p, CUDA_SUCCESS);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	seen.refuses = true;
	do_call(LAUNCH, 9, &p, CUDA_SUCCESS);
	seen.refuses = false;
	nv_open_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3);
}

static void graph_records(uint32_t graph, uint32_t launch, unsigned n)
{
	CUpti_ActivityKernel10 k = kernel_record(launch, "k");
	k.graphId = graph;
	for (unsigned i = 0; i < n; i++)
		nv_record((CUpti_Activity *)&k);
}

/* Nodes without a record of a graph's last launch are told as lost, by what the least of its
 * launches before had; once. */
static void test_open_nodes(void **state)
{
	(void)state;
	graph_records(9, 1, 4);
	nv_open_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE],
			 0);    /* how many it should have had is not known */
	graph_records(9, 2, 6); /* launches may differ */
	graph_records(9, 3, 1);
	graph_records(8, 4, 3);
	graph_records(9, 2, 1); /* a buffer that came late */
	nv_open_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3);
	assert_int_equal(seen.lost_id, 6);
	nv_open_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 3);
	for (uint32_t i = 0; i < 4 * NV_MAX_GRAPHS;
	     i++) /* more graphs than there is room for: old ones are forgotten */
		graph_records(10 + i, 5 + i, 2);
	graph_records(10 + 4 * NV_MAX_GRAPHS - 1, 5 + 4 * NV_MAX_GRAPHS, 1);
	nv_open_count_missing();
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_NEVER_DONE], 4);
}

/* A program that makes streams and forgets them: the file does not grow with each record for
 * ever. */
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
	sem_getvalue(&nv_shared.wake, &n);
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
	assert_int_equal(nv_shared.n_outstanding, NV_N_BUFFERS - 1);
	nv_buffer_request(&at[0], &bytes, &most);
	assert_ptr_equal(at[0], at[3]);
	nv.lib.version = 120800; /* crashes when it gets none */
	nv_buffer_request(&at[0], &bytes, &most);
	assert_non_null(at[0]);
	nv_buffer_complete(NULL, 0, at[0], NV_BUFFER_BYTES, 0);
	nv_buffer_request(&at[1], &bytes, &most);
	assert_ptr_equal(at[0], at[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_cubin, start),
		cmocka_unit_test_setup(test_same_name, start),
		cmocka_unit_test_setup(test_two_devices, start),
		cmocka_unit_test_setup(test_lazy, start),
		cmocka_unit_test_setup(test_lazy_is_remembered, start),
		cmocka_unit_test_setup(test_used_again, start),
		cmocka_unit_test_setup(test_records, start),
		cmocka_unit_test_setup(test_copies, start),
		cmocka_unit_test_setup(test_kernel_times, start),
		cmocka_unit_test_setup(test_open, start),
		cmocka_unit_test_setup(test_open_nodes, start),
		cmocka_unit_test_setup(test_many_streams, start),
		cmocka_unit_test_setup(test_buffers, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
