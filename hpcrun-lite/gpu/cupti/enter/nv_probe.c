/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers the launcher: can a program find CUPTI here, and which devices are there? Not for the
 * measured process. Test: tests/cli/launch/launch_gpu.sh.
 */
#include "hpcrun-lite/gpu/cupti/nv.h"
#include "hpcrun-lite/gpu/gpu_probe.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define WHY_BYTES 512u

/*
 * The driver loads our module. We preload only the library that stands in front of CUPTI. A missing
 * CUPTI is no error, because a program may bring its own.
 */
static bool wants_preload(const char *options, char *why, size_t why_bytes)
{
	struct nv_library l;
	char preferred[4096];
	nv_library_preferred(options, preferred, sizeof preferred);
	if (nv_library_open(&l, preferred, true, why, why_bytes))
		why[0] = 0;
	return true;
}

static void list_device(const struct nv_library *l, CUdevice d, int number, int fd)
{
	char name[256] = "?", version[NV_VERSION_BYTES];
	size_t memory = 0;
	int driver = 0, units = 0, major = 0, minor = 0;
	l->cuDeviceGetName(name, (int)sizeof name, d);
	l->cuDeviceTotalMem_v2(&memory, d);
	l->cuDriverGetVersion(&driver);
	l->cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d);
	l->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
	l->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
	dprintf(fd,
		"GPU %d: %s, %d units, %.1f GiB, compute capability %d.%d, driver for CUDA %d.%d; "
		"CUPTI %s, %s\n",
		number, name, units, (double)memory / (1u << 30), major, minor, driver / 1000,
		driver % 1000 / 10, nv_library_version_text(l->version, version), l->path);
}

static void list(int fd)
{
	struct nv_library l;
	char why[WHY_BYTES];
	int n = 0;
	if (!nv_library_open(&l, "", true, why, sizeof why)) {
		dprintf(fd, "-%s\n", why);
		return;
	}
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	CUresult (*init)(unsigned) = NULL;
	CUresult (*count)(int *) = NULL;
	memcpy(&init, &(void *){dlsym(driver, "cuInit")}, sizeof init);
	memcpy(&count, &(void *){dlsym(driver, "cuDeviceGetCount")}, sizeof count);
	CUresult r = init && count ? init(0) : CUDA_ERROR_UNKNOWN;
	if (r == CUDA_SUCCESS)
		r = count(&n);
	if (r != CUDA_SUCCESS || n == 0)
		dprintf(fd, "-the NVIDIA driver finds no device (error %d)\n", (int)r);
	for (int i = 0; r == CUDA_SUCCESS && i < n; i++)
		list_device(&l, i, i, fd);
}

__attribute__((visibility("default")))
const struct gpu_probe hpcrun_lite_gpu_probe = {.wants_preload = wants_preload, .list = list};
