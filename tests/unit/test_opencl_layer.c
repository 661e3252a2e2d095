/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL back end before a made-up implementation: what it records, and that the program sees nothing of it. */
#include "tests/unit/fake_opencl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Commands that never end, and queues that a program forgets, are what some tests are about: their objects stay. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

static const size_t global[1] = {1000}, local[1] = {64};

static cl_command_queue make_queue(cl_command_queue_properties properties)
{
	cl_int error = 1;
	cl_command_queue q = clCreateCommandQueue(fake_context(), fake_device(), properties, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_non_null(q);
	return q;
}

static cl_int run_kernel(cl_command_queue q, cl_kernel k, cl_event *event)
{
	return clEnqueueNDRangeKernel(q, k, 1, NULL, global, local, 0, NULL, event);
}

static cl_kernel make_kernel(void)
{
	cl_int error;
	return clCreateKernel(clCreateProgramWithSource(fake_context(), 1, NULL, NULL, NULL), "jacobi", &error);
}

static int setup(void **state)
{
	(void)state;
	fake_start();
	return 0;
}

/* ---- entrance ------------------------------------------------------------------------------------------------------------- */

static void entrance(void **state)
{
	cl_layer_api_version version = 0;
	cl_uint n = 0;
	char name[64];
	size_t bytes;
	const cl_icd_dispatch *ours = NULL;
	(void)state;
	assert_string_equal(fake_host.how, "ICD loader's layer");
	assert_int_equal(clGetLayerInfo(CL_LAYER_API_VERSION, sizeof version, &version, &bytes), CL_SUCCESS);
	assert_int_equal(version, CL_LAYER_API_VERSION_100);
	assert_int_equal(clGetLayerInfo(CL_LAYER_API_VERSION, 1, &version, NULL), CL_INVALID_VALUE);
	assert_int_equal(clGetLayerInfo(OCL_LAYER_NAME, sizeof name, name, NULL), CL_SUCCESS);
	assert_int_equal(clGetLayerInfo(0, 0, NULL, NULL), CL_INVALID_VALUE);
	/* offered twice */
	assert_int_equal(clInitLayer(1, &fake_dispatch, &n, &ours), CL_INVALID_OPERATION);
	assert_int_equal(clInitLayerWithProperties(1, &fake_dispatch, &n, &ours, NULL), CL_INVALID_OPERATION);
	assert_null(ours);
	assert_int_equal(fake_host.n_entered, 1);
	/* by another loader: refused as well, and said */
	cl_icd_dispatch another = fake_dispatch;
	another.clFinish = NULL;
	assert_int_equal(fake_host.n_notes, 0);
	assert_int_equal(clInitLayer(sizeof another / sizeof(void *), &another, &n, &ours), CL_INVALID_OPERATION);
	assert_int_equal(fake_host.n_notes, 1);
	/* a process that is not measured */
	atomic_store(&ocl_entrance, OCL_NOT_IN);
	fake_host.absent = true;
	assert_int_equal(clInitLayer(1, &fake_dispatch, &n, &ours), CL_INVALID_OPERATION);
	assert_null(ours);
}

/* ---- records --------------------------------------------------------------------------------------------------------------- */

static void kernel_recorded(void **state)
{
	cl_command_queue q = make_queue(0);
	cl_kernel k = make_kernel();
	(void)state;
	fake.clock_offset = 5000000000;
	assert_int_equal(run_kernel(q, k, NULL), CL_SUCCESS);
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
		run_kernel(q, k, NULL);
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
	cl_command_queue q = make_queue(0);
	(void)state;
	clEnqueueNDRangeKernel(q, make_kernel(), 1, NULL, global, NULL, 0, NULL, NULL);
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
	cl_command_queue q = make_queue(0);
	cl_program program = clCreateProgramWithSource(fake_context(), 1, NULL, NULL, NULL);
	fake.binary = (const unsigned char *)"//\n.version 8.0";
	fake.binary_bytes = 15;
	run_kernel(q, clCreateKernel(program, "jacobi", NULL), NULL);
	assert_int_equal(fake_host.code_kind, MSR_GPU_CODE_OPENCL_C);
	assert_int_equal(fake_host.code_bytes, strlen(fake.source));
	/* another kernel of the same build asks nothing anew; built again, and now without source, it does */
	fake.source = "";
	run_kernel(q, clCreateKernel(program, "jacobi", NULL), NULL);
	assert_int_equal(fake_host.n_functions, 2);
	assert_int_equal(fake_host.n_codes, 1);
	clBuildProgram(program, 0, NULL, NULL, NULL, NULL);
	run_kernel(q, clCreateKernel(program, "jacobi", NULL), NULL);
	assert_int_equal(fake_host.n_codes, 2);
	assert_int_equal(fake_host.code_kind, MSR_GPU_CODE_PTX);
	clReleaseCommandQueue(q);
	/* PoCL is never asked for what it would have to compile */
	fake_start();
	fake.platform = "Portable Computing Language";
	q = make_queue(0);
	run_kernel(q, make_kernel(), NULL);
	assert_int_equal(fake.n_binary_asked, 0);
	assert_int_equal(fake_host.code_kind, MSR_GPU_CODE_OPENCL_C);
	clReleaseCommandQueue(q);
}

static void refused_is_not_launched(void **state)
{
	cl_command_queue q = make_queue(0);
	cl_event event = (cl_event)(uintptr_t)0x1234;
	(void)state;
	fake.fail = CL_INVALID_KERNEL_ARGS;
	assert_int_equal(run_kernel(q, make_kernel(), &event), CL_INVALID_KERNEL_ARGS);
	assert_ptr_equal(event, (cl_event)(uintptr_t)0x1234);
	assert_int_equal(clEnqueueReadBuffer(q, NULL, CL_TRUE, 0, 1, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
	assert_int_equal(clFinish(NULL), CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(run_kernel(NULL, NULL, NULL), CL_INVALID_KERNEL_ARGS);
	assert_int_equal(fake_n_launched(), 0);
	clReleaseCommandQueue(q);
}

static void lost_with_cause(void **state)
{
	cl_command_queue q = make_queue(0);
	cl_kernel k = make_kernel();
	(void)state;
	fake.end_with = -5;
	run_kernel(q, k, NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_FAILED], 1);
	fake.end_with = CL_COMPLETE;
	fake.no_events = true;
	run_kernel(q, k, NULL);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	clReleaseCommandQueue(q);
	assert_int_equal(fake.n_events, 0);
}

/* As NVIDIA's implementation does for commands that have not ended, have failed, or are barriers. */
static void senseless_times(void **state)
{
	cl_command_queue q = make_queue(0);
	cl_kernel k = make_kernel();
	(void)state;
	fake.answers_early = true;
	fake.end_with = CL_RUNNING;
	run_kernel(q, k, NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 0);
	fake_end_all(-7);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 0);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_FAILED], 1);
	fake.end_with = CL_COMPLETE;
	run_kernel(q, k, NULL);
	fake.stale_times = true;
	run_kernel(q, k, NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	clReleaseCommandQueue(q);
}

static void blocking_copy_waits(void **state)
{
	cl_command_queue q = make_queue(0);
	char to[100];
	(void)state;
	assert_int_equal(clEnqueueReadBuffer(q, NULL, CL_TRUE, 0, sizeof to, to, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_host.n_ops[MSR_GPU_COPY], 1); /* collected at once */
	assert_int_equal(fake_last(MSR_GPU_COPY)->amount, 100);
	assert_int_equal(fake_last(MSR_GPU_COPY)->detail, MSR_GPU_COPY_D2H);
	assert_int_equal(fake_last(MSR_GPU_SYNC)->detail, MSR_GPU_SYNC_COPY);
	clReleaseCommandQueue(q);
}

static void bytes_of_regions(void **state)
{
	cl_command_queue q = make_queue(0);
	size_t origin[3] = {0}, region[3] = {8, 4, 2};
	cl_int error = 1;
	(void)state;
	cl_mem a = clCreateBuffer(fake_context(), 0, 100, NULL, &error), b = clCreateBuffer(fake_context(), CL_MEM_ALLOC_HOST_PTR, 50, NULL, NULL);
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
	cl_command_queue q = make_queue(0);
	char host_memory[8];
	(void)state;
	char *a = clSVMAlloc(fake_context(), 0, 100, 0), *b = clSVMAlloc(fake_context(), 0, 200, 0);
	const struct { void *to; const void *from; unsigned direction; } cases[] = {
		{a + 50, b + 199, MSR_GPU_COPY_D2D}, {a, host_memory, MSR_GPU_COPY_H2D}, {host_memory, b, MSR_GPU_COPY_D2H}, {host_memory, host_memory, MSR_GPU_COPY_H2H}};
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
	cl_command_queue q = make_queue(0);
	(void)state;
	/* nothing is known of the queue yet */
	assert_int_equal(clEnqueueBarrier(q), CL_SUCCESS);
	assert_int_equal(fake.n_old_barriers, 1);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	run_kernel(q, make_kernel(), NULL);
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

/* ---- what the program sees ------------------------------------------------------------------------------------------------------ */

static void references(void **state)
{
	cl_command_queue q = make_queue(0);
	cl_event event = NULL;
	cl_uint n = 0;
	(void)state;
	fake.end_with = CL_RUNNING;
	run_kernel(q, make_kernel(), &event);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof n, &n, NULL), CL_SUCCESS);
	assert_int_equal(n, 2); /* the program's and the command's */
	clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL);
	assert_int_equal(n, 2); /* the command in flight holds one, as without us */
	fake_end_all(CL_COMPLETE);
	clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof n, &n, NULL);
	assert_int_equal(n, 1);
	assert_int_equal(fake.n_events, 1);
	fake_dispatch.clReleaseEvent(event);
	assert_int_equal(fake.n_events, 0);
	run_kernel(q, make_kernel(), NULL);
	fake_end_all(CL_COMPLETE);
	clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL);
	assert_int_equal(n, 1);
	clReleaseCommandQueue(q);
}

