/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way in through the ICD loader: the functions that cl_layer.h requires of a layer, in their
 * first form and in the form for loaders since 2024, and the table of our functions. If a loader
 * gets an error here, it continues without us. Tests: tests/unit/opencl/test_opencl_layer.c,
 * tests/cli/opencl/ocl_entrance.sh.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

#include <string.h>

#define VISIBLE __attribute__((visibility("default")))
#define LAYER_NAME "hpctoolkit-lite"

static cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *bytes_ret)
{
	if (to && room < bytes)
		return CL_INVALID_VALUE;
	if (to)
		memcpy(to, value, bytes);
	if (bytes_ret)
		*bytes_ret = bytes;
	return CL_SUCCESS;
}

VISIBLE cl_int clGetLayerInfo(cl_layer_info name, size_t room, void *to, size_t *bytes_ret)
{
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	if (name == CL_LAYER_API_VERSION)
		return answer(&version, sizeof version, room, to, bytes_ret);
	if (name == OCL_LAYER_NAME)
		return answer(LAYER_NAME, sizeof LAYER_NAME, room, to, bytes_ret);
	return CL_INVALID_VALUE;
}

/* A program with its own copy of the loader may have two loaders. */
static void refuse(const cl_icd_dispatch *target)
{
	if (atomic_load_explicit(&ocl_entrance, memory_order_acquire) == OCL_LAYER &&
	    target->clFinish != ocl_next.clFinish)
		ocl_host->note(ocl_host, "a second OpenCL loader was found in the process; calls "
					 "through it are not measured");
}

VISIBLE cl_int clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ret,
			   const cl_icd_dispatch **dispatch)
{
	if (!target || !n_ret || !dispatch)
		return CL_INVALID_VALUE;
	/* Refuse to come twice: we may be preloaded too, or offered by a second loader. */
	if (atomic_load_explicit(&ocl_entrance, memory_order_acquire) != OCL_NOT_IN) {
		refuse(target);
		return CL_INVALID_OPERATION;
	}
	size_t bytes = (size_t)n * sizeof(void *);
	memcpy(&ocl_next, target, bytes < sizeof ocl_next ? bytes : sizeof ocl_next);
	if (!ocl_enter_process(OCL_LAYER))
		return CL_INVALID_OPERATION;
	*n_ret = sizeof ocl_layer_dispatch / sizeof(void *);
	*dispatch = &ocl_layer_dispatch;
	return CL_SUCCESS;
}

VISIBLE cl_int clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ret,
					 const cl_icd_dispatch **dispatch,
					 const ocl_layer_properties *properties)
{
	(void)properties;
	return clInitLayer(n, target, n_ret, dispatch);
}

/*
 * The loader removes its layers at exit. Our exit handler has already run; later calls are only
 * passed on.
 */
VISIBLE cl_int clDeinitLayer(void)
{
	return CL_SUCCESS;
}

#define ENTRY(name) .name = name,
const cl_icd_dispatch ocl_layer_dispatch = {OCL_FUNCTIONS(ENTRY)};
