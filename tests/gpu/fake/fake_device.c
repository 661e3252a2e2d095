/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices and contexts of the driver that does not exist: one device, or as many as FAKE_DEVICES
 * says, of which CUDA_VISIBLE_DEVICES selects as it does with NVIDIA's; each has its primary
 * context alone. Which is current is a thread's own. See fake_cuda.c.
 */
#include "tests/gpu/fake/fake_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CONTEXT 0x1000u

static bool has_context[FAKE_MOST_DEVICES];
static __thread uint32_t current; /* device */

static CUcontext context_of(uint32_t device)
{
	return (CUcontext)(uintptr_t)(FIRST_CONTEXT + device);
}

uint32_t fake_current(void) { return current; }
CUcontext fake_context(void) { return context_of(current); }

uint32_t fake_device_of(CUcontext c)
{
	uintptr_t n = (uintptr_t)c - FIRST_CONTEXT;
	return n < FAKE_MOST_DEVICES ? (uint32_t)n : 0;
}

/* Which of the machine's devices the process sees as its nth; FAKE_MOST_DEVICES: none. */
static unsigned machine_device(unsigned n)
{
	const char *all = getenv("FAKE_DEVICES"), *visible = getenv("CUDA_VISIBLE_DEVICES");
	unsigned n_all = all ? (unsigned)atoi(all) : 1;
	n_all = n_all < FAKE_MOST_DEVICES ? n_all : FAKE_MOST_DEVICES;
	for (; visible && n && *visible; n--) {
		visible += strcspn(visible, ",");
		visible += *visible == ',';
	}
	unsigned device = !visible ? n : *visible ? (unsigned)atoi(visible) : FAKE_MOST_DEVICES;
	return device < n_all ? device : FAKE_MOST_DEVICES;
}

API CUresult cuDeviceGet(CUdevice *d, int n)
{
	*d = n;
	return n < 0 || machine_device((unsigned)n) == FAKE_MOST_DEVICES ? CUDA_ERROR_INVALID_DEVICE
									 : CUDA_SUCCESS;
}
API CUresult cuDeviceGetCount(int *n)
{
	for (*n = 0;
	     *n < (int)FAKE_MOST_DEVICES && machine_device((unsigned)*n) != FAKE_MOST_DEVICES;
	     (*n)++)
		;
	return CUDA_SUCCESS;
}
API CUresult cuDeviceGetName(char *to, int room, CUdevice d)
{
	(void)d;
	snprintf(to, (size_t)room, "Fake GPU");
	return CUDA_SUCCESS;
}
API CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d)
{
	(void)d;
	*v = a == CU_DEVICE_ATTRIBUTE_WARP_SIZE                 ? 32
	     : a == CU_DEVICE_ATTRIBUTE_CLOCK_RATE              ? (int)FAKE_CLOCK_KHZ
	     : a == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE       ? (int)FAKE_CLOCK_KHZ
	     : a == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH ? 8
								: (int)FAKE_UNITS;
	return CUDA_SUCCESS;
}
API CUresult cuDeviceTotalMem_v2(size_t *n, CUdevice d)
{
	(void)d;
	*n = (size_t)1 << 30;
	return CUDA_SUCCESS;
}
/* FAKE_UUID, or by where the library lies: tests that run beside each other have each their own
 * GPU. */
API CUresult cuDeviceGetUuid_v2(CUuuid *u, CUdevice d)
{
	const char *given = getenv("FAKE_UUID");
	Dl_info info = {0};
	memset(u, 0, sizeof *u);
	for (size_t i = 0; given && i < sizeof u->bytes &&
			   sscanf(given + 2 * i, "%2hhx", (unsigned char *)&u->bytes[i]) == 1;
	     i++)
		;
	dladdr((void *)(uintptr_t)cuDeviceGetUuid_v2, &info);
	for (size_t i = 0; !given && info.dli_fname && info.dli_fname[i]; i++)
		u->bytes[i % sizeof u->bytes] =
			(char)(u->bytes[i % sizeof u->bytes] * 31 + info.dli_fname[i]);
	u->bytes[0] = (char)(u->bytes[0] + (char)machine_device((unsigned)d));
	return CUDA_SUCCESS;
}
/* Of a context that is made, in the thread that makes it. */
static void tell_context(CUpti_CallbackId id, uint32_t device)
{
	uint32_t before = current;
	current = device;
	fake_resource(id, NULL);
	current = before;
}
API CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d)
{
	*c = context_of((uint32_t)d);
	if (!has_context[d])
		tell_context(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, (uint32_t)d);
	has_context[d] = true;
	return CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxReset_v2(CUdevice d)
{
	tell_context(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, (uint32_t)d);
	fake_pc_context_gone((uint32_t)d);
	has_context[d] = false;
	return CUDA_SUCCESS;
}
API CUresult cuCtxSetCurrent(CUcontext c) { current = fake_device_of(c); return CUDA_SUCCESS; }
/* One at a time. */
API CUresult cuCtxPushCurrent_v2(CUcontext c)
{
	return cuCtxSetCurrent(c);
}
API CUresult cuCtxPopCurrent_v2(CUcontext *c)
{
	*c = context_of(current);
	return CUDA_SUCCESS;
}
API CUresult cuCtxGetCurrent(CUcontext *c) { *c = context_of(current); return CUDA_SUCCESS; }
