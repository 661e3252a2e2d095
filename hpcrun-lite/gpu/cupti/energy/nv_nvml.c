/* SPDX-License-Identifier: BSD-3-Clause */
/* See nv_nvml.h. Test: tests/cli/gpu/energy.sh. */
#include "hpcrun-lite/gpu/cupti/energy/nv_nvml.h"

#include "common/safe/text.h"

#include <dlfcn.h>
#include <string.h>

#define UUID_TEXT_BYTES 64u

/* NVML returns 0 for success. */
static bool is_good(const struct nv_nvml *n, int result, const char **why)
{
	if (result != 0)
		*why = n->nvmlErrorString(result);
	return result == 0;
}

bool nv_nvml_open(struct nv_nvml *n, const char **why)
{
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{"nvmlInit_v2", &n->nvmlInit_v2},
		{"nvmlErrorString", &n->nvmlErrorString},
		{"nvmlDeviceGetHandleByUUID", &n->nvmlDeviceGetHandleByUUID},
		{"nvmlDeviceGetTotalEnergyConsumption", &n->nvmlDeviceGetTotalEnergyConsumption},
	};
	void *library = dlopen(NV_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		*why = dlerror();
		return false;
	}
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *symbol = dlsym(library, wanted[i].name);
		if (!symbol) {
			*why = dlerror();
			return false;
		}
		memcpy(wanted[i].to, &symbol, sizeof symbol);
	}
	return is_good(n, n->nvmlInit_v2(), why);
}

void *nv_nvml_device(const struct nv_nvml *n, const uint8_t uuid[16], const char **why)
{
	static const uint8_t group_bytes[] = {4, 2, 2, 2, 6};
	char name[UUID_TEXT_BYTES];
	struct text t = text_in(name, sizeof name);
	void *device = NULL;
	text_put(&t, "GPU");
	for (size_t i = 0, at = 0; i < sizeof group_bytes; at += group_bytes[i++]) {
		text_put_char(&t, '-');
		text_put_hex(&t, uuid + at, group_bytes[i]);
	}
	return is_good(n, n->nvmlDeviceGetHandleByUUID(name, &device), why) ? device : NULL;
}

bool nv_nvml_energy(const struct nv_nvml *n, void *device, uint64_t *energy_uj, const char **why)
{
	unsigned long long millijoules = 0;
	if (!is_good(n, n->nvmlDeviceGetTotalEnergyConsumption(device, &millijoules), why))
		return false;
	*energy_uj = 1000 * (uint64_t)millijoules;
	return true;
}
