/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small solver as programs have them: the Poisson equation on a square by conjugate gradients,
 * everything on the device but the scalars of the recurrence, which are mapped. All commands have
 * events on a profiling queue, and the time of each kernel is added up by its name: "ns
 * kernel:laplace". Prints the number of iterations and the error against the known solution. Usage:
 * ocl_solver [SIDE].
 */
#include "ocl_common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GROUP 64
#define MAX_GROUPS 64
#define MAX_ITERATIONS 2000
#define TOLERANCE 1e-5f
#define MODES 30
#define ERROR_LIMIT 1e-3

static const char source[] =
	"kernel void laplace(int n, global const float *x, global float *y)\n"
	"{\n"
	"	const int i = get_global_id(0), j = get_global_id(1);\n"
	"	const int c = (j + 1) * (n + 2) + i + 1;\n"
	"\n"
	"	if (i < n && j < n)\n"
	"		y[c] = 4 * x[c] - x[c - 1] - x[c + 1] - x[c - n - 2] - x[c + n + 2];\n"
	"}\n"
	"\n"
	"/* Each group leaves its part of the sum of x y. */\n"
	"kernel void inner_product(int size, global const float *x, global const float *y, global "
	"float *parts, local float *mine)\n"
	"{\n"
	"	const int item = get_local_id(0);\n"
	"	float sum = 0;\n"
	"\n"
	"	for (int i = get_global_id(0); i < size; i += get_global_size(0))\n"
	"		sum += x[i] * y[i];\n"
	"	mine[item] = sum;\n"
	"	for (int reach = get_local_size(0) / 2; reach > 0; reach /= 2) {\n"
	"		barrier(CLK_LOCAL_MEM_FENCE);\n"
	"		if (item < reach)\n"
	"			mine[item] += mine[item + reach];\n"
	"	}\n"
	"	if (item == 0)\n"
	"		parts[get_group_id(0)] = mine[0];\n"
	"}\n"
	"\n"
	"kernel void axpy(int size, float a, global const float *x, global float *y)\n"
	"{\n"
	"	if (get_global_id(0) < size)\n"
	"		y[get_global_id(0)] += a * x[get_global_id(0)];\n"
	"}\n"
	"\n"
	"kernel void xpay(int size, float a, global const float *x, global float *y)\n"
	"{\n"
	"	if (get_global_id(0) < size)\n"
	"		y[get_global_id(0)] = x[get_global_id(0)] + a * y[get_global_id(0)];\n"
	"}\n";

static struct ocl ocl;
static cl_command_queue queue;
static cl_kernel laplace, dot, axpy, xpay;
static cl_mem parts;
static int side, size; /* inner points in each direction; all points with the boundary */

static void run(cl_kernel kernel, cl_uint dimensions, const size_t *global, const size_t *local,
		const char *name)
{
	cl_event event;

	OCL_DO(OCL_KERNEL, 0,
	       clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL,
				      &event));
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &event));
	ocl_done(event, OCL_KERNEL, name);
}

static void set(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
	ocl_must(clSetKernelArg(kernel, index, bytes, value), "clSetKernelArg");
}

static void apply_laplace(cl_mem x, cl_mem y)
{
	const size_t global[2] = {((size_t)side + 7) / 8 * 8, ((size_t)side + 7) / 8 * 8},
		     local[2] = {8, 8};

	set(laplace, 0, sizeof side, &side);
	set(laplace, 1, sizeof x, &x);
	set(laplace, 2, sizeof y, &y);
	run(laplace, 2, global, local, "laplace");
}

/* y += a x, or y = x + a y. */
static void combine(cl_kernel kernel, float a, cl_mem x, cl_mem y, const char *name)
{
	const size_t global = ((size_t)size + GROUP - 1) / GROUP * GROUP, local = GROUP;

	set(kernel, 0, sizeof size, &size);
	set(kernel, 1, sizeof a, &a);
	set(kernel, 2, sizeof x, &x);
	set(kernel, 3, sizeof y, &y);
	run(kernel, 1, &global, &local, name);
}

static float product(cl_mem x, cl_mem y)
{
	const size_t global = (size_t)GROUP * MAX_GROUPS, local = GROUP;
	const float *mapped;
	cl_event event;
	cl_int status;
	float sum = 0;

	set(dot, 0, sizeof size, &size);
	set(dot, 1, sizeof x, &x);
	set(dot, 2, sizeof y, &y);
	set(dot, 3, sizeof parts, &parts);
	set(dot, 4, GROUP * sizeof(float), NULL);
	run(dot, 1, &global, &local, "inner_product");
	mapped = clEnqueueMapBuffer(queue, parts, CL_TRUE, CL_MAP_READ, 0,
				    MAX_GROUPS * sizeof(float), 0, NULL, &event, &status);
	ocl_must(ocl_counted(status, OCL_MAP, MAX_GROUPS * sizeof(float)), "clEnqueueMapBuffer");
	ocl_done(event, OCL_MAP, NULL);
	for (int i = 0; i < MAX_GROUPS; i++)
		sum += mapped[i];
	OCL_DO(OCL_UNMAP, MAX_GROUPS * sizeof(float),
	       clEnqueueUnmapMemObject(queue, parts, (void *)mapped, 0, NULL, &event));
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &event));
	ocl_done(event, OCL_UNMAP, NULL);
	return sum;
}

