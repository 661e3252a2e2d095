/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NVML of the driver that does not exist. A device uses 100 W, and 300 W more while a stream
 * has work. Its meter changes every 50 ms. FAKE_CUDA=no-energy: it has none, as parts of a divided
 * GPU. See fake_cuda.c.
 */
#include "tests/gpu/fake/fake_cuda.h"

#include <stdio.h>
#include <string.h>

#define STEP_NS 50000000u
#define IDLE_MW 100000u
#define BUSY_MW 300000u

static struct {
	uint64_t step, mj;
} meter[FAKE_MOST_DEVICES];

/* NVML's header does not come with CUDA. */
API int nvmlInit_v2(void);
API const char *nvmlErrorString(int r);
API int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
API int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);

API int nvmlInit_v2(void) { return 0; }
API const char *nvmlErrorString(int r) { return r == 0 ? "Success" : "Not Supported"; }

API int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	for (int d = 0; d < (int)FAKE_MOST_DEVICES; d++) {
		CUuuid u;
		char text[64] = "GPU-";
		cuDeviceGetUuid_v2(&u, d);
		for (unsigned i = 0; i < sizeof u.bytes; i++)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%02x",
				 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				 (unsigned char)u.bytes[i]);
		if (!strcmp(text, uuid)) {
			*device = &meter[d];
			return 0;
		}
	}
	return 6;
}

API int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
	uint32_t d = (uint32_t)((__typeof__(&meter[0]))device - meter);
	uint64_t now = fake_now_ns();
	if (fake_is("no-energy"))
		return 3;
	if (now / STEP_NS != meter[d].step) {
		meter[d].step = now / STEP_NS;
		meter[d].mj = (uint64_t)((double)now / 1e9 * IDLE_MW +
					 (double)fake_busy_ns(d, now) / 1e9 * BUSY_MW);
	}
	*mj = meter[d].mj;
	return 0;
}
