/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols of an ELF image in code. Must not read a string beyond its table. Test:
 * tests/cli/struct/struct_golden.sh, tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/image/image.h"

#include "common/base/log.h"

#include <elf.h>
#include <string.h>

/* Returns the length of the name at `offset`, without symbol version; 0 if there is no name. */
static uint32_t name_at(const struct image_section *strings, uint32_t offset, const char **name)
{
	if (offset >= strings->n_bytes)
		return 0;
	*name = (const char *)strings->bytes + offset;
	size_t left = strings->n_bytes - offset, n = strnlen(*name, left);
	if (n == left || n > UINT32_MAX)
		return 0;
	const char *at = memchr(*name, '@', n);
	return (uint32_t)(at && at != *name ? at - *name : (ptrdiff_t)n);
}

uint32_t image_symbol_section(const struct image *image, const struct image_section *table,
			      uint64_t index, uint16_t st_shndx)
{
	if (st_shndx != SHN_XINDEX)
		return st_shndx < SHN_LORESERVE ? st_shndx : 0;
	uint32_t section = 0;
	const struct image_section *far =
		image->far_sections ? &image->sections.at[image->far_sections] : NULL;
	if (far && far->bytes && far->link < image->sections.n &&
	    &image->sections.at[far->link] == table && index < far->n_bytes / sizeof section)
		memcpy(&section, far->bytes + index * sizeof section, sizeof section);
	return section;
}

const struct image_section *image_linked_symbols(
	const struct image *image, const struct image_section *s)
{
	if (s->link < image->sections.n && image->sections.at[s->link].type == SHT_SYMTAB)
		return &image->sections.at[s->link];
	const struct image_section *only = NULL;
	for (size_t i = 0; i < image->sections.n; i++) {
		if (image->sections.at[i].type != SHT_SYMTAB)
			continue;
		if (only)
			return NULL;
		only = &image->sections.at[i];
	}
	return only;
}

/* Adds the section's address to a symbol of a cubin, whose value is relative to its section. */
static void link_symbol(const struct image *image, const struct image_section *table,
			uint64_t index, Elf64_Sym *s)
{
	uint32_t section = image_symbol_section(image, table, index, s->st_shndx);
	if (section < image->sections.n)
		s->st_value += image->sections.at[section].link_addr;
}

static bool is_function(const struct image *image, const Elf64_Sym *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);
	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON)
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	return image_is_code(image, s->st_value);
}

/* Gives the symbol its name. Returns false if it has none, or if the filter does not take it. */
static bool take(const struct image_section *strings, uint32_t st_name,
		 const struct image_symbol_filter *filter, struct image_symbol *s)
{
	if (filter && !filter->with_names) {
		s->name = st_name < strings->n_bytes ? (const char *)strings->bytes + st_name : "";
		if (!*s->name || !filter->takes(filter->arg, s))
			return false;
	}
	s->name_bytes = name_at(strings, st_name, &s->name);
	return s->name_bytes > 0 &&
	       (!filter || !filter->with_names || filter->takes(filter->arg, s));
}

static bool read_table(const struct image *image, const struct image_section *table,
		       enum image_symbol_table which, const struct image_symbol_filter *filter,
		       struct image_symbols *out)
{
	bool is_damaged = table->link >= image->sections.n ||
			  !image->sections.at[table->link].bytes ||
			  table->n_bytes % sizeof(Elf64_Sym) != 0;
	if (is_damaged && !(filter && filter->is_again))
		log_warn(image->path, "section %s at file offset 0x%llx is damaged; %s",
			 table->name, (unsigned long long)table->file_offset,
			 table->link >= image->sections.n ? "not used" : "used as far as it goes");
	if (table->link >= image->sections.n || !image->sections.at[table->link].bytes)
		return true;
	const struct image_section *strings = &image->sections.at[table->link];
	uint32_t source = 0;
	for (uint64_t i = 0; i < table->n_bytes / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;
		memcpy(&s, table->bytes + i * sizeof s, sizeof s);
		if (ELF64_ST_TYPE(s.st_info) == STT_FILE)
			source++;
		if (image->is_cubin)
			link_symbol(image, table, i, &s);
		if (!is_function(image, &s))
			continue;
		unsigned bind = ELF64_ST_BIND(s.st_info);
		struct image_symbol symbol = {.link_addr = s.st_value,
					      .n_bytes = s.st_size,
					      .name = "",
					      .source = bind == STB_LOCAL ? source : 0,
					      .type = (uint8_t)ELF64_ST_TYPE(s.st_info),
					      .bind = (uint8_t)bind,
					      .other = s.st_other,
					      .table = (uint8_t)which};
		if (!take(strings, s.st_name, filter, &symbol))
			continue;
		struct image_symbol *slot = vec_push(out);
		if (!slot)
			return false;
		*slot = symbol;
	}
	return true;
}

enum status image_read_symbols(const struct image *image,
			       const struct image_symbol_filter *filter,
			       struct image_symbols *symbols)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		bool wanted = s->type == SHT_SYMTAB || s->type == SHT_DYNSYM;
		if (wanted && s->bytes &&
		    !read_table(image, s, s->type == SHT_SYMTAB ? IMAGE_SYMTAB : IMAGE_DYNSYM,
				filter, symbols)) {
			log_error(image->path, "out of memory");
			return STATUS_NO_MEMORY;
		}
	}
	return STATUS_OK;
}
