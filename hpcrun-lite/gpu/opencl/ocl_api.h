/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenCL functions that we replace. They have OpenCL's own names, for preloading and because
 * call paths end in them. `clFinish` here is always ours (the module is linked with -Bsymbolic),
 * and ocl_next.clFinish is the original behind it. Each function calls the original exactly once
 * (twice to make a queue if profiling is refused) and returns its result. Tests:
 * tests/unit/opencl/test_opencl_layer.c, tests/unit/opencl/test_opencl_hidden.c.
 */
#ifndef HPCRUN_LITE_GPU_OPENCL_OCL_API_H
#define HPCRUN_LITE_GPU_OPENCL_OCL_API_H

#include "hpcrun-lite/gpu/opencl/ocl_headers.h"

#define OCL_FUNCTIONS(X) \
	/* ocl_api_object.c */ \
	X(clCreateContext) X(clCreateContextFromType) X(clReleaseContext) X(clGetContextInfo) \
	X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clCreateProgramWithIL) \
	X(clCreateProgramWithBuiltInKernels) X(clBuildProgram) X(clCompileProgram) \
	X(clLinkProgram) X(clCreateKernel) X(clCreateKernelsInProgram) X(clCloneKernel) \
	/* ocl_api_queue.c */ \
	X(clCreateCommandQueue) X(clCreateCommandQueueWithProperties) X(clReleaseCommandQueue) \
	X(clGetCommandQueueInfo) X(clSetCommandQueueProperty) X(clGetEventInfo) \
	X(clGetEventProfilingInfo) X(clWaitForEvents) X(clFlush) X(clFinish) \
	/* ocl_api_memory.c */ \
	X(clCreateBuffer) X(clCreateBufferWithProperties) X(clCreateImage2D) X(clCreateImage3D) \
	X(clCreateImage) X(clCreateImageWithProperties) X(clCreatePipe) X(clRetainMemObject) \
	X(clReleaseMemObject) X(clSVMAlloc) X(clSVMFree) \
	/* ocl_api_kernel.c */ \
	X(clEnqueueNDRangeKernel) X(clEnqueueTask) X(clEnqueueNativeKernel) X(clEnqueueMarker) \
	X(clEnqueueBarrier) X(clEnqueueWaitForEvents) X(clEnqueueMarkerWithWaitList) \
	X(clEnqueueBarrierWithWaitList) X(clEnqueueAcquireGLObjects) \
	X(clEnqueueReleaseGLObjects) \
	/* ocl_api_buffer.c */ \
	X(clEnqueueReadBuffer) X(clEnqueueReadBufferRect) X(clEnqueueWriteBuffer) \
	X(clEnqueueWriteBufferRect) X(clEnqueueCopyBuffer) X(clEnqueueCopyBufferRect) \
	X(clEnqueueFillBuffer) X(clEnqueueMigrateMemObjects) X(clEnqueueMapBuffer) \
	X(clEnqueueUnmapMemObject) \
	/* ocl_api_image.c */ \
	X(clEnqueueReadImage) X(clEnqueueWriteImage) X(clEnqueueCopyImage) \
	X(clEnqueueCopyImageToBuffer) X(clEnqueueCopyBufferToImage) X(clEnqueueFillImage) \
	X(clEnqueueMapImage) \
	/* ocl_api_svm.c */ \
	X(clEnqueueSVMFree) X(clEnqueueSVMMemcpy) X(clEnqueueSVMMemFill) X(clEnqueueSVMMap) \
	X(clEnqueueSVMUnmap) X(clEnqueueSVMMigrateMem) \
	/* ocl_extension.c */ \
	X(clGetExtensionFunctionAddress) X(clGetExtensionFunctionAddressForPlatform)

#define OCL_DECLARE(name) extern __typeof__(name) name __attribute__((visibility("default")));
OCL_FUNCTIONS(OCL_DECLARE)
#undef OCL_DECLARE

#endif
