/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers the launcher: can a program find CUPTI here, and which devices are there? Not for the
 * measured process. Test: tests/cli/launch/launch_gpu.sh.
 */
#include "hpcrun-lite/gpu/cupti/energy/nv_nvml.h"
#include "hpcrun-lite/gpu/cupti/energy/nv_rapl.h"
#include "hpcrun-lite/gpu/cupti/enter/nv_rights.h"
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

/* ---- the list ---- */

static void say_missing(int fd, const char *lost, const char *why, const char *cure)
{
	dprintf(fd, "!%s\t%s\t%s\n", lost, why, cure);
}

/* Says whether kernels can be sampled and counted. */
static bool list_profiling(const struct nv_rights *r, int fd)
{
	static const char *const cures[] = {
		[NV_PROFILING_WANTS_CAPABILITY] = "start the container with --cap-add SYS_ADMIN",
		[NV_PROFILING_WANTS_OPTION] =
			"/etc/modprobe.d: options nvidia NVreg_RestrictProfilingToAdminUsers=0",
	};
	enum nv_profiling p = nv_rights_profiling(r);
	if (p != NV_PROFILING_ALLOWED)
		say_missing(fd, "PC samples, counters",
			    "only root may read counters (RmProfilingAdminOnly: 1)", cures[p]);
	return p == NV_PROFILING_ALLOWED;
}

/* Says whether the energy of the first device can be read, and that of the host. */
static bool list_energy(const struct nv_library *l, int fd)
{
	struct nv_nvml nvml;
	struct nv_rapl rapl;
	CUuuid uuid;
	uint64_t energy_uj;
	const char *why = "the driver does not say which device it is";
	void *device = NULL;
	if (l->cuDeviceGetUuid_v2(&uuid, 0) == CUDA_SUCCESS && nv_nvml_open(&nvml, &why))
		device = nv_nvml_device(&nvml, (const uint8_t *)uuid.bytes, &why);
	bool has_energy = device && nv_nvml_energy(&nvml, device, &energy_uj, &why);
	if (!has_energy)
		say_missing(fd, "energy of GPUs (NVML)", why, "");
	nv_rapl_open(&rapl, NV_RAPL_DIRECTORY);
	if (rapl.is_denied)
		say_missing(fd, "energy of the host", "only root may read RAPL",
			    "as root: chmod a+r " NV_RAPL_DIRECTORY "intel-rapl:*/energy_uj");
	return has_energy;
}

static void list_device(const struct nv_library *l, CUdevice d, int number, int fd)
{
	char name[256] = "?";
	size_t memory = 0;
	int units = 0, major = 0, minor = 0;
	l->cuDeviceGetName(name, (int)sizeof name, d);
	l->cuDeviceTotalMem_v2(&memory, d);
	l->cuDeviceGetAttribute(&units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d);
	l->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
	l->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
	dprintf(fd, "GPU %d: %s, %d units, %.1f GiB, compute capability %d.%d\n", number, name,
		units, (double)memory / (1u << 30), major, minor);
}

static void list_devices(const struct nv_library *l, const struct nv_rights *r, int n, int fd)
{
	char version[64], cupti[NV_VERSION_BYTES];
	int driver = 0;
	l->cuDriverGetVersion(&driver);
	for (int i = 0; i < n; i++)
		list_device(l, i, i, fd);
	nv_rights_driver(r, version, sizeof version);
	dprintf(fd, "driver %s%sfor CUDA %d.%d\n", version, version[0] ? " " : "", driver / 1000,
		driver % 1000 / 10);
	dprintf(fd, "CUPTI %s, %s\n", nv_library_version_text(l->version, cupti), l->path);
	if ((unsigned)driver / 1000 < l->version / 10000) {
		say_missing(fd, "work of GPUs", "CUPTI is of a later CUDA than the driver",
			    "install a newer driver");
		return;
	}
	bool may_profile = list_profiling(r, fd), has_energy = list_energy(l, fd);
	dprintf(fd, "+%d GPU%s: kernels, copies, waits%s%s\n", n, n == 1 ? "" : "s",
		may_profile ? ", PC samples, counters" : "", has_energy ? ", energy" : "");
}

/* The driver is loaded. */
static void list_of_driver(void *driver, const struct nv_rights *r, int fd)
{
	struct nv_library l;
	char why[WHY_BYTES];
	int n = 0;
	if (!nv_library_open(&l, "", true, why, sizeof why)) {
		char *cure = strstr(why, "; ");
		if (cure)
			*cure = 0;
		say_missing(fd, "work of GPUs", why, cure ? cure + 2 : "");
		return;
	}
	CUresult (*init)(unsigned) = NULL;
	CUresult (*count)(int *) = NULL;
	memcpy(&init, &(void *){dlsym(driver, "cuInit")}, sizeof init);
	memcpy(&count, &(void *){dlsym(driver, "cuDeviceGetCount")}, sizeof count);
	CUresult error = init && count ? init(0) : CUDA_ERROR_UNKNOWN;
	if (error == CUDA_SUCCESS)
		error = count(&n);
	if (error == CUDA_SUCCESS && n > 0)
		list_devices(&l, r, n, fd);
	else
		dprintf(fd, "-the NVIDIA driver finds no device (error %d)\n", (int)error);
}

static void list(int fd)
{
	static struct nv_rights r;
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	nv_rights_read(&r);
	if (driver)
		list_of_driver(driver, &r, fd);
	else if (r.version[0])
		say_missing(
			fd, "work of GPUs", "libcuda.so.1 is not found; the kernel has its driver",
			"install the driver's libraries, or start the container with --gpus all");
	else
		dprintf(fd, "-there is no NVIDIA driver here (libcuda.so.1 is not found)\n");
}

__attribute__((visibility("default")))
const struct gpu_probe hpcrun_lite_gpu_probe = {.wants_preload = wants_preload, .list = list};