static void properties(void **state)
{
	static const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0}, empty[] = {0};
	cl_command_queue_properties p = 99;
	cl_queue_properties got[8];
	size_t bytes = 99;
	cl_int error;
	(void)state;
	cl_command_queue q = make_queue(0);
	clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, 0);
	clReleaseCommandQueue(q);
	q = clCreateCommandQueueWithProperties(fake_context(), fake_device(), list, &error);
	clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	assert_int_equal(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, got, &bytes), CL_SUCCESS);
	assert_int_equal(bytes, sizeof list);
	assert_memory_equal(got, list, sizeof list);
	assert_int_equal(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, 8, got, &bytes), CL_INVALID_VALUE);
	clReleaseCommandQueue(q);
	/* ours is longer than the program's */
	q = clCreateCommandQueueWithProperties(fake_context(), fake_device(), empty, &error);
	assert_int_equal(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof empty, got, &bytes), CL_SUCCESS);
	assert_int_equal(bytes, sizeof empty);
	assert_int_equal(got[0], 0);
	clReleaseCommandQueue(q);
	q = clCreateCommandQueueWithProperties(fake_context(), fake_device(), NULL, &error);
	assert_int_equal(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &bytes), CL_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_int_equal(clGetCommandQueueInfo(q, 0x9999, 0, NULL, &bytes), CL_INVALID_VALUE);
	clReleaseCommandQueue(q);
}

