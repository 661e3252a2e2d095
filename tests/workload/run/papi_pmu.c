/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets the real PAPI work on a machine whose processor has no counters or is unknown to libpfm4, as
 * virtual machines are: preloaded, it tells PAPI that the kernel's software events ("perf") are the
 * processor's own unit. Used by tests/cli/launch/launch_papi.sh.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* The beginning of libpfm4's pfm_pmu_info_t. */
struct pmu_info {
	const char *name, *desc;
	size_t size;
	int pmu, type, nevents, first_event, max_encoding, num_cntrs, num_fixed_cntrs;
};

#define TYPE_CORE 1

int pfm_get_pmu_info(int pmu, struct pmu_info *info);
int pfm_get_pmu_info(int pmu, struct pmu_info *info)
{
	static int (*next)(int, struct pmu_info *);
	void *library = next ? NULL : dlopen("libpfm.so.4", RTLD_LAZY);
	if (library)
		*(void **)&next = dlsym(library, "pfm_get_pmu_info");
	int result = next ? next(pmu, info) : -1;
	if (result == 0 && !strcmp(info->name, "perf")) {
		info->type = TYPE_CORE;
		info->num_cntrs = 8;
	}
	return result;
}
