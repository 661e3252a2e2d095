/* SPDX-License-Identifier: BSD-3-Clause */
/* What the unit tests of the OpenCL back end share: a queue and a kernel of the fake
 * implementation, and a launch. Include it once in each program. */
#ifndef TESTS_UNIT_OPENCL_FIXTURE_H
#define TESTS_UNIT_OPENCL_FIXTURE_H

#include "tests/unit/opencl/fake_opencl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Commands that never end, and queues that a program forgets, are what some tests are about: their
 * objects stay. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

static const size_t ocl_test_global[1] = {1000}, ocl_test_local[1] = {64};

static inline cl_command_queue ocl_test_queue(cl_command_queue_properties properties)
{
	cl_int error = 1;
	cl_command_queue q =
		clCreateCommandQueue(fake_context(), fake_device(), properties, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_non_null(q);
	return q;
}

static inline cl_int ocl_test_run(cl_command_queue q, cl_kernel k, cl_event *event)
{
	return clEnqueueNDRangeKernel(q, k, 1, NULL, ocl_test_global, ocl_test_local, 0, NULL,
				      event);
}

static inline cl_kernel ocl_test_kernel(void)
{
	cl_int error;
	return clCreateKernel(clCreateProgramWithSource(fake_context(), 1, NULL, NULL, NULL),
			      "jacobi", &error);
}

static inline int ocl_test_setup(void **state)
{
	(void)state;
	fake_start();
	return 0;
}

/* A test that begins with everything forgotten. */
#define OCL_TEST(name) cmocka_unit_test_setup(name, ocl_test_setup)

#endif
