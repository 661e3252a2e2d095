/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layer of OpenCL's ICD loader that is the user's own: it counts kernels and says so at the end.
 * Measured, the program must have it as it has it without us. Used by
 * tests/cli/opencl/ocl_entrance.sh.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdio.h>
#include <string.h>

static const cl_icd_dispatch *next;
static cl_icd_dispatch ours;
static unsigned n_kernels;

static cl_int count_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint n,
			   const size_t *offset, const size_t *global, const size_t *local,
			   cl_uint n_waits, const cl_event *waits, cl_event *event)
{
	n_kernels++;
	return next->clEnqueueNDRangeKernel(queue, kernel, n, offset, global, local, n_waits, waits,
					    event);
}

/* The loader asks for these by name. */
cl_int clGetLayerInfo(cl_layer_info name, size_t room, void *to, size_t *bytes)
{
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	if (name != CL_LAYER_API_VERSION || room < sizeof version)
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, &version, sizeof version);
	if (bytes)
		*bytes = sizeof version;
	return CL_SUCCESS;
}

cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ret,
		   const cl_icd_dispatch **dispatch)
{
	(void)n;
	next = target;
	ours.clEnqueueNDRangeKernel = count_kernel;
	*n_ret = sizeof ours / sizeof(void *);
	*dispatch = &ours;
	return CL_SUCCESS;
}

__attribute__((destructor)) static void say(void)
{
	fprintf(stderr, "the user's layer: %u kernels\n", n_kernels);
}
