/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL back end before a fake implementation: how it gets in, and what it records. What the
 * program sees of it: test_opencl_hidden.c; ends, forks, threads: test_opencl_life.c. */
#include "tests/unit/opencl/opencl_fixture.h"

#include <string.h>

static void entrance(void **state)
{
	cl_layer_api_version version = 0;
	cl_uint n = 0;
	char name[64];
	size_t bytes;
	const cl_icd_dispatch *ours = NULL;
	(void)state;
	assert_string_equal(fake_host.how, "ICD loader's layer");
	assert_int_equal(clGetLayerInfo(CL_LAYER_API_VERSION, sizeof version, &version, &bytes),
			 CL_SUCCESS);
	assert_int_equal(version, CL_LAYER_API_VERSION_100);
	assert_int_equal(clGetLayerInfo(CL_LAYER_API_VERSION, 1, &version, NULL), CL_INVALID_VALUE);
	assert_int_equal(clGetLayerInfo(OCL_LAYER_NAME, sizeof name, name, NULL), CL_SUCCESS);
	assert_int_equal(clGetLayerInfo(0, 0, NULL, NULL), CL_INVALID_VALUE);
	/* offered twice */
	assert_int_equal(clInitLayer(1, &fake_dispatch, &n, &ours), CL_INVALID_OPERATION);
	assert_int_equal(clInitLayerWithProperties(1, &fake_dispatch, &n, &ours, NULL),
			 CL_INVALID_OPERATION);
	assert_null(ours);
	assert_int_equal(fake_host.n_entered, 1);
	/* by another loader: refused as well, and said */
	cl_icd_dispatch another = fake_dispatch;
	another.clFinish = NULL;
	assert_int_equal(fake_host.n_notes, 0);
	assert_int_equal(clInitLayer(sizeof another / sizeof(void *), &another, &n, &ours),
			 CL_INVALID_OPERATION);
	assert_int_equal(fake_host.n_notes, 1);
	/* a process that is not measured */
	atomic_store(&ocl_entrance, OCL_NOT_IN);
	fake_host.absent = true;
	assert_int_equal(clInitLayer(1, &fake_dispatch, &n, &ours), CL_INVALID_OPERATION);
	assert_null(ours);
}

static void kernel_recorded(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_kernel k = ocl_test_kernel();
	(void)state;
	fake.clock_offset = 5000000000;
	assert_int_equal(ocl_test_run(q, k, NULL), CL_SUCCESS);
	assert_int_equal(clFinish(q), CL_SUCCESS);
	assert_int_equal(fake.n_events, 0); /* ours is released */
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
	assert_int_equal(fake_host.n_ops[MSR_GPU_SYNC], 1);
	assert_int_equal(fake_last(MSR_GPU_SYNC)->detail, MSR_GPU_SYNC_QUEUE);
	assert_int_equal(fake_last(MSR_GPU_KERNEL)->shape, 1);
	assert_string_equal(fake_host.function, "jacobi");
	assert_int_equal(fake_host.shape.grid[0], 16);
	assert_int_equal(fake_host.shape.block[0], 64);
	assert_int_equal(fake_host.shape.global[0], 1000); /* not a multiple of the group */
	assert_int_equal(fake_host.shape.static_shared_bytes, 64);
	assert_int_equal(fake_host.code_kind, MSR_GPU_CODE_ELF);
	assert_string_equal(fake_host.options, "-O2");
	assert_int_equal(fake_host.queue_flags, MSR_GPU_QUEUE_FORCED_PROFILING);
	/* the same again asks nothing again */
	for (unsigned i = 0; i < 10; i++)
		ocl_test_run(q, k, NULL);
	assert_int_equal(fake_host.n_shapes, 1);
	assert_int_equal(fake_host.n_functions, 1);
	assert_int_equal(fake.n_binary_asked, 1);
	clReleaseCommandQueue(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 11);
	/* the pair tells the clock's offset within its error */
	fake_host.at_end(0);
	assert_true(fake_host.n_pairs >= 1);
	int64_t off = fake_host.pair_offset + 5000000000;
	assert_true(off <= (int64_t)fake_host.pair_error && -off <= (int64_t)fake_host.pair_error);
}

