/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL back end before a fake implementation: the program sees nothing of it in references,
 * properties, times and functions of extensions. */
#include "tests/unit/opencl/opencl_fixture.h"

static void references(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_event event = NULL;
	cl_uint n = 0;
	(void)state;
	fake.end_with = CL_RUNNING;
	ocl_test_run(q, ocl_test_kernel(), &event);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof n, &n, NULL),
			 CL_SUCCESS);
	assert_int_equal(n, 2); /* the program's and the command's */
	clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL);
	assert_int_equal(n, 2); /* the command in flight holds one, as without us */
	fake_end_all(CL_COMPLETE);
	clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof n, &n, NULL);
	assert_int_equal(n, 1);
	assert_int_equal(fake.n_events, 1);
	fake_dispatch.clReleaseEvent(event);
	assert_int_equal(fake.n_events, 0);
	ocl_test_run(q, ocl_test_kernel(), NULL);
	fake_end_all(CL_COMPLETE);
	clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL);
	assert_int_equal(n, 1);
	clReleaseCommandQueue(q);
}

static void properties(void **state)
{
	static const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES,
						   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0},
					 empty[] = {0};
	cl_command_queue_properties p = 99;
	cl_queue_properties got[8];
	size_t bytes = 99;
	cl_int error;
	(void)state;
	cl_command_queue q = ocl_test_queue(0);
	clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, 0);
	clReleaseCommandQueue(q);
	q = clCreateCommandQueueWithProperties(fake_context(), fake_device(), list, &error);
	clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	assert_int_equal(
		clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof list, got, &bytes),
		CL_SUCCESS);
	assert_int_equal(bytes, sizeof list);
	assert_memory_equal(got, list, sizeof list);
	assert_int_equal(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, 8, got, &bytes),
			 CL_INVALID_VALUE);
	clReleaseCommandQueue(q);
	/* ours is longer than the program's */
	q = clCreateCommandQueueWithProperties(fake_context(), fake_device(), empty, &error);
	assert_int_equal(
		clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof empty, got, &bytes),
		CL_SUCCESS);
	assert_int_equal(bytes, sizeof empty);
	assert_int_equal(got[0], 0);
	clReleaseCommandQueue(q);
	q = clCreateCommandQueueWithProperties(fake_context(), fake_device(), NULL, &error);
	assert_int_equal(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &bytes),
			 CL_SUCCESS);
	assert_int_equal(bytes, 0);
	assert_int_equal(clGetCommandQueueInfo(q, 0x9999, 0, NULL, &bytes), CL_INVALID_VALUE);
	clReleaseCommandQueue(q);
}

static void times_only_for_those_who_asked(void **state)
{
	cl_event event;
	cl_ulong t = 99;
	(void)state;
	cl_command_queue q = ocl_test_queue(0), asked = ocl_test_queue(CL_QUEUE_PROFILING_ENABLE);
	ocl_test_run(q, ocl_test_kernel(), &event);
	assert_int_equal(
		clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL),
		CL_PROFILING_INFO_NOT_AVAILABLE);
	assert_int_equal(t, 99);
	fake_dispatch.clReleaseEvent(event);
	clFinish(q);
	ocl_test_run(asked, ocl_test_kernel(), &event);
	assert_int_equal(
		clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL),
		CL_SUCCESS);
	clFinish(asked);
	assert_int_equal(fake_last(MSR_GPU_KERNEL)->end_ns, t);
	assert_int_equal(
		clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL),
		CL_INVALID_EVENT);
	fake_dispatch.clReleaseEvent(event);
	clReleaseCommandQueue(q);
	clReleaseCommandQueue(asked);
}

static void profiling_switched(void **state)
{
	cl_command_queue_properties old = 99;
	cl_command_queue q = ocl_test_queue(0);
	cl_event event;
	cl_ulong t;
	(void)state;
	assert_int_equal(clSetCommandQueueProperty(q, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &old),
			 CL_SUCCESS);
	assert_int_equal(old, 0);
	ocl_test_run(q, ocl_test_kernel(), &event);
	assert_int_equal(
		clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL),
		CL_SUCCESS);
	fake_dispatch.clReleaseEvent(event);
	clSetCommandQueueProperty(q, CL_QUEUE_PROFILING_ENABLE, CL_FALSE, &old);
	assert_int_equal(old, CL_QUEUE_PROFILING_ENABLE);
	ocl_test_run(q, ocl_test_kernel(), &event);
	assert_int_equal(
		clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL),
		CL_PROFILING_INFO_NOT_AVAILABLE);
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
	assert_null(clCreateCommandQueue(fake_context(), fake_device(), CL_QUEUE_PROFILING_ENABLE,
					 &error));
	assert_int_equal(error, CL_INVALID_QUEUE_PROPERTIES);
	cl_command_queue q = ocl_test_queue(0);
	ocl_test_run(q, ocl_test_kernel(), NULL);
	clFinish(q);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_NO_TIMES], 1);
	assert_int_equal(fake_host.queue_flags, 0);
	clReleaseCommandQueue(q);
	assert_int_equal(fake.n_events, 0);
}

static void extensions(void **state)
{
	cl_command_queue q = ocl_test_queue(0);
	cl_command_queue_properties p = 99;
	(void)state;
	cl_int (*strange)(cl_command_queue, int, int, int, int, int, int, int) =
		(cl_int(*)(cl_command_queue, int, int, int, int, int, int, int))(
			uintptr_t)clGetExtensionFunctionAddress("clEnqueueStrangeXYZ");
	assert_non_null(strange);
	assert_ptr_not_equal((void *)(uintptr_t)strange,
			     fake_dispatch.clGetExtensionFunctionAddress("clEnqueueStrangeXYZ"));
	assert_ptr_equal((void *)(uintptr_t)strange,
			 clGetExtensionFunctionAddress("clEnqueueStrangeXYZ"));
	assert_int_equal(strange(q, 1, 2, 3, 4, 5, 6, 7), 28);
	assert_int_equal(strange(q, 1, 2, 3, 4, 5, 6, 8), 29);
	assert_ptr_equal(clGetExtensionFunctionAddress("clOtherXYZ"),
			 fake_dispatch.clGetExtensionFunctionAddress("clOtherXYZ"));
	assert_null(clGetExtensionFunctionAddress("clNothing"));
	fake_host.at_end(0);
	assert_int_equal(fake_host.n_lost[MSR_GPU_LOSS_UNKNOWN_CALL], 2);
	OCL_TYPE(clCreateCommandQueueWithProperties)
	create = (OCL_TYPE(clCreateCommandQueueWithProperties))(
		uintptr_t)clGetExtensionFunctionAddress("clCreateCommandQueueWithPropertiesKHR");
	cl_command_queue other = create(fake_context(), fake_device(), NULL, NULL);
	clGetCommandQueueInfo(other, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, 0);
	fake_dispatch.clGetCommandQueueInfo(other, CL_QUEUE_PROPERTIES, sizeof p, &p, NULL);
	assert_int_equal(p, CL_QUEUE_PROFILING_ENABLE);
	clReleaseCommandQueue(q);
	clReleaseCommandQueue(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OCL_TEST(references),
		OCL_TEST(properties),
		OCL_TEST(times_only_for_those_who_asked),
		OCL_TEST(profiling_switched),
		OCL_TEST(profiling_refused),
		OCL_TEST(extensions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