static cl_mem field(void)
{
	const float zero = 0;
	cl_mem made = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, (size_t)size * sizeof zero, NULL);
	cl_event event;

	OCL_DO(OCL_FILL, (size_t)size * sizeof zero,
	       clEnqueueFillBuffer(queue, made, &zero, sizeof zero, 0, (size_t)size * sizeof zero,
				   0, NULL, &event));
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &event));
	ocl_done(event, OCL_FILL, NULL);
	return made;
}

static void copy(cl_mem from, cl_mem to)
{
	cl_event event;

	OCL_DO(OCL_COPY, (size_t)size * sizeof(float),
	       clEnqueueCopyBuffer(queue, from, to, 0, 0, (size_t)size * sizeof(float), 0, NULL,
				   &event));
	OCL_DO(OCL_WAIT, 0, clWaitForEvents(1, &event));
	ocl_done(event, OCL_COPY, NULL);
}

/* Solves for x; r holds the right-hand side. */
static int solve(cl_mem x, cl_mem r)
{
	cl_mem p = field(), q = field();
	float rr = product(r, r);
	const float enough = TOLERANCE * TOLERANCE * rr;
	int n = 0;

	copy(r, p);
	for (; rr > enough && n < MAX_ITERATIONS; n++) {
		float step, before = rr;

		apply_laplace(p, q);
		step = rr / product(p, q);
		combine(axpy, step, p, x, "axpy");
		combine(axpy, -step, q, r, "axpy");
		rr = product(r, r);
		combine(xpay, rr / before, r, p, "xpay");
	}
	clReleaseMemObject(p);
	clReleaseMemObject(q);
	return n;
}

/* Products of sines are eigenvectors of the discrete operator: the right-hand side is a sum of
 * them, and the solution the same sum, each over its eigenvalue. */
static double sum_of_modes(int i, int j, int over_eigenvalue)
{
	const double h = 3.14159265358979323846 / (side + 1);
	double sum = 0;

	for (int k = 1; k <= MODES; k++) {
		const int l = (k * 7) % MODES + 1;
		const double eigenvalue = 4 - 2 * cos(k * h) - 2 * cos(l * h);

		sum += sin(k * h * (i + 1)) * sin(l * h * (j + 1)) /
		       (over_eigenvalue ? eigenvalue : 1);
	}
	return sum;
}

static void transfer(cl_mem buffer, float *host, int to_device)
{
	const size_t bytes = (size_t)size * sizeof *host;
	cl_event event;

	if (to_device)
		OCL_DO(OCL_WRITE, bytes,
		       clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL,
					    &event));
	else
		OCL_DO(OCL_READ, bytes,
		       clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL,
					   &event));
	ocl_done(event, to_device ? OCL_WRITE : OCL_READ, NULL);
}

/* The index of a point of the square in a field. */
static size_t point(int i, int j)
{
	return (size_t)(j + 1) * (size_t)(side + 2) + (size_t)i + 1;
}

static int solve_for_modes(void)
{
	cl_mem x = field(), r = field();
	float *host = calloc((size_t)size, sizeof *host);
	double worst = 0, largest = 0;
	int n;

	if (!host) {
		fprintf(stderr, "ocl_solver: no memory\n");
		exit(1);
	}
	for (int j = 0; j < side; j++) {
		for (int i = 0; i < side; i++)
			host[point(i, j)] = (float)sum_of_modes(i, j, 0);
	}
	transfer(r, host, 1);
	n = solve(x, r);
	transfer(x, host, 0);
	for (int j = 0; j < side; j++) {
		for (int i = 0; i < side; i++) {
			const double wanted = sum_of_modes(i, j, 1);

			worst = fmax(worst, fabs((double)host[point(i, j)] - wanted));
			largest = fmax(largest, fabs(wanted));
		}
	}
	free(host);
	clReleaseMemObject(x);
	clReleaseMemObject(r);
	printf("%d points, %d iterations, %s\n", side * side, n,
	       worst < ERROR_LIMIT * largest ? "solved" : "NOT SOLVED");
	return worst < ERROR_LIMIT * largest ? 0 : 1;
}

int main(int argc, char **argv)
{
	cl_program program;
	int status;

	side = argc > 1 ? atoi(argv[1]) : 96;
	if (side < 1 || side > 4096) {
		fprintf(stderr, "usage: ocl_solver [SIDE], 1 to 4096\n");
		return 2;
	}
	size = (side + 2) * (side + 2);
	ocl_open(&ocl);
	queue = ocl_queue(ocl.context, ocl.device, CL_QUEUE_PROFILING_ENABLE);
	program = ocl_build(ocl.context, ocl.device, source, "-cl-std=CL1.2");
	laplace = ocl_kernel(program, "laplace");
	dot = ocl_kernel(program, "inner_product");
	axpy = ocl_kernel(program, "axpy");
	xpay = ocl_kernel(program, "xpay");
	parts = ocl_buffer(ocl.context, CL_MEM_READ_WRITE, MAX_GROUPS * sizeof(float), NULL);
	status = solve_for_modes();
	clReleaseMemObject(parts);
	clReleaseKernel(laplace);
	clReleaseKernel(dot);
	clReleaseKernel(axpy);
	clReleaseKernel(xpay);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(ocl.context);
	ocl_write_truth();
	return status;
}