static void group_left_open(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	(void)state;
	clEnqueueNDRangeKernel(q, ocl_test_kernel(), 1, NULL, ocl_test_global, NULL, 0, NULL, NULL);
	assert_int_equal(fake_host.shape.grid[0], 0);
	assert_int_equal(fake_host.shape.block[0], 0);
	assert_int_equal(fake_host.shape.global[0], 1000);
	assert_int_equal(fake_host.shape.global[1], 1);
	clReleaseCommandQueue(q);
}

/* What a program's code object is taken from. */
static void code_objects(void **state)
{
	(void)state;
	cl_command_queue q = ocl_test_queue(0);
	cl_program program = clCreateProgramWithSource(fake_context(), 1, NULL, NULL, NULL);
	fake.binary = (const unsigned char *)"//\n.version 8.0";
	fake.binary_bytes = 15;
	ocl_test_run(q, clCreateKernel(program, "jacobi", NULL), NULL);
	assert_int_equal(fake_host.code_kind, MSR_GPU_CODE_OPENCL_C);
	assert_int_equal(fake_host.code_bytes, strlen(fake.source));
	/* another kernel of the same build asks nothing anew; built again, and now without source,
	 * it does */
	fake.source = "";
	ocl_test_run(q, clCreateKernel(program, "jacobi", NULL), NULL);
	assert_int_equal(fake_host.n_functions, 2);
	assert_int_equal(fake_host.n_codes, 1);
	clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
	ocl_test_run(q, clCreateKernel(program, "jacobi", NULL), NULL);
	assert_int_equal(fake_host.n_codes, 2);
	assert_int_equal(fake_host.code_kind, MSR_GPU_CODE_PTX);
	clReleaseCommandQueue(q);
	/* PoCL is never asked for what it would have to compile */
	fake_start();
	fake.platform = "Portable Computing Language";
	q = ocl_test_queue(0);
	ocl_test_run(q, ocl_test_kernel(), NULL);
	assert_int_equal(fake.n_binary_asked, 0);
	assert_int_equal(fake_host.code_kind, MSR_GPU_CODE_OPENCL_C);
	clReleaseCommandQueue(q);
}

static void refused_is_not_launched(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_event event = (cl_event)(uintptr_t)0x1234;
	(void)state;
	fake.fail = CL_INVALID_KERNEL_ARGS;
	assert_int_equal(ocl_test_run(q, ocl_test_kernel(), &event), CL_INVALID_KERNEL_ARGS);
	assert_ptr_equal(event, (cl_event)(uintptr_t)0x1234);
	assert_int_equal(clEnqueueReadBuffer(q, NULL, CL_TRUE, 0, 1, NULL, 0, NULL, NULL),
			 CL_INVALID_KERNEL_ARGS);
	assert_int_equal(clFinish(NULL), CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(ocl_test_run(NULL, NULL, NULL), CL_INVALID_KERNEL_ARGS);
	assert_int_equal(fake_n_launched(), 0);
	clReleaseCommandQueue(q);
}

static void lost_with_cause(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_kernel k = ocl_test_kernel();
	(void)state;
	fake.end_with = -5;
	ocl_test_run(q, k, NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_FAILED], 1);
	fake.end_with = CL_COMPLETE;
	fake.no_events = true;
	ocl_test_run(q, k, NULL);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	clReleaseCommandQueue(q);
	assert_int_equal(fake.n_events, 0);
}

/* As NVIDIA's implementation does for commands that have not ended, have failed, or are
 * barriers. */
static void senseless_times(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_kernel k = ocl_test_kernel();
	(void)state;
	fake.answers_early = true;
	fake.end_with = CL_RUNNING;
	ocl_test_run(q, k, NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 0);
	fake_end_all(-7);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 0);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_FAILED], 1);
	fake.end_with = CL_COMPLETE;
	ocl_test_run(q, k, NULL);
	fake.stale_times = true;
	ocl_test_run(q, k, NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	clReleaseCommandQueue(q);
}

