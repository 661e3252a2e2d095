/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code objects: cubins as they are loaded, and the names of their kernels. A loaded image may
 * contain anything, so everything is checked. Test: tests/unit/cupti/test_cupti_record.c.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include <elf.h>
#include <string.h>

/*
 * STO_CUDA_ENTRY: a kernel, even if it is local to its file. Device functions do not have this bit.
 */
#define IS_KERNEL 0x10

/* ---- kernels of a cubin ---- */

struct image {
	const uint8_t *at;
	size_t bytes;
};

static bool is_inside(const struct image *i, uint64_t offset, uint64_t bytes)
{
	return offset <= i->bytes && bytes <= i->bytes - offset;
}

static bool get_section(const struct image *i, const Elf64_Ehdr *head, unsigned number,
			Elf64_Shdr *s)
{
	uint64_t offset = head->e_shoff + (uint64_t)number * sizeof *s;
	if (number >= head->e_shnum || offset < head->e_shoff || !is_inside(i, offset, sizeof *s))
		return false;
	memcpy(s, i->at + offset, sizeof *s);
	return s->sh_type == SHT_NOBITS || is_inside(i, s->sh_offset, s->sh_size);
}

static void each_symbol(const struct image *i, const Elf64_Shdr *symbols, const Elf64_Shdr *strings,
			void (*each)(void *arg, const char *name), void *arg)
{
	const char *text = (const char *)i->at + strings->sh_offset;
	for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size; at += sizeof(Elf64_Sym)) {
		Elf64_Sym s;
		memcpy(&s, i->at + symbols->sh_offset + at, sizeof s);
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || !(s.st_other & IS_KERNEL) ||
		    s.st_name >= strings->sh_size)
			continue;
		if (memchr(text + s.st_name, 0, strings->sh_size - s.st_name))
			each(arg, text + s.st_name);
	}
}

void nv_code_names(const void *image, size_t bytes, void (*each)(void *arg, const char *name),
		   void *arg)
{
	const struct image i = {image, bytes};
	Elf64_Ehdr head;
	Elf64_Shdr symbols, strings;
	if (!is_inside(&i, 0, sizeof head))
		return;
	memcpy(&head, image, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_shentsize != sizeof symbols)
		return;
	for (unsigned n = 0; n < head.e_shnum; n++)
		if (get_section(&i, &head, n, &symbols) && symbols.sh_type == SHT_SYMTAB &&
		    get_section(&i, &head, symbols.sh_link, &strings) &&
		    strings.sh_type == SHT_STRTAB)
			each_symbol(&i, &symbols, &strings, each, arg);
}

/* ---- code objects ---- */

static void add_name(void *arg, const char *name)
{
	nv_kernel_named(name, *(const uint32_t *)arg);
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

/* Relaxed: nv_code_on, which uses the answer, looks again. */
bool nv_code_has_twins(void)
{
	return atomic_load_explicit(&nv.has_twins, memory_order_relaxed);
}

uint32_t nv_code_on(uint32_t code, uint32_t device)
{
	/* Acquire: the code objects on other devices are in the map. */
	uint32_t id = code && atomic_load_explicit(&nv.has_twins, memory_order_acquire)
			      ? (uint32_t)nv_map_get(&nv.on_devices, key_on(code, device))
			      : 0;
	return id ? id : code;
}

uint32_t nv_code_loaded(CUcontext context, const void *image, size_t bytes)
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
	uint32_t id = nv.host->code(nv.host, &code, hash);
	if (!id)
		return 0;
	pthread_mutex_lock(&nv.define_lock);
	uint32_t first = first_of(hash[0], id, device);
	nv_code_names(image, bytes, add_name, &first);
	pthread_mutex_unlock(&nv.define_lock);
	return first;
}
