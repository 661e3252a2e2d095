/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices and contexts: queried and defined when first used, under s->define. Test:
 * tests/unit/opencl/test_opencl_layer.c.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include "common/safe/text.h"

#include <string.h>

#define TEXT_BYTES 256u
#define MAX_DEVICES 64u

/* Returns 0 if the device does not answer. */
static uint64_t number(cl_device_id d, cl_device_info what)
{
	union {
		cl_uint word;
		cl_ulong wide;
	} v = {.wide = 0};
	size_t bytes = 0;
	if (ocl_next.clGetDeviceInfo(d, what, sizeof v, &v, &bytes) != CL_SUCCESS)
		return 0;
	return bytes == sizeof v.word ? v.word : bytes == sizeof v.wide ? v.wide : 0;
}

static void text(cl_device_id d, cl_device_info what, char to[TEXT_BYTES])
{
	if (ocl_next.clGetDeviceInfo(d, what, TEXT_BYTES, to, NULL) != CL_SUCCESS)
		to[0] = 0;
	to[TEXT_BYTES - 1] = 0;
}

/* "OpenCL 1.2 ..." is 120. */
static unsigned version_of(const char *s)
{
	return strlen(s) > 9 && !strncmp(s, "OpenCL ", 7)
		       ? (unsigned)(s[7] - '0') * 100 + (unsigned)(s[9] - '0') * 10
		       : 100;
}

/*
 * Returns true for PoCL. A query for the binary makes it compile all kernels for every group size
 * (104 ms for a kernel of one line).
 */
static bool binaries_are_dear(cl_platform_id platform)
{
	char name[TEXT_BYTES];
	return ocl_next.clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) ==
		       CL_SUCCESS &&
	       !strncmp(name, "Portable Computing Language", 27);
}

/* Returns the device's index among the devices of its platform, from 0. */
static uint32_t ordinal_of(const struct ocl_device *d)
{
	cl_device_id all[MAX_DEVICES];
	cl_uint n = 0;
	if (ocl_next.clGetDeviceIDs(d->platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, all, &n) !=
	    CL_SUCCESS)
		return 0;
	for (cl_uint i = 0; i < n && i < MAX_DEVICES; i++)
		if (all[i] == d->handle)
			return i;
	return 0;
}

static enum msr_gpu_device_type type_of(cl_device_id d)
{
	uint64_t type = number(d, CL_DEVICE_TYPE);
	if (type & CL_DEVICE_TYPE_GPU)
		return MSR_GPU_DEVICE_GPU;
	if (type & CL_DEVICE_TYPE_CPU)
		return MSR_GPU_DEVICE_CPU;
	return type & CL_DEVICE_TYPE_ACCELERATOR ? MSR_GPU_DEVICE_ACCELERATOR
						 : MSR_GPU_DEVICE_OTHER;
}

static void define(struct ocl_device *d, const char *version)
{
	char name[TEXT_BYTES], driver[TEXT_BYTES], line[2 * TEXT_BYTES];
	struct text t = text_in(line, sizeof line);
	text(d->handle, CL_DEVICE_NAME, name);
	text(d->handle, CL_DRIVER_VERSION, driver);
	text_put(&t, version);
	text_put(&t, ", driver ");
	text_put(&t, driver);
	struct gpu_device g = {
		.name = name,
		.driver = line,
		.ordinal = ordinal_of(d),
		.type = type_of(d->handle),
		.n_units = (uint32_t)number(d->handle, CL_DEVICE_MAX_COMPUTE_UNITS),
		.group_max = (uint32_t)number(d->handle, CL_DEVICE_MAX_WORK_GROUP_SIZE),
		.clock_mhz = (uint32_t)number(d->handle, CL_DEVICE_MAX_CLOCK_FREQUENCY),
		.shared_bytes_per_unit = (uint32_t)number(d->handle, CL_DEVICE_LOCAL_MEM_SIZE),
		.registers_per_unit =
			(uint32_t)number(d->handle, OCL_DEVICE_REGISTERS_PER_BLOCK_NV),
		.memory_bytes = number(d->handle, CL_DEVICE_GLOBAL_MEM_SIZE),
	};
	g.lanes = (uint32_t)number(d->handle, OCL_DEVICE_WARP_SIZE_NV);
	if (!g.lanes)
		g.lanes = (uint32_t)number(d->handle, OCL_DEVICE_WAVEFRONT_WIDTH_AMD);
	size_t bytes = 0;
	unsigned char uuid[OCL_UUID_SIZE];
	if (ocl_next.clGetDeviceInfo(d->handle, OCL_DEVICE_UUID_KHR, sizeof uuid, uuid, &bytes) ==
		    CL_SUCCESS &&
	    bytes == sizeof uuid)
		memcpy(g.uuid, uuid, sizeof uuid);
	d->id = ocl_host->device(ocl_host, &g);
}

struct ocl_device *ocl_device_get(struct ocl_state *s, cl_device_id handle)
{
	struct ocl_device *d = ocl_map_get(&s->devices, ocl_key(handle));
	char version[TEXT_BYTES];
	if (d || !handle)
		return d;
	d = ocl_memory_get(&s->memory, sizeof *d);
	if (!d)
		return NULL;
	*d = (struct ocl_device){.handle = handle};
	text(handle, CL_DEVICE_VERSION, version);
	if (ocl_next.clGetDeviceInfo(handle, CL_DEVICE_PLATFORM, sizeof d->platform, &d->platform,
				     NULL) != CL_SUCCESS) {
		ocl_memory_put(&s->memory, d, sizeof *d);
		return NULL;
	}
	d->version = version_of(version);
	d->binaries_are_dear = binaries_are_dear(d->platform);
	define(d, version);
	d->clock = ocl_clock_new(s);
	if (!d->clock || !ocl_map_put(&s->devices, ocl_key(handle), d, NULL))
		return NULL;
	return d;
}

struct ocl_context *ocl_context_get(struct ocl_state *s, cl_context handle,
				    struct ocl_device *device)
{
	struct ocl_context *c = ocl_map_get(&s->contexts, ocl_key(handle));
	if (c || !handle)
		return c;
	c = ocl_memory_get(&s->memory, sizeof *c);
	if (!c)
		return NULL;
	uint32_t ordinal = atomic_fetch_add_explicit(&s->n_contexts, 1, memory_order_relaxed);
	c->id = ocl_host->context(
		ocl_host,
		&(struct gpu_context){.name = "", .device = device->id, .ordinal = ordinal});
	return ocl_map_put(&s->contexts, ocl_key(handle), c, NULL) ? c : NULL;
}

void ocl_context_made(struct ocl_state *s, cl_context handle)
{
	struct ocl_context *c = ocl_map_take(&s->contexts, ocl_key(handle));
	ocl_memory_put(&s->memory, c, sizeof *c);
}
