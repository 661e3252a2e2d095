/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of both ways into the process. The module links neither the preloaded library nor
 * OpenCL; it finds both by name. Tests: tests/unit/opencl/test_opencl_layer.c,
 * tests/cli/opencl/ocl_entrance.sh.
 */
#include "hpcrun-lite/gpu/opencl/ocl.h"

#include <dlfcn.h>

_Atomic int ocl_entrance;
cl_icd_dispatch ocl_next;
const struct gpu_host *ocl_host;

static const char *name_of(enum ocl_entrance how)
{
	return how == OCL_LAYER ? "ICD loader's layer" : "preloaded";
}

/*
 * Keeps the library of the next functions loaded until the process ends, even if the program closes
 * it.
 */
static void keep_loaded(const void *function)
{
	Dl_info info;
	if (function && dladdr(function, &info) && info.dli_fname)
		(void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool ocl_enter_process(enum ocl_entrance how)
{
	void *symbol = dlsym(RTLD_DEFAULT, GPU_HOST_SYMBOL);
	gpu_host_fn *find = (gpu_host_fn *)(uintptr_t)symbol;
	ocl_host = find ? find("opencl", GPU_HOST_VERSION) : NULL;
	if (!ocl_host)
		return false;
	keep_loaded((const void *)(uintptr_t)ocl_next.clFinish);
	ocl_host->entered(ocl_host, name_of(how), (const void *)(uintptr_t)ocl_enter_process);
	/* release: a thread that sees the entrance sees the table and the host */
	atomic_store_explicit(&ocl_entrance, how, memory_order_release);
	return true;
}
