/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See elf_symbols.h. Must not read beyond the file, whatever the file says. Test:
 * tests/unit/prof/test_data_symbols.c.
 */
#include "config.h"

#include "hpcprof-lite/load/elf_symbols.h"

#include "common/base/iberty.h"

#include <elf.h>
#include <string.h>

static struct elf_part part_of(struct elf_part image, uint64_t at, uint64_t n)
{
	return at <= image.n_bytes && n <= image.n_bytes - at
		       ? (struct elf_part){image.bytes + at, n}
		       : (struct elf_part){0};
}

static bool get_section(struct elf_part image, const Elf64_Ehdr *h, uint64_t i, Elf64_Shdr *s)
{
	const struct elf_part all = part_of(image, h->e_shoff, (uint64_t)h->e_shnum * sizeof *s);
	if (i >= h->e_shnum || !all.bytes)
		return false;
	memcpy(s, all.bytes + i * sizeof *s, sizeof *s);
	return true;
}

bool elf_symbols_find(struct elf_part image, uint32_t type, struct elf_symbols *t)
{
	Elf64_Ehdr h;
	Elf64_Shdr s, strings;
	const struct elf_part head = part_of(image, 0, sizeof h);
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

const char *elf_symbols_name(struct elf_part strings, uint32_t at)
{
	if (at >= strings.n_bytes || !strings.bytes[at] ||
	    !memchr(strings.bytes + at, '\0', strings.n_bytes - at))
		return NULL;
	return (const char *)strings.bytes + at;
}

char *elf_symbols_demangle(const char *name)
{
#ifdef HAVE_IBERTY
	if (name[0] == '_' && name[1] == 'Z' && strnlen(name, ELF_SYMBOL_MOST) < ELF_SYMBOL_MOST)
		return cplus_demangle_v3(name, IBERTY_PARAMS | IBERTY_ANSI);
#endif
	(void)name;
	return NULL;
}
