/* SPDX-License-Identifier: BSD-3-Clause */
/* See data_symbols.h. Must not read beyond the file, whatever the file says. */
#include "hpcprof-lite/load/data_symbols.h"

#include "hpcprof-lite/load/elf_symbols.h"

#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest lock of glibc has 56 bytes. In larger data, the offset of the lock matters. */
#define LOCK_MOST 64u

struct found {
	const char *name, *source; /* source: NULL if the symbol is global */
	uint64_t addr, n_bytes;
};

/* Finds the smallest object that contains the address. */
static void find_object(const struct elf_symbols *t, uint64_t link_addr, struct found *best)
{
	const char *source = NULL;
	for (uint64_t i = 0; i < t->symbols.n_bytes / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;
		memcpy(&s, t->symbols.bytes + i * sizeof s, sizeof s);
		const unsigned type = ELF64_ST_TYPE(s.st_info);
		if (type == STT_FILE)
			source = elf_symbols_name(t->strings, s.st_name);
		if (type != STT_OBJECT || s.st_shndx == SHN_UNDEF || link_addr < s.st_value ||
		    link_addr - s.st_value >= s.st_size ||
		    (best->name && s.st_size >= best->n_bytes))
			continue;
		const char *name = elf_symbols_name(t->strings, s.st_name);
		if (name)
			*best = (struct found){
				.name = name,
				.source = ELF64_ST_BIND(s.st_info) == STB_LOCAL ? source : NULL,
				.addr = s.st_value,
				.n_bytes = s.st_size};
	}
}

static char *format(const struct found *f, uint64_t link_addr)
{
	char offset[24] = "", *text = NULL, *plain = elf_symbols_demangle(f->name);
	if (f->n_bytes > LOCK_MOST)
		snprintf(offset, sizeof offset, "+0x%" PRIx64, link_addr - f->addr);
	const int n = asprintf(&text, "%.*s%s%s%s%s", (int)ELF_SYMBOL_MOST, plain ? plain : f->name,
			       offset, f->source ? " (" : "", f->source ? f->source : "",
			       f->source ? ")" : "");
	free(plain);
	return n < 0 ? NULL : text;
}

char *data_symbol_name(const uint8_t *image, size_t n_bytes, uint64_t link_addr)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	const struct elf_part whole = {image, n_bytes};
	struct found best = {0};
	struct elf_symbols t;
	for (size_t i = 0; i < sizeof types / sizeof *types && !best.name; i++)
		if (elf_symbols_find(whole, types[i], &t))
			find_object(&t, link_addr, &best);
	return best.name ? format(&best, link_addr) : NULL;
}
