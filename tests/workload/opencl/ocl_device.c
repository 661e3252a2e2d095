/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the OpenCL workloads can run here: prints the device's platform and compiles the least of
 * kernels for it. A device that compiles nothing is none, as PoCL is on a processor that is younger
 * than its LLVM ("unknown target CPU 'generic'"; PoCL 1.8 of Ubuntu 22.04): status 77 as without
 * one, and the last line of the error output says why.
 */
#include "ocl_common.h"

#include <stdio.h>
#include <string.h>

static const char source[] = "kernel void least(global int *a) { a[0] = 1; }\n";

int main(void)
{
	static char log[65536], name[256];
	struct ocl ocl;
	cl_program program;
	cl_int status;
	const char *text = source;

	ocl_open(&ocl);
	ocl_must(clGetPlatformInfo(ocl.platform, CL_PLATFORM_NAME, sizeof name - 1, name, NULL),
		 "clGetPlatformInfo");
	puts(name);
	program = clCreateProgramWithSource(ocl.context, 1, &text, NULL, &status);
	ocl_must(status, "clCreateProgramWithSource");
	status = clBuildProgram(program, 1, &ocl.device, "", NULL, NULL);
	if (status != CL_SUCCESS) {
		clGetProgramBuildInfo(program, ocl.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1,
				      log, NULL);
		log[strcspn(log, "\n")] = '\0';
		fprintf(stderr, "the OpenCL device compiles nothing: OpenCL error %d, %s\n",
			(int)status, log);
		return 77;
	}
	clReleaseProgram(program);
	clReleaseContext(ocl.context);
	return 0;
}
