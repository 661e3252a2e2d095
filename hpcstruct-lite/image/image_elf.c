/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ELF files through libelf: sections, build id, code. Must not trust an offset that libelf has not
 * checked. Test: tests/cli/struct/struct_golden.sh, tests/cli/struct/struct_damage.sh.
 */
#include "hpcstruct-lite/image/image_elf.h"
#include "hpcstruct-lite/image/image_cubin.h"

#include "common/base/cursor.h"
#include "common/base/log.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#define GNU_BUILD_ID 3

/* Kept after load(): the names, and libelf's handle. */
struct elf_handle {
	Elf *elf;
	VEC(char *) names; /* of sections that were renamed */
};

static bool elf_recognises(const char *path, const uint8_t *bytes, size_t n_bytes)
{
	(void)path;
	return n_bytes >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static bool is_debug_name(const char *name)
{
	return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0;
}

/* Returns ".debug_info" for ".zdebug_info". The name belongs to the handle. */
static const char *plain_name(struct elf_handle *h, const char *name)
{
	char *copy = malloc(strlen(name));
	char **slot = copy ? vec_push(&h->names) : NULL;
	if (!slot) {
		free(copy);
		return name;
	}
	copy[0] = '.';
	memcpy(copy + 1, name + 2, strlen(name) - 1);
	return *slot = copy;
}

/* Sets a section's contents as they are in the file. Only debug sections may be compressed. */
static void load_contents(struct image *image, struct elf_handle *h, Elf_Scn *scn,
			  struct image_section *s)
{
	bool gnu = strncmp(s->name, ".zdebug_", 8) == 0,
	     packed = gnu || (s->flags & SHF_COMPRESSED);
	if (packed && !is_debug_name(s->name))
		return;
	Elf_Data *d = elf_rawdata(scn, NULL);
	if (d && d->d_buf && d->d_size == s->n_bytes) {
		s->bytes = d->d_buf;
	} else if (s->n_bytes > 0) {
		/* .nv_debug.shared has a size but no bytes, and we do not read such sections */
		if (strncmp(s->name, ".nv_debug", 9) != 0)
			log_warn(image->path,
				"section %s at file offset 0x%llx is outside the file", s->name,
				(unsigned long long)s->file_offset);
		return;
	}
	s->packed = gnu ? IMAGE_PACKED_GNU : packed ? IMAGE_PACKED_ELF : IMAGE_PLAIN;
	if (gnu)
		s->name = plain_name(h, s->name);
}

static enum status load_sections(struct image *image, struct elf_handle *h)
{
	size_t names_index = 0, n = 0;
	if (elf_getshdrnum(h->elf, &n) != 0 || n == 0 ||
	    elf_getshdrstrndx(h->elf, &names_index) != 0)
		return STATUS_OK; /* sections are optional; the program headers follow */
	for (size_t i = 0; i < n; i++) {
		struct image_section *s = vec_push(&image->sections);
		if (!s)
			return STATUS_NO_MEMORY;
		s->name = "";
		Elf_Scn *scn = elf_getscn(h->elf, i);
		GElf_Shdr header;
		if (!scn || !gelf_getshdr(scn, &header)) {
			log_warn(image->path, "section %zu has no readable header: %s", i,
				 elf_errmsg(-1));
			continue;
		}
		const char *name = elf_strptr(h->elf, names_index, header.sh_name);
		*s = (struct image_section){.name = name ? name : "",
					    .type = header.sh_type,
					    .flags = header.sh_flags,
					    .link_addr = header.sh_addr,
					    .n_bytes = header.sh_size,
					    .link = header.sh_link,
					    .info = header.sh_info,
					    .entry_bytes = header.sh_entsize,
					    .file_offset = header.sh_offset};
		if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL)
			load_contents(image, h, scn, s);
		if (header.sh_type == SHT_SYMTAB_SHNDX)
			image->far_sections = (uint32_t)i;
	}
	return STATUS_OK;
}

static enum status add_code(struct image *image, uint64_t start, uint64_t n_bytes)
{
	if (n_bytes == 0 || start + n_bytes < start || (start + n_bytes) >> 47 != 0)
		return STATUS_OK;
	struct image_region *r = vec_push(&image->code);
	if (!r)
		return STATUS_NO_MEMORY;
	*r = (struct image_region){start, n_bytes, 0};
	return STATUS_OK;
}

