/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the tables of a cubin, an ELF file that may contain anything. Test:
 * tests/unit/cupti/test_cupti_record.c, tests/unit/cupti/test_cupti_cut.c.
 */
#ifndef HPCRUN_LITE_GPU_CUPTI_NV_IMAGE_H
#define HPCRUN_LITE_GPU_CUPTI_NV_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct nv_image {
	const uint8_t *at;
	size_t bytes;
	Elf64_Ehdr head;
	Elf64_Shdr section_names, symbols, strings;
	uint32_t n_symbols;
};

static inline bool nv_image_is_inside(const struct nv_image *i, uint64_t offset, uint64_t bytes)
{
	return offset <= i->bytes && bytes <= i->bytes - offset;
}

/* Returns false if there is no such section, or it is outside the file. */
static inline bool nv_image_section(const struct nv_image *i, unsigned number, Elf64_Shdr *s)
{
	uint64_t offset = i->head.e_shoff + (uint64_t)number * sizeof *s;
	if (number >= i->head.e_shnum || offset < i->head.e_shoff ||
	    !nv_image_is_inside(i, offset, sizeof *s))
		return false;
	memcpy(s, i->at + offset, sizeof *s);
	return s->sh_type == SHT_NOBITS || nv_image_is_inside(i, s->sh_offset, s->sh_size);
}

/* Returns a string of a table; NULL: damaged. */
static inline const char *nv_image_text(const struct nv_image *i, const Elf64_Shdr *table,
					uint32_t offset)
{
	const char *text = (const char *)i->at + table->sh_offset;
	return offset < table->sh_size && memchr(text + offset, 0, table->sh_size - offset)
		       ? text + offset
		       : NULL;
}

static inline bool nv_image_symbol(const struct nv_image *i, uint32_t number, Elf64_Sym *s)
{
	if (number >= i->n_symbols)
		return false;
	memcpy(s, i->at + i->symbols.sh_offset + number * sizeof *s, sizeof *s);
	return true;
}

/* STO_CUDA_ENTRY: a kernel, even if it is local to its file. Device functions have no such bit. */
static inline bool nv_image_is_kernel(const Elf64_Sym *s)
{
	return ELF64_ST_TYPE(s->st_info) == STT_FUNC && (s->st_other & 0x10);
}

/* Returns false if the image is not a readable cubin, or has no symbols. */
bool nv_image_open(struct nv_image *i, const void *image, size_t bytes);

#endif
