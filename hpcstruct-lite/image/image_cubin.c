/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cubins are ELF files that the driver links: each kernel has a section of its own, all of them at
 * address 0, and debug sections refer to them by relocations. We use the file offset of a code
 * section as its address, because it is unique and easy to find again. Debug sections are relocated
 * accordingly. Test: tests/cli/struct/struct_cubin.sh, tests/fuzz/fuzz_cubin.c.
 */
#include "hpcstruct-lite/image/image_cubin.h"

#include "common/base/log.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Types of relocations (R_CUDA_*) that occur in debug sections: the address, 4 or 8 bytes wide. */
enum { CUDA_32 = 1, CUDA_64 = 2 };

static bool is_debug(const struct image_section *s)
{
	return strncmp(s->name, ".debug_", 7) == 0 && strcmp(s->name, ".debug_frame") != 0 &&
	       s->bytes && s->packed == IMAGE_PLAIN;
}

static bool symbol_value(const struct image *image, const struct image_section *table,
			 uint64_t index, uint64_t *value)
{
	Elf64_Sym s;
	if (!table->bytes || index >= table->n_bytes / sizeof s)
		return false;
	memcpy(&s, table->bytes + index * sizeof s, sizeof s);
	uint32_t section = image_symbol_section(image, table, index, s.st_shndx);
	if (section == 0 || section >= image->sections.n)
		return false;
	*value = s.st_value + image->sections.at[section].link_addr;
	return true;
}

/* Applies one relocation. SHT_REL keeps the addend in the place that is relocated. */
static bool apply_one(const struct image *image, const struct image_section *symbols,
		      const Elf64_Rela *r, bool has_addend, uint8_t *bytes, size_t n_bytes)
{
	size_t width = ELF64_R_TYPE(r->r_info) == CUDA_64   ? 8
		       : ELF64_R_TYPE(r->r_info) == CUDA_32 ? 4
							    : 0;
	uint64_t value = 0, addend = has_addend ? (uint64_t)r->r_addend : 0;
	if (width == 0 || r->r_offset > n_bytes || width > n_bytes - r->r_offset ||
	    !symbol_value(image, symbols, ELF64_R_SYM(r->r_info), &value))
		return false;
	if (!has_addend)
		memcpy(&addend, bytes + r->r_offset, width);
	value += addend;
	memcpy(bytes + r->r_offset, &value, width);
	return true;
}

/*
 * Applies one table of relocations to the bytes of its section. Returns the number of relocations
 * that could not be applied.
 */
static size_t apply(const struct image *image, const struct image_section *relocations,
		    uint8_t *bytes, size_t n_bytes)
{
	const struct image_section *symbols = image_linked_symbols(image, relocations);
	bool has_addend = relocations->type == SHT_RELA;
	size_t n_bad = 0, record_bytes = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	for (uint64_t i = 0; i < relocations->n_bytes / record_bytes; i++) {
		Elf64_Rela r = {0};
		memcpy(&r, relocations->bytes + i * record_bytes, record_bytes);
		n_bad += !symbols || !apply_one(image, symbols, &r, has_addend, bytes, n_bytes);
	}
	return n_bad;
}

/* Returns a writable copy of the section, owned by the image. NULL when out of memory. */
static uint8_t *own_copy(struct image *image, struct image_section *s)
{
	uint8_t *copy = malloc(s->n_bytes), **slot = copy ? vec_push(&image->unpacked) : NULL;
	if (!slot) {
		free(copy);
		return NULL;
	}
	memcpy(copy, s->bytes, s->n_bytes);
	*slot = copy;
	s->bytes = copy;
	return copy;
}

static enum status relocate(struct image *image, const struct image_section *relocations,
			    bool *is_copied)
{
	if (!relocations->bytes || relocations->info >= image->sections.n)
		return STATUS_OK;
	struct image_section *target = &image->sections.at[relocations->info];
	if (!is_debug(target) || target->n_bytes == 0)
		return STATUS_OK;
	uint8_t *bytes = *is_copied ? (uint8_t *)(uintptr_t)target->bytes : own_copy(image, target);
	if (!bytes)
		return STATUS_NO_MEMORY;
	*is_copied = true;
	size_t n_bad = apply(image, relocations, bytes, target->n_bytes);
	image->is_incomplete = image->is_incomplete || n_bad > 0;
	if (n_bad > 0)
		log_warn(image->path,
			 "section %s at file offset 0x%llx: %zu relocations that make no sense",
			 relocations->name, (unsigned long long)relocations->file_offset, n_bad);
	return STATUS_OK;
}

/*
 * Reads the architecture from e_flags. The ABI version determines the layout. image_elf.c has
 * checked that there is a header.
 */
static unsigned architecture_of(const struct image *image)
{
	Elf64_Ehdr h;
	memcpy(&h, image->file.bytes, sizeof h);
	return h.e_ident[EI_ABIVERSION] >= 8 ? h.e_flags >> 8 & 0xff : h.e_flags & 0xff;
}

enum status image_cubin_link(struct image *image)
{
	bool *copied = calloc(image->sections.n + 1, sizeof *copied);
	enum status status = copied ? STATUS_OK : STATUS_NO_MEMORY;
	image->is_cubin = true;
	image->architecture = architecture_of(image);
	for (size_t i = 0; i < image->sections.n; i++) {
		struct image_section *s = &image->sections.at[i];
		bool is_code =
			(s->flags & (SHF_EXECINSTR | SHF_ALLOC)) == (SHF_EXECINSTR | SHF_ALLOC);
		if (is_code && s->bytes)
			s->link_addr = s->file_offset;
		else if (is_code) {
			s->n_bytes = 0; /* outside the file: already logged */
			image->is_incomplete = true;
		}
	}
	for (size_t i = 0; i < image->sections.n && status == STATUS_OK; i++) {
		const struct image_section *s = &image->sections.at[i];
		if ((s->type == SHT_RELA || s->type == SHT_REL) && s->info < image->sections.n)
			status = relocate(image, s, &copied[s->info]);
	}
	free(copied);
	return status;
}
