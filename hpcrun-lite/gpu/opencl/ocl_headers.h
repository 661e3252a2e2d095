/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL's headers, and declarations that the oldest headers we build with lack. Names are as in
 * the standard.
 */
#ifndef HPCRUN_LITE_GPU_OPENCL_OCL_HEADERS_H
#define HPCRUN_LITE_GPU_OPENCL_OCL_HEADERS_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdint.h>

#define OCL_LAYER_NAME 0x4241                /* CL_LAYER_NAME, since 2022 */
#define OCL_UUID_SIZE 16u
#define OCL_DEVICE_UUID_KHR 0x106A           /* cl_khr_device_uuid */
#define OCL_DEVICE_REGISTERS_PER_BLOCK_NV 0x4002 /* cl_nv_device_attribute_query */
#define OCL_DEVICE_WARP_SIZE_NV 0x4003
#define OCL_DEVICE_WAVEFRONT_WIDTH_AMD 0x4043

/*
 * Pointer to a function of OpenCL. Headers of 2020 to 2023 call the type cl_api_NAME, and headers
 * of 2024 NAME_fn.
 */
#define OCL_TYPE(name) __typeof__(&name)

/* The entry points for newer ICD loaders (2024). */
typedef intptr_t ocl_layer_properties;
cl_int clInitLayerWithProperties(cl_uint n, const cl_icd_dispatch *target, cl_uint *n_ret,
				 const cl_icd_dispatch **dispatch,
				 const ocl_layer_properties *properties);
cl_int clDeinitLayer(void);

#endif
