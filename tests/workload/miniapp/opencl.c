/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Device, program, memory and launches of melt-opencl. See opencl.h. The test is
 * tests/cli/opencl/ocl_miniapp.sh.
 */
#include "opencl.h"

#include "kernels.h"
#include "memory.h"
#include "melt_cl.h"

#include <omp.h>
#include <string.h>

#define MAX_PLATFORMS 16
#define MAX_DEVICES 16
#define LARGEST_GROUP 256

static const char *const kernel_names[OPENCL_KERNELS] = {
	"add_scaled",      "scale_add",        "dot_planes",       "multiply",
	"residual",        "jacobi",           "jacobi_from_zero", "restrict_to_coarse",
	"prolong",         "coarsen",          "properties",       "assemble",
	"update_enthalpy", "heat_into_planes", "sum_planes",       "largest_in_planes",
};

static struct {
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel[OPENCL_KERNELS];
	size_t group; /* work-items of a group, a power of two */
} cl;

/* In front of what kernels_get() returns. */
struct memory {
	cl_mem buffer;
	size_t bytes;
	_Alignas(64) char host[];
};

static void check(cl_int status, const char *what)
{
	if (status != CL_SUCCESS) {
		fprintf(stderr, "melt: %s: OpenCL error %d\n", what, (int)status);
		exit(1);
	}
}

/* --- set-up ----------------------------------------------------------------------------------- */

static int has_doubles(cl_device_id device)
{
	cl_device_fp_config config = 0;

	return clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL) ==
		       CL_SUCCESS &&
	       config != 0;
}

/* The first device of the type with double precision, of any platform. */
static int find_device(cl_device_type type)
{
	cl_platform_id platforms[MAX_PLATFORMS];
	cl_device_id devices[MAX_DEVICES];
	cl_uint n_platforms = 0, n_devices;

	if (clGetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms) != CL_SUCCESS)
		return 0;
	for (cl_uint i = 0; i < n_platforms && i < MAX_PLATFORMS; i++) {
		if (clGetDeviceIDs(platforms[i], type, MAX_DEVICES, devices, &n_devices) !=
		    CL_SUCCESS)
			continue;
		for (cl_uint j = 0; j < n_devices && j < MAX_DEVICES; j++) {
			if (has_doubles(devices[j])) {
				cl.device = devices[j];
				return 1;
			}
		}
	}
	return 0;
}

static void build(void)
{
	const char *source = melt_source;
	cl_int status;

	cl.program = clCreateProgramWithSource(cl.context, 1, &source, NULL, &status);
	check(status, "clCreateProgramWithSource");
	status = clBuildProgram(cl.program, 1, &cl.device, "-cl-std=CL1.2", NULL, NULL);
	if (status == CL_BUILD_PROGRAM_FAILURE) {
		static char log[65536];

		clGetProgramBuildInfo(cl.program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1,
				      log, NULL);
		fprintf(stderr, "melt: the kernels do not compile:\n%s\n", log);
	}
	check(status, "clBuildProgram");
	for (int i = 0; i < OPENCL_KERNELS; i++) {
		cl.kernel[i] = clCreateKernel(cl.program, kernel_names[i], &status);
		check(status, kernel_names[i]);
	}
}

/* A power of two that the device and every kernel can have. */
static void choose_group(void)
{
	cl.group = LARGEST_GROUP;
	for (int i = 0; i < OPENCL_KERNELS; i++) {
		size_t most = 1;

		check(clGetKernelWorkGroupInfo(cl.kernel[i], cl.device, CL_KERNEL_WORK_GROUP_SIZE,
					       sizeof most, &most, NULL),
		      "clGetKernelWorkGroupInfo");
		while (cl.group > most && cl.group > 1)
			cl.group /= 2;
	}
}

void kernels_start(void)
{
	char name[256] = "";
	cl_int status;

	/* The device works; one thread tells it what to do. */
	omp_set_num_threads(1);
	if (!find_device(CL_DEVICE_TYPE_GPU) && !find_device(CL_DEVICE_TYPE_ALL)) {
		fprintf(stderr, "melt: no OpenCL device with double precision here\n");
		exit(1);
	}
	clGetDeviceInfo(cl.device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
	printf("melt: OpenCL device %s\n", name);
	cl.context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &status);
	check(status, "clCreateContext");
	cl.queue = clCreateCommandQueue(cl.context, cl.device, 0, &status);
	check(status, "clCreateCommandQueue");
	build();
	choose_group();
}

