/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code objects: the cubins that are loaded, and the names of their kernels. A loaded image may
 * contain anything, so everything is checked. Test: tests/unit/cupti/test_cupti_record.c.
 */
#include "hpcrun-lite/gpu/cupti/nv.h"
#include "hpcrun-lite/gpu/cupti/nv_image.h"

/* ---- kernels of a cubin ---- */

void nv_code_names(const void *image, size_t bytes, void (*each)(void *arg, const char *name),
		   void *arg)
{
	struct nv_image i;
	Elf64_Sym s;
	if (!nv_image_open(&i, image, bytes))
		return;
	for (uint32_t n = 0; nv_image_symbol(&i, n, &s); n++) {
		const char *name =
			nv_image_is_kernel(&s) ? nv_image_text(&i, &i.strings, s.st_name) : NULL;
		if (name)
			each(arg, name);
	}
}

/* ---- code objects ---- */

struct found {
	nv_code_named_fn *named;
	uint32_t code;
};

static void add_name(void *arg, const char *name)
{
	const struct found *f = arg;
	f->named(name, f->code);
}

static uint64_t key_on(uint32_t code, uint32_t device)
{
	return (uint64_t)code << 32 | (device + 1);
}

/* The caller holds define_lock. */
static uint32_t first_of(uint64_t hash, uint32_t id, uint32_t device)
{
	uint32_t first = hash ? (uint32_t)nv_map_get(&nv.contents, hash) : id;
	if (!first && nv_map_put(&nv.contents, hash, id))
		first = id;
	if (!first || first == id)
		return id;
	nv_map_put(&nv.on_devices, key_on(first, device), id);
	atomic_store_explicit(&nv.has_twins, true, memory_order_release);
	return first;
}

/* Relaxed: the answer is only a hint, and nv_code_on loads it again. */
bool nv_code_has_twins(void)
{
	return atomic_load_explicit(&nv.has_twins, memory_order_relaxed);
}

uint32_t nv_code_on(uint32_t code, uint32_t device)
{
	/* Acquire: if it is set, the map has the code objects on other devices. */
	uint32_t id = code && atomic_load_explicit(&nv.has_twins, memory_order_acquire)
			      ? (uint32_t)nv_map_get(&nv.on_devices, key_on(code, device))
			      : 0;
	return id ? id : code;
}

uint32_t nv_code_loaded(CUcontext context, const void *image, size_t bytes,
			nv_code_named_fn *named)
{
	uint32_t device = 0;
	uint64_t hash[2] = {0, 0};
	if (nv.lib.cuptiGetDeviceId(context, &device) != CUPTI_SUCCESS)
		device = NV_MAX_DEVICES;
	const struct gpu_code code = {.kind = MSR_GPU_CODE_ELF,
				      .bytes = image,
				      .n_bytes = bytes,
				      .device = nv_device(device),
				      .must_keep = nv.options.record_bytes > 0};
	uint32_t id = nv_part_hold(image, bytes, code.device, hash);
	if (!id)
		id = nv.host->code(nv.host, &code, hash);
	if (!id)
		return 0;
	pthread_mutex_lock(&nv.define_lock);
	struct found f = {named, first_of(hash[0], id, device)};
	nv_code_names(image, bytes, add_name, &f);
	pthread_mutex_unlock(&nv.define_lock);
	return f.code;
}