/* Lists the executable sections, or the executable segments if there are no sections. */
static enum status load_code(struct image *image, struct elf_handle *h)
{
	enum status status = STATUS_OK;
	for (size_t i = 0; i < image->sections.n && status == STATUS_OK; i++) {
		const struct image_section *s = &image->sections.at[i];
		if ((s->flags & (SHF_EXECINSTR | SHF_ALLOC)) == (SHF_EXECINSTR | SHF_ALLOC))
			status = add_code(image, s->link_addr, s->n_bytes);
	}
	size_t n = 0;
	if (image->code.n > 0 || elf_getphdrnum(h->elf, &n) != 0)
		return status;
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		GElf_Phdr p;
		if (gelf_getphdr(h->elf, (int)i, &p) && p.p_type == PT_LOAD && (p.p_flags & PF_X))
			status = add_code(image, p.p_vaddr, p.p_memsz);
	}
	return status;
}

static bool take_build_id(struct image *image, const uint8_t *bytes, size_t n_bytes)
{
	struct cursor c = cursor_make(bytes, n_bytes);
	while (cursor_left(&c) >= 12) {
		uint32_t name_bytes = cursor_u32(&c), data_bytes = cursor_u32(&c),
			 type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, name_bytes);
		cursor_bytes(&c, (4 - name_bytes % 4) % 4);
		const uint8_t *data = cursor_bytes(&c, data_bytes);
		if (!cursor_ok(&c))
			return false;
		if (type == GNU_BUILD_ID && name_bytes == 4 && memcmp(name, "GNU", 4) == 0 &&
		    data_bytes > 0) {
			image->build_id_bytes =
				data_bytes < IMAGE_BUILD_ID_MAX ? data_bytes : IMAGE_BUILD_ID_MAX;
			memcpy(image->build_id, data, image->build_id_bytes);
			return true;
		}
		if (cursor_left(&c) >= (4 - data_bytes % 4) % 4)
			cursor_bytes(&c, (4 - data_bytes % 4) % 4);
	}
	return false;
}

static void load_build_id(struct image *image, struct elf_handle *h)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (s->type == SHT_NOTE && s->bytes && take_build_id(image, s->bytes, s->n_bytes))
			return;
	}
	size_t n = 0;
	if (elf_getphdrnum(h->elf, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		if (gelf_getphdr(h->elf, (int)i, &p) && p.p_type == PT_NOTE &&
		    p.p_offset <= image->file.n_bytes &&
		    p.p_filesz <= image->file.n_bytes - p.p_offset &&
		    take_build_id(image, image->file.bytes + p.p_offset, p.p_filesz))
			return;
	}
}

static enum status elf_load(struct image *image)
{
	const uint8_t *bytes = image->file.bytes;
	if (image->file.n_bytes < sizeof(Elf64_Ehdr)) {
		log_error(image->path, "the ELF header is cut off");
		return STATUS_BAD_INPUT;
	}
	if (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != ELFDATA2LSB) {
		log_error(image->path, "only 64-bit little-endian ELF files are supported");
		return STATUS_UNSUPPORTED;
	}
	struct elf_handle *h = calloc(1, sizeof *h);
	if (!h)
		return STATUS_NO_MEMORY;
	image->handle = h;
	elf_version(EV_CURRENT);
	h->elf = elf_memory((char *)(uintptr_t)bytes, image->file.n_bytes);
	GElf_Ehdr header;
	if (!h->elf || elf_kind(h->elf) != ELF_K_ELF || !gelf_getehdr(h->elf, &header)) {
		log_error(image->path, "damaged ELF header: %s", elf_errmsg(-1));
		return STATUS_BAD_INPUT;
	}
	image->machine = header.e_machine;
	image->entry = header.e_entry;
	size_t n_sections = 0;
	if (header.e_shoff != 0 && (elf_getshdrnum(h->elf, &n_sections) != 0 || n_sections == 0)) {
		log_error(image->path,
			  "the section headers at file offset 0x%llx are outside the file",
			  (unsigned long long)header.e_shoff);
		return STATUS_BAD_INPUT;
	}
	enum status status = load_sections(image, h);
	if (status == STATUS_OK && header.e_machine == EM_CUDA)
		status = image_cubin_link(image);
	if (status == STATUS_OK)
		status = load_code(image, h);
	load_build_id(image, h);
	/* dwz writes its shared file as ET_REL; code in such a file has no addresses yet */
	bool linked = header.e_type == ET_EXEC || header.e_type == ET_DYN ||
		      (header.e_type == ET_REL && image->code.n == 0);
	if (status == STATUS_OK && !linked && !image->is_cubin) {
		log_error(image->path, "neither a program nor a shared library (ELF type %u)",
			  header.e_type);
		status = STATUS_UNSUPPORTED;
	}
	return status;
}

void image_elf_free(struct image *image)
{
	struct elf_handle *h = image->handle;
	if (!h)
		return;
	for (size_t i = 0; i < h->names.n; i++)
		free(h->names.at[i]);
	vec_free(&h->names);
	if (h->elf)
		elf_end(h->elf);
	free(h);
	image->handle = NULL;
}

const struct image_kind image_elf = {"ELF", false, elf_recognises, elf_load};
