/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers the launcher's questions: which ICD loader will programs find, does it know layers, and
 * which devices are there? Not for the measured process, although it is in the same module. Test:
 * tests/cli/launch/launch_gpu.sh.
 */
#include "common/safe/sys.h"
#include "hpcrun-lite/gpu/gpu_probe.h"
#include "hpcrun-lite/gpu/opencl/ocl_headers.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOADER "libOpenCL.so.1"
#define MAX_LISTED 64u

/* Returns true if the file mentions the variable that names layers. */
static bool knows_layers(const char *path)
{
	static const char variable[] = "OPENCL_LAYERS";
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool found = false;
	if (sys_call3(SYS_fstat, fd, (long)&st, 0) == 0 && st.st_size > 0) {
		size_t bytes = (size_t)st.st_size;
		void *text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
		found = text != MAP_FAILED && memmem(text, bytes, variable, sizeof variable);
		if (text != MAP_FAILED)
			munmap(text, bytes);
	}
	close(fd);
	return found;
}

static const char *path_of(void *library)
{
	struct link_map *map = NULL;
	return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}

static bool wants_preload(const char *options, char *why, size_t why_bytes)
{
	why[0] = 0;
	if (!strcmp(options, "preload"))
		return true;
	void *loader = dlopen(LOADER, RTLD_LAZY | RTLD_LOCAL);
	if (!loader) {
		snprintf(why, why_bytes,
			 "there is no ICD loader here (" LOADER
			 "; package ocl-icd-libopencl1); the module is preloaded, for programs "
			 "that bring their own OpenCL");
		return true;
	}
	bool knows = knows_layers(path_of(loader));
	if (!knows)
		snprintf(why, why_bytes,
			 "the ICD loader %.200s is too old for layers (ocl-icd 2.3.0 or Khronos' "
			 "loader of 2020 know them); the module is preloaded",
			 path_of(loader));
	dlclose(loader);
	return !knows;
}

/* ---- the list ---- */

struct functions {
	OCL_TYPE(clGetPlatformIDs) get_platforms;
	OCL_TYPE(clGetPlatformInfo) platform_info;
	OCL_TYPE(clGetDeviceIDs) get_devices;
	OCL_TYPE(clGetDeviceInfo) device_info;
};

static const char *type_name(cl_device_type type)
{
	if (type & CL_DEVICE_TYPE_GPU)
		return "GPU";
	if (type & CL_DEVICE_TYPE_CPU)
		return "CPU";
	return type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator" : "device";
}

static void list_device(const struct functions *f, cl_device_id d, const char *platform, int fd)
{
	char name[256] = "?", version[256] = "?";
	cl_device_type type = 0;
	cl_uint units = 0;
	f->device_info(d, CL_DEVICE_NAME, sizeof name, name, NULL);
	f->device_info(d, CL_DEVICE_VERSION, sizeof version, version, NULL);
	f->device_info(d, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	f->device_info(d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
	dprintf(fd, "%s %s, %u units, of %s (%s)\n", type_name(type), name, units, platform,
		version);
}

static unsigned list_platforms(const struct functions *f, int fd)
{
	cl_platform_id platforms[MAX_LISTED];
	cl_device_id devices[MAX_LISTED];
	cl_uint n = 0, n_listed = 0;
	if (f->get_platforms(MAX_LISTED, platforms, &n) != CL_SUCCESS)
		return 0;
	for (cl_uint i = 0; i < n && i < MAX_LISTED; i++) {
		char platform[256] = "?";
		cl_uint n_devices = 0;
		f->platform_info(platforms[i], CL_PLATFORM_NAME, sizeof platform, platform, NULL);
		if (f->get_devices(platforms[i], CL_DEVICE_TYPE_ALL, MAX_LISTED, devices,
				   &n_devices) != CL_SUCCESS)
			continue;
		for (cl_uint k = 0; k < n_devices && k < MAX_LISTED; k++, n_listed++)
			list_device(f, devices[k], platform, fd);
	}
	return n_listed;
}

static void list(int fd)
{
	char why[512];
	void *loader = dlopen(LOADER, RTLD_LAZY | RTLD_LOCAL);
	if (!loader) {
		dprintf(fd,
			"-no ICD loader: " LOADER " is not found (package ocl-icd-libopencl1)\n");
		return;
	}
	struct functions f = {
		(OCL_TYPE(clGetPlatformIDs))(uintptr_t)dlsym(loader, "clGetPlatformIDs"),
		(OCL_TYPE(clGetPlatformInfo))(uintptr_t)dlsym(loader, "clGetPlatformInfo"),
		(OCL_TYPE(clGetDeviceIDs))(uintptr_t)dlsym(loader, "clGetDeviceIDs"),
		(OCL_TYPE(clGetDeviceInfo))(uintptr_t)dlsym(loader, "clGetDeviceInfo"),
	};
	unsigned n = 0;
	if (!f.get_platforms || !f.platform_info || !f.get_devices || !f.device_info)
		dprintf(fd, "-%s is not an OpenCL library\n", path_of(loader));
	else if ((n = list_platforms(&f, fd)) == 0)
		dprintf(fd,
			"-%s finds no device: no installed implementation has one (install a "
			"package such as pocl-opencl-icd, or the GPU's driver)\n",
			path_of(loader));
	else
		dprintf(fd, "%s %s\n+%u device%s: kernels, copies, waits\n",
			wants_preload("", why, sizeof why) ? "preloaded before" : "layer of",
			path_of(loader), n, n == 1 ? "" : "s");
}

__attribute__((visibility("default")))
const struct gpu_probe hpcrun_lite_gpu_probe = {.wants_preload = wants_preload, .list = list};