static void times_only_for_those_who_asked(void **state)
{
	cl_event event;
	cl_ulong t = 99;
	(void)state;
	cl_command_queue q = make_queue(0), asked = make_queue(CL_QUEUE_PROFILING_ENABLE);
	run_kernel(q, make_kernel(), &event);
	assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
	assert_int_equal(t, 99);
	fake_dispatch.clReleaseEvent(event);
	clFinish(q);
	run_kernel(asked, make_kernel(), &event);
	assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL), CL_SUCCESS);
	clFinish(asked);
	assert_int_equal(fake_last(MSR_GPU_KERNEL)->end_ns, t);
	assert_int_equal(clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL), CL_INVALID_EVENT);
	fake_dispatch.clReleaseEvent(event);
	clReleaseCommandQueue(q);
	clReleaseCommandQueue(asked);
}

static void profiling_switched(void **state)
{
	cl_command_queue_properties old = 99;
	cl_command_queue q = make_queue(0);
	cl_event event;
	cl_ulong t;
	(void)state;
	assert_int_equal(clSetCommandQueueProperty(q, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &old), CL_SUCCESS);
	assert_int_equal(old, 0);
	run_kernel(q, make_kernel(), &event);
	assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL), CL_SUCCESS);
	fake_dispatch.clReleaseEvent(event);
	clSetCommandQueueProperty(q, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, &old);
	assert_int_equal(old, CL_QUEUE_PROFILING_ENABLE);
	run_kernel(q, make_kernel(), &event);
	assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
	fake_dispatch.clReleaseEvent(event);
	clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof old, &old, NULL);
	assert_int_equal(old, 0);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 2); /* with times, both */
	clReleaseCommandQueue(q);
}

