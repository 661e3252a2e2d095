/* SPDX-License-Identifier: BSD-3-Clause */
/* See data_symbols.h. Must not read beyond the file, whatever the file says. */
#include "config.h"

#include "hpcprof-lite/load/data_symbols.h"

#include "common/base/iberty.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 4096u /* nobody would read a longer name */
/* The largest lock of glibc has 56 bytes. In larger data, the offset of the lock matters. */
#define LOCK_MOST 64u

struct part {
	const uint8_t *bytes;
	uint64_t n_bytes;
};

struct tables {
	struct part symbols, strings;
};

struct found {
	const char *name, *source; /* source: NULL if the symbol is global */
	uint64_t addr, n_bytes;
};

static struct part part_of(struct part image, uint64_t at, uint64_t n)
{
	return at <= image.n_bytes && n <= image.n_bytes - at
		       ? (struct part){image.bytes + at, n}
		       : (struct part){0};
}

static bool get_section(struct part image, const Elf64_Ehdr *h, uint64_t i, Elf64_Shdr *s)
{
	const struct part all = part_of(image, h->e_shoff, (uint64_t)h->e_shnum * sizeof *s);
	if (i >= h->e_shnum || !all.bytes)
		return false;
	memcpy(s, all.bytes + i * sizeof *s, sizeof *s);
	return true;
}

/* Finds the first table of this type, with its strings. */
static bool find_tables(struct part image, uint32_t type, struct tables *t)
{
	Elf64_Ehdr h;
	Elf64_Shdr s, strings;
	const struct part head = part_of(image, 0, sizeof h);
	if (!head.bytes || memcmp(head.bytes, ELFMAG, SELFMAG) != 0 ||
	    head.bytes[EI_CLASS] != ELFCLASS64)
		return false;
	memcpy(&h, head.bytes, sizeof h);
	for (uint64_t i = 0; get_section(image, &h, i, &s); i++) {
		if (s.sh_type != type || !get_section(image, &h, s.sh_link, &strings))
			continue;
		t->symbols = part_of(image, s.sh_offset, s.sh_size);
		t->strings = part_of(image, strings.sh_offset, strings.sh_size);
		return t->symbols.bytes && t->strings.bytes;
	}
	return false;
}

/* Returns NULL if there is no name or it is not terminated. */
static const char *string_at(struct part strings, uint32_t at)
{
	if (at >= strings.n_bytes || !strings.bytes[at] ||
	    !memchr(strings.bytes + at, '\0', strings.n_bytes - at))
		return NULL;
	return (const char *)strings.bytes + at;
}

/* Finds the smallest object that contains the address. */
static void find_object(const struct tables *t, uint64_t link_addr, struct found *best)
{
	const char *source = NULL;
	for (uint64_t i = 0; i < t->symbols.n_bytes / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;
		memcpy(&s, t->symbols.bytes + i * sizeof s, sizeof s);
		const unsigned type = ELF64_ST_TYPE(s.st_info);
		if (type == STT_FILE)
			source = string_at(t->strings, s.st_name);
		if (type != STT_OBJECT || s.st_shndx == SHN_UNDEF || link_addr < s.st_value ||
		    link_addr - s.st_value >= s.st_size ||
		    (best->name && s.st_size >= best->n_bytes))
			continue;
		const char *name = string_at(t->strings, s.st_name);
		if (name)
			*best = (struct found){
				.name = name,
				.source = ELF64_ST_BIND(s.st_info) == STB_LOCAL ? source : NULL,
				.addr = s.st_value,
				.n_bytes = s.st_size};
	}
}

static char *demangle(const char *name)
{
#ifdef HAVE_IBERTY
	if (name[0] == '_' && name[1] == 'Z' && strnlen(name, NAME_MOST) < NAME_MOST)
		return cplus_demangle_v3(name, IBERTY_PARAMS | IBERTY_ANSI);
#endif
	(void)name;
	return NULL;
}

static char *format(const struct found *f, uint64_t link_addr)
{
	char offset[24] = "", *text = NULL, *plain = demangle(f->name);
	if (f->n_bytes > LOCK_MOST)
		snprintf(offset, sizeof offset, "+0x%" PRIx64, link_addr - f->addr);
	const int n = asprintf(&text, "%.*s%s%s%s%s", (int)NAME_MOST, plain ? plain : f->name,
			       offset, f->source ? " (" : "", f->source ? f->source : "",
			       f->source ? ")" : "");
	free(plain);
	return n < 0 ? NULL : text;
}

char *data_symbol_name(const uint8_t *image, size_t n_bytes, uint64_t link_addr)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	const struct part whole = {image, n_bytes};
	struct found best = {0};
	struct tables t;
	for (size_t i = 0; i < sizeof types / sizeof *types && !best.name; i++)
		if (find_tables(whole, types[i], &t))
			find_object(&t, link_addr, &best);
	return best.name ? format(&best, link_addr) : NULL;
}
