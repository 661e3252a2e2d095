/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the tables of a cubin; see nv_image.h. */
#include "hpcrun-lite/gpu/cupti/nv_image.h"

bool nv_image_open(struct nv_image *i, const void *image, size_t bytes)
{
	*i = (struct nv_image){.at = image, .bytes = bytes};
	if (bytes < sizeof i->head)
		return false;
	memcpy(&i->head, image, sizeof i->head);
	if (memcmp(i->head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    i->head.e_ident[EI_CLASS] != ELFCLASS64 || i->head.e_shentsize != sizeof(Elf64_Shdr) ||
	    !nv_image_section(i, i->head.e_shstrndx, &i->section_names))
		return false;
	if (i->section_names.sh_type != SHT_STRTAB)
		i->section_names.sh_size = 0; /* sections have no names */
	for (unsigned n = 1; n < i->head.e_shnum; n++) {
		if (!nv_image_section(i, n, &i->symbols) || i->symbols.sh_type != SHT_SYMTAB ||
		    !nv_image_section(i, i->symbols.sh_link, &i->strings) ||
		    i->strings.sh_type != SHT_STRTAB)
			continue;
		uint64_t n_symbols = i->symbols.sh_size / sizeof(Elf64_Sym);
		i->n_symbols = n_symbols < UINT32_MAX ? (uint32_t)n_symbols : 0;
		return i->n_symbols > 0;
	}
	return false;
}