void kernels_stop(void)
{
	check(clFinish(cl.queue), "clFinish");
	for (int i = 0; i < OPENCL_KERNELS; i++)
		clReleaseKernel(cl.kernel[i]);
	clReleaseProgram(cl.program);
	clReleaseCommandQueue(cl.queue);
	clReleaseContext(cl.context);
}

/* --- memory ----------------------------------------------------------------------------------- */

static struct memory *memory_of(const void *p)
{
	return (struct memory *)((char *)p - offsetof(struct memory, host));
}

void *kernels_get(size_t n, size_t size)
{
	const size_t bytes = n * size;
	struct memory *m = aligned_alloc(64, (sizeof *m + bytes + 63) / 64 * 64);
	const char zero = 0;
	cl_int status;

	if (!m) {
		fprintf(stderr, "melt: no memory for %zu elements of %zu bytes\n", n, size);
		exit(1);
	}
	memset(m->host, 0, bytes);
	m->bytes = bytes;
	m->buffer = clCreateBuffer(cl.context, CL_MEM_READ_WRITE, bytes, NULL, &status);
	check(status, "clCreateBuffer");
	check(clEnqueueFillBuffer(cl.queue, m->buffer, &zero, sizeof zero, 0, bytes, 0, NULL, NULL),
	      "clEnqueueFillBuffer");
	return m->host;
}

void kernels_free(void *p)
{
	if (p) {
		clReleaseMemObject(memory_of(p)->buffer);
		free(memory_of(p));
	}
}

void kernels_to_host(void *p)
{
	if (p)
		check(clEnqueueReadBuffer(cl.queue, memory_of(p)->buffer, CL_TRUE, 0,
					  memory_of(p)->bytes, p, 0, NULL, NULL),
		      "clEnqueueReadBuffer");
}

void kernels_from_host(void *p)
{
	if (p)
		check(clEnqueueWriteBuffer(cl.queue, memory_of(p)->buffer, CL_TRUE, 0,
					   memory_of(p)->bytes, p, 0, NULL, NULL),
		      "clEnqueueWriteBuffer");
}

cl_mem *opencl_buffer(const void *p)
{
	return &memory_of(p)->buffer;
}

void opencl_copy(const void *from, void *to, size_t offset, size_t bytes)
{
	check(clEnqueueCopyBuffer(cl.queue, memory_of(from)->buffer, memory_of(to)->buffer, offset,
				  offset, bytes, 0, NULL, NULL),
	      "clEnqueueCopyBuffer");
}

void opencl_fill(void *p, double value, size_t bytes)
{
	check(clEnqueueFillBuffer(cl.queue, memory_of(p)->buffer, &value, sizeof value, 0, bytes, 0,
				  NULL, NULL),
	      "clEnqueueFillBuffer");
}

/* --- launches --------------------------------------------------------------------------------- */

static void run(enum opencl_kernel kernel, size_t n_groups, const struct opencl_argument *arguments,
		unsigned n_arguments)
{
	const size_t global = n_groups * cl.group;

	for (unsigned i = 0; i < n_arguments; i++)
		check(clSetKernelArg(cl.kernel[kernel], i, arguments[i].size, arguments[i].value),
		      kernel_names[kernel]);
	check(clEnqueueNDRangeKernel(cl.queue, cl.kernel[kernel], 1, NULL, &global, &cl.group, 0,
				     NULL, NULL),
	      kernel_names[kernel]);
}

void opencl_run_rows(enum opencl_kernel kernel, size_t n, const struct opencl_argument *arguments,
		     unsigned n_arguments)
{
	run(kernel, (n + cl.group - 1) / cl.group, arguments, n_arguments);
}

void opencl_run_planes(enum opencl_kernel kernel, const struct grid *grid,
		       const struct opencl_argument *arguments, unsigned n_arguments, double *plane)
{
	const struct opencl_argument part = {cl.group * sizeof(double), NULL};

	check(clSetKernelArg(cl.kernel[kernel], n_arguments, part.size, part.value),
	      kernel_names[kernel]);
	run(kernel, (size_t)grid->nz, arguments, n_arguments);
	kernels_to_host(plane);
}
