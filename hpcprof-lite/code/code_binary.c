/* SPDX-License-Identifier: BSD-3-Clause */
/* See code_binary.h. */
#include "hpcprof-lite/code/code_binary.h"

#include "hpcprof-lite/load/structures.h"

#include <string.h>

/* True if `n` items of `bytes` each are in the file. */
static bool is_inside(const struct mapfile *m, uint64_t offset, uint64_t n, uint64_t bytes)
{
	return offset <= m->n_bytes && n <= (m->n_bytes - offset) / bytes && offset % 8 == 0;
}

/* Checks what the functions below rely on. */
static bool is_sound(struct code_binary *b)
{
	const struct mapfile *m = &b->map;
	const Elf64_Ehdr *h = (const void *)m->bytes;
	if (m->n_bytes < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (h->e_phnum && h->e_phentsize != sizeof(Elf64_Phdr)) ||
	    (h->e_shnum && h->e_shentsize != sizeof(Elf64_Shdr)) ||
	    !is_inside(m, h->e_phoff, h->e_phnum, sizeof(Elf64_Phdr)) ||
	    !is_inside(m, h->e_shoff, h->e_shnum, sizeof(Elf64_Shdr)))
		return false;
	b->header = h;
	return true;
}

bool code_binary_open(const struct model_module *m, const struct rights *owners,
		      const struct code_options *o, struct code_binary *b)
{
	*b = (struct code_binary){0};
	if (!m->record || !load_open_code(owners, m->record, m->path, o->directories,
					  o->n_directories, &b->map, &b->is_private))
		return false;
	if (is_sound(b) && (b->header->e_machine == CODE_EM_CUDA) == m->is_gpu)
		return true;
	code_binary_close(b);
	return false;
}

void code_binary_close(struct code_binary *b)
{
	mapfile_close(&b->map);
	*b = (struct code_binary){0};
}

const uint8_t *code_binary_at(const struct code_binary *b, uint64_t link_addr, size_t *n_bytes)
{
	const Elf64_Phdr *p = (const void *)(b->map.bytes + b->header->e_phoff);
	for (unsigned i = 0; i < b->header->e_phnum; i++) {
		if (p[i].p_type != PT_LOAD || link_addr < p[i].p_vaddr ||
		    link_addr - p[i].p_vaddr >= p[i].p_filesz ||
		    !is_inside(&b->map, 0, p[i].p_offset, 1) ||
		    p[i].p_filesz > b->map.n_bytes - p[i].p_offset)
			continue;
		*n_bytes = p[i].p_filesz - (link_addr - p[i].p_vaddr);
		return b->map.bytes + p[i].p_offset + (link_addr - p[i].p_vaddr);
	}
	return NULL;
}

/* A string of the file that ends in it; "" if it does not. */
static const char *string_at(const struct code_binary *b, uint32_t section, uint32_t offset)
{
	const Elf64_Shdr *s = (const void *)(b->map.bytes + b->header->e_shoff);
	if (section >= b->header->e_shnum || s[section].sh_offset > b->map.n_bytes ||
	    offset >= b->map.n_bytes - s[section].sh_offset)
		return "";
	const char *at = (const char *)b->map.bytes + s[section].sh_offset + offset;
	return memchr(at, 0, b->map.n_bytes - s[section].sh_offset - offset) ? at : "";
}

static uint32_t find_function(const struct code_binary *b, uint32_t section)
{
	const Elf64_Shdr *s = (const void *)(b->map.bytes + b->header->e_shoff);
	for (uint32_t i = 0; i < b->header->e_shnum; i++) {
		const uint64_t n = s[i].sh_size / sizeof(Elf64_Sym);
		if (s[i].sh_type != SHT_SYMTAB ||
		    !is_inside(&b->map, s[i].sh_offset, n, sizeof(Elf64_Sym)))
			continue;
		const Elf64_Sym *symbols = (const void *)(b->map.bytes + s[i].sh_offset);
		for (uint32_t k = 0; k < n; k++)
			if (symbols[k].st_shndx == section && !symbols[k].st_value &&
			    ELF64_ST_TYPE(symbols[k].st_info) == STT_FUNC)
				return k;
	}
	return 0;
}

const Elf64_Shdr *code_binary_section(const struct code_binary *b, uint64_t file_offset,
				      const char **name, uint32_t *symbol)
{
	const Elf64_Shdr *s = (const void *)(b->map.bytes + b->header->e_shoff);
	for (uint32_t i = 0; i < b->header->e_shnum; i++) {
		if (s[i].sh_type != SHT_PROGBITS || !(s[i].sh_flags & SHF_EXECINSTR) ||
		    file_offset < s[i].sh_offset || file_offset - s[i].sh_offset >= s[i].sh_size)
			continue;
		*name = string_at(b, b->header->e_shstrndx, s[i].sh_name);
		*symbol = find_function(b, i);
		return &s[i];
	}
	return NULL;
}