static void profiling_refused(void **state)
{
	cl_int error = 1;
	(void)state;
	fake.refuses_profiling = true;
	assert_null(clCreateCommandQueue(fake_context(), fake_device(), CL_QUEUE_PROFILING_ENABLE, &error));
	assert_int_equal(error, CL_INVALID_QUEUE_PROPERTIES);
	cl_command_queue q = make_queue(0);
	run_kernel(q, make_kernel(), NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	assert_int_equal(fake_host.queue_flags, 0);
	clReleaseCommandQueue(q);
	assert_int_equal(fake.n_events, 0);
}

/* ---- life ----------------------------------------------------------------------------------------------------------------------- */

static void never_done(void **state)
{
	cl_command_queue q = make_queue(0);
	(void)state;
	fake.end_with = CL_RUNNING;
	run_kernel(q, make_kernel(), NULL);
	fake.end_with = CL_QUEUED;
	run_kernel(q, make_kernel(), NULL);
	clReleaseCommandQueue(q);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NEVER_DONE], 2);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NEVER_DONE], 2);
}

/* Ended after the last call of the program. */
static void ended_late(void **state)
{
	cl_command_queue q = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	(void)state;
	fake.end_with = CL_SUBMITTED;
	for (unsigned i = 0; i < 100; i++)
		run_kernel(q, make_kernel(), NULL);
	fake_end_all(CL_COMPLETE);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 100);
}

/* An end inside a call of OpenCL, as from a signal handler: nothing is asked any more. */
static void ended_inside(void **state)
{
	cl_command_queue q = make_queue(0);
	(void)state;
	run_kernel(q, make_kernel(), NULL);
	ocl_depth = 1;
	fake_host.at_end(1000000);
	ocl_depth = 0;
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NEVER_DONE], 1);
}

static void handles_again(void **state)
{
	cl_command_queue_properties p;
	(void)state;
	fake.reuse = true;
	cl_command_queue q = make_queue(0), again;
	cl_kernel k = make_kernel();
	run_kernel(q, k, NULL);
	clFinish(q);
	clReleaseCommandQueue(q);
	again = make_queue(CL_QUEUE_PROFILING_ENABLE);
	assert_ptr_equal(again, q);
	clGetCommandQueueInfo(again, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, CL_QUEUE_PROFILING_ENABLE);
	run_kernel(again, k, NULL);
	assert_int_equal(fake_host.n_queues, 2);
	assert_int_equal(fake_host.queue_flags, 0);
	assert_int_equal(fake_host.n_functions, 1);
	assert_ptr_equal(make_kernel(), k); /* the same handle for a new kernel */
	run_kernel(again, k, NULL);
	assert_int_equal(fake_host.n_functions, 2);
	cl_mem m = clCreateBuffer(fake_context(), 0, 100, NULL, NULL);
	clReleaseMemObject(m);
	assert_ptr_equal(clCreateBuffer(fake_context(), 0, 300, NULL, NULL), m);
	clReleaseMemObject(m);
	assert_int_equal(fake_last(MSR_GPU_FREE)->amount, 300);
	clReleaseCommandQueue(again);
}