static void blocking_copy_waits(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	char to[100];
	(void)state;
	assert_int_equal(clEnqueueReadBuffer(q, NULL, CL_TRUE, 0, sizeof to, to, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(fake_host.n_ops[MSR_GPU_COPY], 1); /* collected at once */
	assert_int_equal(fake_last(MSR_GPU_COPY)->amount, 100);
	assert_int_equal(fake_last(MSR_GPU_COPY)->detail, MSR_GPU_COPY_D2H);
	assert_int_equal(fake_last(MSR_GPU_SYNC)->detail, MSR_GPU_SYNC_COPY);
	clReleaseCommandQueue(q);
}

static void bytes_of_regions(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	size_t origin[3] = {0}, region[3] = {8, 4, 2};
	cl_int error = 1;
	(void)state;
	cl_mem a = clCreateBuffer(fake_context(), 0, 100, NULL, &error),
	       b = clCreateBuffer(fake_context(), CL_MEM_ALLOC_HOST_PTR, 50, NULL, NULL);
	assert_int_equal(fake_host.n_ops[MSR_GPU_ALLOC], 2);
	assert_int_equal(fake_last(MSR_GPU_ALLOC)->detail, MSR_GPU_MEMORY_HOST);
	clEnqueueMigrateMemObjects(q, 2, (cl_mem[]){a, b}, 0, 0, NULL, NULL);
	clFinish(q);
	assert_int_equal(fake_last(MSR_GPU_COPY)->amount, 150);
	clEnqueueWriteImage(q, a, CL_FALSE, origin, region, 0, 0, NULL, 0, NULL, NULL);
	clFinish(q);
	assert_int_equal(fake_last(MSR_GPU_COPY)->amount, 8 * 4 * 2 * 4);
	void *at = clEnqueueMapBuffer(q, a, CL_TRUE, 0, 0, 77, 0, NULL, NULL, NULL);
	assert_int_equal(fake_last(MSR_GPU_COPY)->detail, MSR_GPU_COPY_MAP);
	clEnqueueUnmapMemObject(q, a, at, 0, NULL, NULL);
	clFinish(q);
	assert_int_equal(fake_last(MSR_GPU_COPY)->detail, MSR_GPU_COPY_UNMAP);
	assert_int_equal(fake_last(MSR_GPU_COPY)->amount, 77);
	/* freed where the last reference goes */
	clRetainMemObject(a);
	clReleaseMemObject(a);
	assert_int_equal(fake_host.n_ops[MSR_GPU_FREE], 0);
	clReleaseMemObject(a);
	assert_int_equal(fake_last(MSR_GPU_FREE)->amount, 100);
	clReleaseMemObject(b);
	assert_null(clCreateBuffer(fake_context(), 0, 0, NULL, &error));
	assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
	assert_int_equal(fake_host.n_ops[MSR_GPU_ALLOC], 2);
	clReleaseCommandQueue(q);
}

static void svm_directions(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	char host_memory[8];
	(void)state;
	char *a = clSVMAlloc(fake_context(), 0, 100, 0), *b = clSVMAlloc(fake_context(), 0, 200, 0);
	const struct { void *to; const void *from; unsigned direction;
	} cases[] = {{a + 50, b + 199, MSR_GPU_COPY_D2D},
		     {a, host_memory, MSR_GPU_COPY_H2D},
		     {host_memory, b, MSR_GPU_COPY_D2H},
		     {host_memory, host_memory, MSR_GPU_COPY_H2H}};
	for (unsigned i = 0; i < 4; i++) {
		clEnqueueSVMMemcpy(q, CL_TRUE, cases[i].to, cases[i].from, 1, 0, NULL, NULL);
		assert_int_equal(fake_last(MSR_GPU_COPY)->detail, cases[i].direction);
	}
	clSVMFree(fake_context(), a);
	clSVMFree(fake_context(), b);
	clSVMFree(fake_context(), NULL);
	assert_int_equal(fake_host.n_ops[MSR_GPU_FREE], 2);
	assert_int_equal(fake_last(MSR_GPU_FREE)->amount, 200);
	clReleaseCommandQueue(q);
}

static void old_barriers(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	(void)state;
	/* nothing is known of the queue yet */
	assert_int_equal(clEnqueueBarrier(q), CL_SUCCESS);
	assert_int_equal(fake.n_old_barriers, 1);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	ocl_test_run(q, ocl_test_kernel(), NULL);
	assert_int_equal(clEnqueueBarrier(q), CL_SUCCESS);
	clFinish(q);
	assert_int_equal(fake.n_barriers_with_list, 1);
	assert_int_equal(fake_host.n_ops[MSR_GPU_MARKER], 1);
	fake.fail = CL_OUT_OF_RESOURCES;
	assert_int_equal(clEnqueueBarrier(q), CL_OUT_OF_RESOURCES);
	assert_int_equal(fake.n_old_barriers, 2);
	assert_int_equal(fake_host.n_launched[MSR_GPU_MARKER], 2);
	clReleaseCommandQueue(q);
}

/* Extensions whose signatures we know. */
static void known_extensions(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	char a[8], b[8];
	(void)state;
	cl_int (*run)(cl_uint, cl_command_queue *, void *, cl_uint, const cl_event *, cl_event *) =
		(cl_int(*)(cl_uint, cl_command_queue *, void *, cl_uint, const cl_event *,
			   cl_event *))(
			uintptr_t)clGetExtensionFunctionAddress("clEnqueueCommandBufferKHR");
	assert_int_equal(run(0, NULL, q, 0, NULL, NULL), CL_SUCCESS);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
	assert_string_equal(fake_host.function, "<command buffer>");
	fake.fail = CL_INVALID_OPERATION;
	assert_int_equal(run(1, &q, NULL, 0, NULL, NULL), CL_INVALID_OPERATION);
	fake.fail = 0;
	OCL_TYPE(clEnqueueSVMMemcpy)
	copy = (OCL_TYPE(clEnqueueSVMMemcpy))(uintptr_t)clGetExtensionFunctionAddress(
		"clEnqueueMemcpyINTEL");
	assert_int_equal(copy(q, CL_TRUE, a, b, 8, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_last(MSR_GPU_COPY)->amount, 8);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	clReleaseCommandQueue(q);
	assert_int_equal(fake.n_events, 0);
}

/* The program has stopped the measurement: calls are passed on, and what was launched before is
 * told. */
static void measurement_is_off(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_event theirs = NULL;
	char to[8];
	(void)state;
	ocl_test_run(q, ocl_test_kernel(), NULL);
	fake_host.is_off = true;
	uint64_t before = fake_n_launched();
	unsigned n_events = fake.n_events;
	assert_int_equal(ocl_test_run(q, ocl_test_kernel(), NULL), CL_SUCCESS);
	assert_int_equal(fake.n_events, n_events); /* none of ours */
	assert_int_equal(ocl_test_run(q, ocl_test_kernel(), &theirs), CL_SUCCESS);
	assert_non_null(theirs);
	assert_int_equal(clEnqueueReadBuffer(q, NULL, CL_TRUE, 0, 8, to, 0, NULL, NULL),
			 CL_SUCCESS);
	clFinish(q);
	assert_int_equal(fake_n_launched(), before);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
	fake_host.is_off = false;
	ocl_test_run(q, ocl_test_kernel(), NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 2);
	ocl_next.clReleaseEvent(theirs);
	clReleaseCommandQueue(q);
	assert_int_equal(fake_n_answered(), fake_n_launched());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OCL_TEST(entrance),
		OCL_TEST(kernel_recorded),
		OCL_TEST(group_left_open),
		OCL_TEST(code_objects),
		OCL_TEST(refused_is_not_launched),
		OCL_TEST(lost_with_cause),
		OCL_TEST(senseless_times),
		OCL_TEST(blocking_copy_waits),
		OCL_TEST(bytes_of_regions),
		OCL_TEST(svm_directions),
		OCL_TEST(old_barriers),
		OCL_TEST(known_extensions),
		OCL_TEST(measurement_is_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
