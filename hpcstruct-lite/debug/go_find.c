/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where Go's table of functions is in a binary. See go_table.h. The section has a name of its own
 * unless the system's linker put it into .data.rel.ro; then it is found by its header. Function
 * data is found through the run time's moduledata, which is known by the addresses in it. Test:
 * tests/cli/struct/struct_go.sh.
 */
#include "hpcstruct-lite/debug/go_internal.h"

#include <elf.h>
#include <string.h>

#define MAGIC_1_18 0xfffffff0u
#define MAGIC_1_20 0xfffffff1u

enum { HEADER_BYTES = 72, WORD = 8 };
enum header_field { FIELD_FUNCTIONS = 8, FIELD_TEXT = 24, FIELD_NAMES = 32, FIELD_UNITS = 40,
	FIELD_FILES = 48, FIELD_PCS = 56,
	FIELD_PCLN = 64 };
/* struct moduledata: pcHeader, funcnametab, cutab, filetab, pctab, pclntable, ..., gofunc */
enum module_field { MODULE_NAMES = 8, MODULE_UNITS = 32, MODULE_FILES = 56,
	MODULE_GOFUNC_1_18 = 304, MODULE_GOFUNC_1_20 = 320 };

static uint64_t load_u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

/* A part of the section from the offset that a field of the header says. */
static bool get_part(const uint8_t *header, uint64_t n_bytes, enum header_field field,
	struct go_bytes *part)
{
	uint64_t offset = load_u64(header + field);
	if (offset < HEADER_BYTES || offset > n_bytes)
		return false;
	*part = (struct go_bytes){header + offset, n_bytes - offset};
	return true;
}

static bool is_header(const uint8_t *p)
{
	uint32_t magic;
	memcpy(&magic, p, sizeof magic);
	return (magic == MAGIC_1_18 || magic == MAGIC_1_20) && p[4] == 0 && p[5] == 0
		&& (p[6] == 1 || p[6] == 2 || p[6] == 4) && p[7] == WORD;
}

static const struct image_section *text_section(const struct image *image)
{
	for (size_t i = 0; i < image->sections.n; i++)
		if (strcmp(image->sections.at[i].name, ".text") == 0)
			return &image->sections.at[i];
	return NULL;
}

/* `at` is an offset in the section. */
static bool read_header(const struct image *image, const struct image_section *s, uint64_t at,
	struct go_table *t)
{
	const uint8_t *header = s->bytes + at;
	const struct image_section *text = text_section(image);
	uint64_t n_bytes = s->n_bytes - at;
	uint32_t magic, last;
	memcpy(&magic, header, sizeof magic);
	*t = (struct go_table){.is_1_20 = magic == MAGIC_1_20, .quantum = header[6],
		.n_functions = load_u64(header + FIELD_FUNCTIONS)};
	if (!image_word_at(image, s->link_addr + at + FIELD_TEXT, &t->text) || t->text == 0)
		t->text = text ? text->link_addr : 0; /* later versions do not say */
	return get_part(header, n_bytes, FIELD_NAMES, &t->names)
		&& get_part(header, n_bytes, FIELD_UNITS, &t->units)
		&& get_part(header, n_bytes, FIELD_FILES, &t->files)
		&& get_part(header, n_bytes, FIELD_PCS, &t->pcs)
		&& get_part(header, n_bytes, FIELD_PCLN, &t->functions) && t->n_functions > 0
		&& t->n_functions < t->functions.n / 8
		&& go_u32(t->functions, t->n_functions * 8, &last) && image_is_code(image, t->text);
}

/* ---- function data ---- */

/* The content at a link address, to the end of its section. */
static struct go_bytes content_at(const struct image *image, uint64_t link_addr)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		if ((s->flags & SHF_ALLOC) && s->bytes && !(s->flags & SHF_EXECINSTR)
			&& link_addr >= s->link_addr && link_addr - s->link_addr < s->n_bytes)
			return (struct go_bytes){s->bytes + (link_addr - s->link_addr),
				s->n_bytes - (link_addr - s->link_addr)};
	}
	return (struct go_bytes){NULL, 0};
}

