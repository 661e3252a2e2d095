/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices, contexts and streams: defined when first seen. Holds no lock while it asks the driver.
 * Test: tests/unit/cupti/test_cupti_record.c.
 */
#include "hpcrun-lite/gpu/cupti/nv.h"

#include "common/safe/text.h"

#include <string.h>

#define NAME_BYTES 256u

uint32_t nv_device_attribute(CUdevice device, CUdevice_attribute what)
{
	int v = 0;
	return nv.lib.cuDeviceGetAttribute(&v, what, device) == CUDA_SUCCESS && v > 0 ? (uint32_t)v
										      : 0;
}

static void describe(struct text *t)
{
	char cupti[NV_VERSION_BYTES];
	int version = 0;
	nv.lib.cuDriverGetVersion(&version);
	text_put(t, "CUDA ");
	text_put_u64(t, (uint64_t)version / 1000);
	text_put_char(t, '.');
	text_put_u64(t, (uint64_t)version % 1000 / 10);
	text_put(t, ", CUPTI ");
	text_put(t, nv_library_version_text(nv.lib.version, cupti));
}

static uint32_t define_device(CUdevice d, uint32_t ordinal)
{
	char name[NAME_BYTES] = "", line[NAME_BYTES];
	struct text t = text_in(line, sizeof line);
	size_t memory = 0;
	CUuuid uuid = {{0}};
	nv.lib.cuDeviceGetName(name, (int)sizeof name, d);
	nv.lib.cuDeviceTotalMem_v2(&memory, d);
	nv.lib.cuDeviceGetUuid_v2(&uuid, d);
	describe(&t);
	struct gpu_device g = {
		.name = name,
		.driver = line,
		.ordinal = ordinal,
		.type = MSR_GPU_DEVICE_GPU,
		.memory_bytes = memory,
		.n_units = nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
		.threads_per_unit =
			nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
		.group_max = nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
		.lanes = nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_WARP_SIZE),
		.clock_mhz = nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000,
		.registers_per_unit = nv_device_attribute(
			d, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
		.shared_bytes_per_unit = nv_device_attribute(
			d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
		.groups_per_unit =
			nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
		.compute_major =
			nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
		.compute_minor =
			nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
		.registers_per_group =
			nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
		.reserved_shared_bytes = nv_device_attribute(
			d, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK),
		.shared_bytes_per_group =
			nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
		.shared_bytes_per_group_optin = nv_device_attribute(
			d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
		.memory_khz = nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
		.memory_bits = nv_device_attribute(d, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
	};
	memcpy(g.uuid, uuid.bytes, sizeof g.uuid);
	pthread_mutex_lock(&nv.define_lock);
	if (!nv.device[ordinal])
		nv.device[ordinal] = nv.host->device(nv.host, &g);
	nv.uuid[ordinal] = uuid;
	uint32_t id = nv.device[ordinal];
	pthread_mutex_unlock(&nv.define_lock);
	return id;
}

uint32_t nv_device(uint32_t ordinal)
{
	if (ordinal >= NV_MAX_DEVICES)
		return 0;
	pthread_mutex_lock(&nv.define_lock);
	uint32_t id = nv.device[ordinal];
	pthread_mutex_unlock(&nv.define_lock);
	/* CUdevice is the device's number */
	return id ? id : define_device((CUdevice)ordinal, ordinal);
}

uint32_t nv_device_known(uint32_t ordinal, CUuuid *uuid)
{
	pthread_mutex_lock(&nv.define_lock);
	uint32_t id = nv.device[ordinal];
	*uuid = nv.uuid[ordinal];
	pthread_mutex_unlock(&nv.define_lock);
	return id;
}

uint32_t nv_context(uint32_t device, uint32_t context)
{
	uint32_t id = (uint32_t)nv_map_get(&nv.contexts, context);
	if (id)
		return id;
	uint32_t device_id = nv_device(device);
	pthread_mutex_lock(&nv.define_lock);
	id = (uint32_t)nv_map_get(&nv.contexts, context);
	if (!id && !nv_map_is_full(&nv.contexts, 0)) {
		id = nv.host->context(nv.host,
				      &(struct gpu_context){.name = "",
							    .device = device_id,
							    .ordinal = context ? context - 1 : 0});
		nv_map_put(&nv.contexts, context, id);
	}
	pthread_mutex_unlock(&nv.define_lock);
	return id;
}

void nv_context_made(CUcontext handle)
{
	uint32_t device, context;
	if (nv.lib.cuptiGetDeviceId(handle, &device) == CUPTI_SUCCESS &&
	    nv.lib.cuptiGetContextId(handle, &context) == CUPTI_SUCCESS)
		nv_context(device, context);
}

/* Used instead of a stream's number for the queue that all further streams of a context share. */
#define FURTHER UINT32_MAX

static uint32_t define_queue(uint32_t device, uint32_t context, uint32_t stream)
{
	char name[32];
	struct text t = text_in(name, sizeof name);
	if (nv_map_is_full(&nv.queues, stream == FURTHER ? 0 : NV_MAX_FURTHER))
		return stream == FURTHER ? 0 : nv_queue(device, context, FURTHER);
	text_put(&t, stream == FURTHER ? "further streams" : "stream ");
	if (stream != FURTHER)
		text_put_u64(&t, stream);
	struct gpu_queue q = {.name = name,
			      .context = nv_context(device, context),
			      .device = nv_device(device),
			      .ordinal = stream};
	uint64_t key = (uint64_t)context << 32 | stream;
	pthread_mutex_lock(&nv.define_lock);
	uint32_t id = (uint32_t)nv_map_get(&nv.queues, key);
	if (!id) {
		id = nv.host->queue(nv.host, &q);
		nv_map_put(&nv.queues, key, id);
	}
	pthread_mutex_unlock(&nv.define_lock);
	return id;
}

uint32_t nv_queue(uint32_t device, uint32_t context, uint32_t stream)
{
	uint32_t id = (uint32_t)nv_map_get(&nv.queues, (uint64_t)context << 32 | stream);
	return id ? id : define_queue(device, context, stream);
}
