/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What melt-opencl needs of OpenCL: one device with double precision, one queue in order, the
 * program, and memory that has a copy on the host. Nothing here returns when it fails: it says why
 * and ends the program. Everything is for one thread.
 */
#ifndef MELT_OPENCL_H
#define MELT_OPENCL_H

#include "grid.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* In the order of the names in opencl.c. */
enum opencl_kernel {
	OPENCL_ADD_SCALED,
	OPENCL_SCALE_ADD,
	OPENCL_DOT_PLANES,
	OPENCL_MULTIPLY,
	OPENCL_RESIDUAL,
	OPENCL_JACOBI,
	OPENCL_JACOBI_FROM_ZERO,
	OPENCL_RESTRICT_TO_COARSE,
	OPENCL_PROLONG,
	OPENCL_COARSEN,
	OPENCL_PROPERTIES,
	OPENCL_ASSEMBLE,
	OPENCL_UPDATE_ENTHALPY,
	OPENCL_HEAT_INTO_PLANES,
	OPENCL_SUM_PLANES,
	OPENCL_LARGEST_IN_PLANES,
	OPENCL_KERNELS
};

/* One argument of a kernel. */
struct opencl_argument {
	size_t size;
	const void *value; /* NULL: size bytes of local memory for each group */
};
#define OPENCL_VALUE(v) {sizeof(v), &(v)}

/* The device's copy of what kernels_get() returned. */
cl_mem *opencl_buffer(const void *p);
#define OPENCL_BUFFER(p) {sizeof(cl_mem), opencl_buffer(p)}

/* Runs a kernel: one work-item for each of n rows, the last group filled up. */
void opencl_run_rows(enum opencl_kernel kernel, size_t n, const struct opencl_argument *arguments,
		     unsigned n_arguments);

/* Runs a kernel with one work-group for each plane of the grid, whose last argument is a local
 * array of one double for each work-item; then has what it left in plane on the host. */
void opencl_run_planes(enum opencl_kernel kernel, const struct grid *grid,
		       const struct opencl_argument *arguments, unsigned n_arguments,
		       double *plane);

/* Copies and fills on the device; offsets and sizes in bytes. */
void opencl_copy(const void *from, void *to, size_t offset, size_t bytes);
void opencl_fill(void *p, double value, size_t bytes);

#endif