/* The queue's handle comes back while operations of the one before are in flight. */
static void handle_again_too_early(void **state)
{
	(void)state;
	fake.reuse = true;
	fake.end_with = CL_RUNNING;
	cl_command_queue q = make_queue(0);
	run_kernel(q, make_kernel(), NULL);
	run_kernel(q, make_kernel(), NULL);
	clReleaseCommandQueue(q);
	ocl_queue_made(atomic_load(&ocl_state_now), q, true, NULL);
	run_kernel(q, make_kernel(), NULL);
	fake_end_all(CL_COMPLETE);
	fake_host.at_end(1000000);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 3);
	assert_int_equal(fake_host.n_queues, 2);
}

static void forked(void **state)
{
	cl_command_queue q = make_queue(0);
	(void)state;
	fake.end_with = CL_RUNNING;
	run_kernel(q, make_kernel(), NULL);
	pthread_mutex_lock(&atomic_load(&ocl_state_now)->define); /* as if another thread were inside */
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		fake_host.generation = 2;
		uint64_t before = fake_n_answered();
		fake_end_all(CL_COMPLETE);
		clFinish(q);
		bool good = fake_n_answered() == before + 1 && fake.n_events == 1; /* the wait; the parent's operation is the parent's */
		run_kernel(q, make_kernel(), NULL);
		fake_end_all(CL_COMPLETE);
		clFinish(q);
		good = good && fake_host.n_ops[MSR_GPU_KERNEL] == 1;
		_exit(good ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pthread_mutex_unlock(&atomic_load(&ocl_state_now)->define);
	fake_end_all(CL_COMPLETE);
	clReleaseCommandQueue(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
}

/* Measurement has ended: calls go on, and what was hidden stays hidden. */
static void after_the_end(void **state)
{
	cl_command_queue_properties p = 99;
	cl_command_queue q = make_queue(0);
	(void)state;
	run_kernel(q, make_kernel(), NULL);
	fake_host.generation = 0;
	assert_int_equal(run_kernel(q, make_kernel(), NULL), CL_SUCCESS);
	clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, 0);
	assert_int_equal(clFinish(q), CL_SUCCESS);
	clReleaseCommandQueue(q);
}

/* More in flight than is remembered. */
static void too_many(void **state)
{
	cl_command_queue q = make_queue(0);
	cl_kernel k = make_kernel();
	(void)state;
	fake.end_with = CL_QUEUED;
	for (uint32_t i = 0; i < OCL_MAX_PENDING + 10; i++)
		run_kernel(q, k, NULL);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_PENDING], 10);
	assert_int_equal(fake.n_events, OCL_MAX_PENDING + 10);
	fake_end_all(CL_COMPLETE);
	clFinish(q);
	assert_int_equal(fake.n_events, 0);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	clReleaseCommandQueue(q);
}

static void extensions(void **state)
{
	cl_command_queue q = make_queue(0);
	cl_command_queue_properties p = 99;
	(void)state;
	cl_int (*strange)(cl_command_queue, int, int, int, int, int, int, int) =
		(cl_int(*)(cl_command_queue, int, int, int, int, int, int, int))(uintptr_t)clGetExtensionFunctionAddress("clEnqueueStrangeXYZ");
	assert_non_null(strange);
	assert_ptr_not_equal((void *)(uintptr_t)strange, fake_dispatch.clGetExtensionFunctionAddress("clEnqueueStrangeXYZ"));
	assert_ptr_equal((void *)(uintptr_t)strange, clGetExtensionFunctionAddress("clEnqueueStrangeXYZ"));
	assert_int_equal(strange(q, 1, 2, 3, 4, 5, 6, 7), 28);
	assert_int_equal(strange(q, 1, 2, 3, 4, 5, 6, 8), 29);
	assert_ptr_equal(clGetExtensionFunctionAddress("clOtherXYZ"), fake_dispatch.clGetExtensionFunctionAddress("clOtherXYZ"));
	assert_null(clGetExtensionFunctionAddress("clNothing"));
	fake_host.at_end(0);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_UNKNOWN_CALL], 2);
	OCL_TYPE(clCreateCommandQueueWithProperties) create =
		(OCL_TYPE(clCreateCommandQueueWithProperties))(uintptr_t)clGetExtensionFunctionAddress("clCreateCommandQueueWithPropertiesKHR");
	cl_command_queue other = create(fake_context(), fake_device(), NULL, NULL);
	clGetCommandQueueInfo(other, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, 0);
	fake_dispatch.clGetCommandQueueInfo(other, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, CL_QUEUE_PROFILING_ENABLE);
	clReleaseCommandQueue(q);
	clReleaseCommandQueue(other);
}

