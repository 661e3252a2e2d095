/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that make contexts, programs and kernels. Implementations reuse handles. So when a call
 * returns a handle, we forget what we knew about it. Test: tests/unit/opencl/test_opencl_hidden.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"
#include "hpcrun-lite/gpu/opencl/ocl_api.h"

/* ---- contexts ---- */

cl_context clCreateContext(const cl_context_properties *properties, cl_uint n,
			   const cl_device_id *devices,
			   void(CL_CALLBACK *function)(const char *, const void *, size_t, void *),
			   void *data, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_context context =
		ocl_next.clCreateContext(properties, n, devices, function, data, error);
	if (s && context)
		ocl_context_made(s, context);
	ocl_leave();
	return context;
}

cl_context clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
				   void(CL_CALLBACK *function)(const char *, const void *, size_t,
							       void *),
				   void *data, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_context context =
		ocl_next.clCreateContextFromType(properties, type, function, data, error);
	if (s && context)
		ocl_context_made(s, context);
	ocl_leave();
	return context;
}

/*
 * An event keeps its queue alive, and a queue keeps its context alive. So first release the events
 * of completed operations.
 */
cl_int clReleaseContext(cl_context context)
{
	struct ocl_state *s = ocl_enter();
	if (s)
		ocl_queue_collect_all(s);
	cl_int status = ocl_next.clReleaseContext(context);
	ocl_leave();
	return status;
}

cl_int clGetContextInfo(cl_context context, cl_context_info what, size_t room, void *to,
			size_t *bytes_ret)
{
	struct ocl_state *s = ocl_enter();
	if (s && what == CL_CONTEXT_REFERENCE_COUNT)
		ocl_queue_collect_all(s);
	cl_int status = ocl_next.clGetContextInfo(context, what, room, to, bytes_ret);
	ocl_leave();
	return status;
}

/* ---- programs ---- */

cl_program clCreateProgramWithSource(cl_context context, cl_uint n, const char **strings,
				     const size_t *lengths, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_program program =
		ocl_next.clCreateProgramWithSource(context, n, strings, lengths, error);
	ocl_program_made(s, program, OCL_FROM_SOURCE);
	ocl_leave();
	return program;
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *devices,
				     const size_t *lengths, const unsigned char **binaries,
				     cl_int *statuses, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_program program = ocl_next.clCreateProgramWithBinary(context, n, devices, lengths,
								binaries, statuses, error);
	ocl_program_made(s, program, OCL_FROM_BINARY);
	ocl_leave();
	return program;
}

cl_program clCreateProgramWithIL(cl_context context, const void *il, size_t bytes, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_program program = ocl_next.clCreateProgramWithIL(context, il, bytes, error);
	ocl_program_made(s, program, OCL_FROM_SOURCE);
	ocl_leave();
	return program;
}

cl_program clCreateProgramWithBuiltInKernels(cl_context context, cl_uint n,
					     const cl_device_id *devices, const char *names,
					     cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_program program =
		ocl_next.clCreateProgramWithBuiltInKernels(context, n, devices, names, error);
	ocl_program_made(s, program, OCL_BUILT_IN);
	ocl_leave();
	return program;
}

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices,
		      const char *options, void(CL_CALLBACK *function)(cl_program, void *),
		      void *data)
{
	struct ocl_state *s = ocl_enter();
	cl_int status = ocl_next.clBuildProgram(program, n, devices, options, function, data);
	if (status == CL_SUCCESS)
		ocl_program_made(s, program, OCL_SAME_ORIGIN);
	ocl_leave();
	return status;
}

cl_int clCompileProgram(cl_program program, cl_uint n, const cl_device_id *devices,
			const char *options, cl_uint n_headers, const cl_program *headers,
			const char **names, void(CL_CALLBACK *function)(cl_program, void *),
			void *data)
{
	struct ocl_state *s = ocl_enter();
	cl_int status = ocl_next.clCompileProgram(program, n, devices, options, n_headers, headers,
						  names, function, data);
	if (status == CL_SUCCESS)
		ocl_program_made(s, program, OCL_SAME_ORIGIN);
	ocl_leave();
	return status;
}

cl_program clLinkProgram(cl_context context, cl_uint n, const cl_device_id *devices,
			 const char *options, cl_uint n_programs, const cl_program *programs,
			 void(CL_CALLBACK *function)(cl_program, void *), void *data, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_program program = ocl_next.clLinkProgram(context, n, devices, options, n_programs,
						    programs, function, data, error);
	ocl_program_made(s, program, OCL_FROM_SOURCE);
	ocl_leave();
	return program;
}

/* ---- kernels ---- */

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_kernel kernel = ocl_next.clCreateKernel(program, name, error);
	ocl_kernel_made(s, kernel);
	ocl_leave();
	return kernel;
}

cl_int clCreateKernelsInProgram(cl_program program, cl_uint n, cl_kernel *kernels, cl_uint *n_ret)
{
	struct ocl_state *s = ocl_enter();
	cl_uint made = 0;
	cl_int status = ocl_next.clCreateKernelsInProgram(program, n, kernels, &made);
	if (status == CL_SUCCESS && n_ret)
		*n_ret = made;
	for (cl_uint i = 0; kernels && status == CL_SUCCESS && i < n && i < made; i++)
		ocl_kernel_made(s, kernels[i]);
	ocl_leave();
	return status;
}

cl_kernel clCloneKernel(cl_kernel kernel, cl_int *error)
{
	struct ocl_state *s = ocl_enter();
	cl_kernel clone = ocl_next.clCloneKernel(kernel, error);
	ocl_kernel_made(s, clone);
	ocl_leave();
	return clone;
}