/* True when the words at a link address are those of the moduledata of this table. */
static bool is_moduledata(const struct image *image, uint64_t at, uint64_t header,
	const struct go_table *t, const uint8_t *bytes)
{
	uint64_t names, units, files;
	return image_word_at(image, at + MODULE_NAMES, &names)
		&& names == header + (uint64_t)(t->names.at - bytes)
		&& image_word_at(image, at + MODULE_UNITS, &units)
		&& units == header + (uint64_t)(t->units.at - bytes)
		&& image_word_at(image, at + MODULE_FILES, &files)
		&& files == header + (uint64_t)(t->files.at - bytes);
}

static bool take_moduledata(const struct image *image, uint64_t at, uint64_t header,
	struct go_table *t, const uint8_t *bytes)
{
	uint64_t gofunc;
	const uint64_t field = t->is_1_20 ? MODULE_GOFUNC_1_20 : MODULE_GOFUNC_1_18;
	if (!is_moduledata(image, at, header, t, bytes) ||
	    !image_word_at(image, at + field, &gofunc))
		return false;
	t->extra = content_at(image, gofunc);
	return t->extra.at != NULL;
}

/* Words that are the table's address but in no moduledata: there are few in a sound file. */
enum { TRIES_MAX = 16 };

/* In a program that is position independent relocations have the words. */
static bool search_relocations(const struct image *image, const struct image_section *s,
	uint64_t header, struct go_table *t,
	const uint8_t *bytes, unsigned *n_tries)
{
	Elf64_Rela r;
	for (uint64_t k = 0; k < s->n_bytes / sizeof r && *n_tries < TRIES_MAX; k++) {
		memcpy(&r, s->bytes + k * sizeof r, sizeof r);
		if ((uint64_t)r.r_addend != header || ELF64_R_TYPE(r.r_info) != R_X86_64_RELATIVE)
			continue;
		++*n_tries;
		if (take_moduledata(image, r.r_offset, header, t, bytes))
			return true;
	}
	return false;
}

static bool search_words(const struct image *image, const struct image_section *s, uint64_t header,
	struct go_table *t,
	const uint8_t *bytes, unsigned *n_tries)
{
	for (uint64_t k = 0; k + WORD <= s->n_bytes && *n_tries < TRIES_MAX; k += WORD) {
		if (load_u64(s->bytes + k) != header)
			continue;
		++*n_tries;
		if (take_moduledata(image, s->link_addr + k, header, t, bytes))
			return true;
	}
	return false;
}

static void find_extra(const struct image *image, uint64_t header, struct go_table *t,
	const uint8_t *bytes)
{
	unsigned n_tries = 0;
	bool found = false;
	for (size_t i = 0; i < image->sections.n && !found; i++) {
		const struct image_section *s = &image->sections.at[i];
		if (!s->bytes || !(s->flags & SHF_ALLOC))
			continue;
		if (s->type == SHT_RELA)
			found = search_relocations(image, s, header, t, bytes, &n_tries);
		else if (s->type == SHT_PROGBITS && (s->flags & SHF_WRITE))
			found = search_words(image, s, header, t, bytes, &n_tries);
	}
}

/* ---- the table ---- */

static bool is_go(const struct image *image)
{
	return image_find(image, ".go.buildinfo") || image_find(image, ".note.go.buildid");
}

bool go_find_table(const struct image *image, struct go_table *t, bool *is_damaged)
{
	*is_damaged = false;
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		const char *end = s->name ? strstr(s->name, ".gopclntab") : NULL;
		bool is_named = end && strcmp(end, ".gopclntab") == 0;
		if (!s->bytes || !(s->flags & SHF_ALLOC) || (s->flags & SHF_EXECINSTR) ||
		    (!is_named && (strncmp(s->name, ".data.rel.ro", 12) != 0 || !is_go(image))))
			continue;
		for (uint64_t at = 0; at + HEADER_BYTES <= s->n_bytes && (at == 0 || !is_named);
		     at += WORD)
			if (is_header(s->bytes + at) && read_header(image, s, at, t)) {
				find_extra(image, s->link_addr + at, t, s->bytes + at);
				return true;
			}
		*is_damaged |= is_named;
	}
	return false;
}
