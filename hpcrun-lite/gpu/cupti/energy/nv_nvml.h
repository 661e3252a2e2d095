/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few functions of NVIDIA's management library that energy needs. NVML comes with the driver,
 * but CUDA does not include its header. So the functions are declared here, as in NVML's reference
 * manual. Only for the thread of nv_energy.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_NVML_H
#define HPCRUN_LITE_GPU_CUPTI_ENERGY_NV_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NV_NVML_LIBRARY "libnvidia-ml.so.1"

struct nv_nvml {
	int (*nvmlInit_v2)(void);
	const char *(*nvmlErrorString)(int result);
	int (*nvmlDeviceGetHandleByUUID)(const char *uuid, void **device);
	int (*nvmlDeviceGetTotalEnergyConsumption)(void *device, unsigned long long *millijoules);
};

/* Loads NVML and sets it up. On failure returns false and sets *why, valid until the next call. */
bool nv_nvml_open(struct nv_nvml *n, const char **why);
/*
 * Returns the device with this CUDA UUID, which NVML writes as "GPU-8-4-4-4-12 digits". On failure
 * returns NULL and sets *why.
 */
void *nv_nvml_device(const struct nv_nvml *n, const uint8_t uuid[16], const char **why);
/* Reads the device's meter. On failure returns false and sets *why. */
bool nv_nvml_energy(const struct nv_nvml *n, void *device, uint64_t *energy_uj, const char **why);

#endif
