/* SPDX-License-Identifier: BSD-3-Clause */
/* The NVIDIA back end before a fake host and a fake CUPTI: calls by name, captured and
 * refused launches, memory; maps and options. */
#include "tests/unit/cupti/fake_cupti_trace.h"

#include <errno.h>

/* ---- calls by name ---- */

static void test_names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		unsigned kind, form;
		bool is_new;
	} wanted[] = {
		{"cuLaunchKernel", MSR_GPU_KERNEL, NV_FORM_LAUNCH, false},
		{"cuLaunchKernelEx_ptsz", MSR_GPU_KERNEL, NV_FORM_LAUNCH_EX, false},
		{"cuLaunchCooperativeKernelMultiDevice", MSR_GPU_KERNEL, 0, false},
		{"cuLaunchHostFunc", 0, 0, false},
		{"cuLaunchHostFunc_ptsz", 0, 0, false},
		{"cuLaunchSomethingNew_v3", MSR_GPU_KERNEL, 0, true},
		{"cuGraphLaunch_ptsz", MSR_GPU_GRAPH, 0, false},
		{"cuMemcpyHtoD_v2_ptds", MSR_GPU_COPY, NV_FORM_AMOUNT_2, false},
		{"cuMemcpyHtoD", MSR_GPU_COPY, 0, false},
		{"cu64MemcpyHtoD", MSR_GPU_COPY, 0, false},
		{"cuMemcpyBatchAsync_v2_ptsz", MSR_GPU_COPY, 0, false},
		{"cuMemcpyWarp_v9", MSR_GPU_COPY, 0, true},
		{"cuMemsetD2D32Async_ptsz", MSR_GPU_SET, NV_FORM_SET_2D, false},
		{"cu64MemAlloc", MSR_GPU_ALLOC, 0, false},
		{"cuMemAllocFromPoolAsync_ptsz", MSR_GPU_ALLOC, NV_FORM_ALLOC, false},
		{"cuMemFreeAsync", MSR_GPU_FREE, NV_FORM_FREE, false},
		{"cuCtxSynchronize_v2", MSR_GPU_SYNC, 0, false},
		{"cuStreamQuery", 0, 0, false},
		{"cuMemGetInfo_v2", 0, 0, false},
		{"cuStreamBeginCaptureToGraph_ptsz", 0, NV_FORM_CAPTURE_BEGIN, false},
		{"cuGraphAddKernelNode_v2", 0, 0, false},
		{"", 0, 0, false},
		{"x", 0, 0, false},
		{"cu", 0, 0, false},
		{"cu64", 0, 0, false},
		{"cu_v2", 0, 0, false},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct nv_call c = nv_call_of(wanted[i].name);
		if (c.kind != wanted[i].kind || c.form != wanted[i].form ||
		    c.is_new != wanted[i].is_new)
			fail_msg("%s: kind %u, form %u, new %d", wanted[i].name, c.kind, c.form,
				 c.is_new);
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
	errno = 4711;
	do_call(LAUNCH, 24, &p, CUDA_SUCCESS);
	assert_int_equal(errno, 4711);
	nv_open_take();
	nv_open_add(1);
	do_call(LAUNCH, 22, &p, CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(nv_open_count(), 1);
	assert_int_equal(seen.n_lost[MSR_GPU_LOSS_REFUSED], 1);
	assert_int_equal(seen.lost_id, 44);
	assert_int_equal(seen.error, CUDA_ERROR_INVALID_VALUE);
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
	assert_int_equal(seen.n_ops[MSR_GPU_SYNC],
			 1); /* a blocking copy is a wait too, with an id of its own */
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
	assert_int_equal(seen.n_ops[MSR_GPU_ALLOC], 0);
	assert_int_equal(seen.error, CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(seen.asked, 12345);
	do_call(ALLOC, 2, &p, CUDA_SUCCESS);
	assert_int_equal(seen.op.amount, 12345);
	assert_int_equal(seen.op.detail, MSR_GPU_MEMORY_DEVICE);
	const uint64_t id = seen.op_id;
	do_call(FREE, 3, &q, CUDA_ERROR_INVALID_VALUE); /* it is there still */
	do_call(FREE, 3, &q, CUDA_SUCCESS);
	assert_int_equal(seen.op.kind, MSR_GPU_FREE);
	assert_int_equal(seen.op.amount, 12345);
	assert_int_equal(seen.op.shape, id);
	do_call(FREE, 4, &other, CUDA_SUCCESS);
	assert_int_equal(seen.op.amount, 0);
	assert_int_equal(seen.op.shape, 0);
	do_call(FREE, 6, &q, CUDA_SUCCESS); /* it is not there any more */
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
	CUpti_GraphData node = {.node = (CUgraphNode)(uintptr_t)77},
			copy = {.node = (CUgraphNode)(uintptr_t)88, .originalNode = node.node};
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
	/* One that the host does not take has a record all the same, but where CUPTI records
	 * nothing. */
	int64_t n_open = nv_open_count();
	seen.refuses = true;
	do_call(LAUNCH, 9, &p, CUDA_SUCCESS);
	assert_int_equal(nv_open_count(), n_open + 1);
	nv_trace.has_no_records = true;
	do_call(LAUNCH, 10, &p, CUDA_SUCCESS);
	assert_int_equal(nv_open_count(), n_open + 1);
	nv_trace.has_no_records = seen.refuses = false;
	do_call(CAPTURED, 5, NULL,
		CUDA_ERROR_INVALID_VALUE); /* an invalid capture is at its end too */
	resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &copy);
	assert_int_equal(seen.n_copies, 1);
	enter(&c, LAUNCH, 6, &p, "k");
	assert_int_equal(seen.n_launched[MSR_GPU_KERNEL], 2);
	leave(&c, LAUNCH, CUDA_SUCCESS);
	do_call(CAPTURED, 7, NULL, CUDA_SUCCESS); /* one too many */
	assert_int_equal(nv_shared.n_capturing, 0);
	do_call(CAPTURE, 11, NULL, CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(nv_shared.n_capturing, 0);
	copy.originalNode =
		NULL; /* of nothing that is known: told neither as made here nor as a copy */
	resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &copy);
	assert_int_equal(seen.n_nodes + seen.n_copies, 2);
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

/* Destructors launch after exit(): nobody asks for their records, and those that come all the same
 * are of what was counted already. */
static void test_over(void **state)
{
	(void)state;
	cuLaunchKernel_params p = {.f = (CUfunction)(uintptr_t)0x10};
	uint8_t *buffer = NULL;
	size_t bytes = 0, most = 0;
	nv_buffer_request(&buffer, &bytes, &most);
	nv_shared.is_over = true;
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
	assert_int_equal(nv_shared.n_outstanding, 1);
}

/* ---- maps and options ---- */

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
		cmocka_unit_test_setup(test_names, start),
		cmocka_unit_test_setup(test_launch, start),
		cmocka_unit_test_setup(test_copy, start),
		cmocka_unit_test_setup(test_memory, start),
		cmocka_unit_test_setup(test_capture, start),
		cmocka_unit_test_setup(test_fork, start),
		cmocka_unit_test_setup(test_over, start),
		cmocka_unit_test_setup(test_map, start),
		cmocka_unit_test_setup(test_options, start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