/* Extensions whose signatures we know. */
static void known_extensions(void **state)
{
	cl_command_queue q = make_queue(0);
	char a[8], b[8];
	(void)state;
	cl_int (*run)(cl_uint, cl_command_queue *, void *, cl_uint, const cl_event *, cl_event *) =
		(cl_int(*)(cl_uint, cl_command_queue *, void *, cl_uint, const cl_event *, cl_event *))(uintptr_t)clGetExtensionFunctionAddress("clEnqueueCommandBufferKHR");
	assert_int_equal(run(0, NULL, q, 0, NULL, NULL), CL_SUCCESS);
	clFinish(q);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], 1);
	assert_string_equal(fake_host.function, "<command buffer>");
	fake.fail = CL_INVALID_OPERATION;
	assert_int_equal(run(1, &q, NULL, 0, NULL, NULL), CL_INVALID_OPERATION);
	fake.fail = 0;
	OCL_TYPE(clEnqueueSVMMemcpy) copy = (OCL_TYPE(clEnqueueSVMMemcpy))(uintptr_t)clGetExtensionFunctionAddress("clEnqueueMemcpyINTEL");
	assert_int_equal(copy(q, CL_TRUE, a, b, 8, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(fake_last(MSR_GPU_COPY)->amount, 8);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	clReleaseCommandQueue(q);
	assert_int_equal(fake.n_events, 0);
}

/* ---- several threads ------------------------------------------------------------------------------------------------------------ */

#define N_THREADS 4
#define N_EACH 2000

static void *storm(void *arg)
{
	cl_command_queue shared = arg, own = clCreateCommandQueue(fake_context(), fake_device(), 0, NULL);
	for (unsigned i = 0; i < N_EACH; i++) {
		const size_t size[1] = {i % 8 + 1};
		cl_event event = NULL;
		clEnqueueNDRangeKernel(i % 2 ? shared : own, make_kernel(), 1, NULL, size, i % 3 ? size : NULL, 0, NULL, i % 4 ? NULL : &event);
		if (event)
			fake_dispatch.clReleaseEvent(event);
		if (i % 100 == 0)
			clFinish(own);
		cl_mem m = clCreateBuffer(fake_context(), 0, 8, NULL, NULL);
		clReleaseMemObject(m);
	}
	clReleaseCommandQueue(own);
	return NULL;
}

static void threads(void **state)
{
	pthread_t thread[N_THREADS];
	cl_command_queue shared = make_queue(0);
	(void)state;
	for (unsigned i = 0; i < N_THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, storm, shared), 0);
	for (unsigned i = 0; i < N_THREADS; i++)
		pthread_join(thread[i], NULL);
	clFinish(shared);
	assert_int_equal(fake_host.n_launched[MSR_GPU_KERNEL], N_THREADS * N_EACH);
	for (unsigned i = 0; i < MSR_N_GPU_LOSSES; i++)
		assert_int_equal(fake_host.n_lost[i], 0);
	assert_int_equal(fake_host.n_ops[MSR_GPU_KERNEL], N_THREADS * N_EACH);
	assert_int_equal(fake_n_answered(), fake_n_launched());
	assert_int_equal(fake.n_events, 0);
	clReleaseCommandQueue(shared);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		TEST(entrance), TEST(kernel_recorded), TEST(group_left_open), TEST(code_objects), TEST(refused_is_not_launched), TEST(lost_with_cause), TEST(senseless_times),
		TEST(blocking_copy_waits), TEST(bytes_of_regions), TEST(svm_directions), TEST(old_barriers), TEST(references), TEST(properties),
		TEST(times_only_for_those_who_asked), TEST(profiling_switched), TEST(profiling_refused), TEST(never_done), TEST(ended_late), TEST(ended_inside),
		TEST(handles_again), TEST(handle_again_too_early), TEST(forked), TEST(after_the_end), TEST(too_many), TEST(extensions), TEST(known_extensions), TEST(threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
