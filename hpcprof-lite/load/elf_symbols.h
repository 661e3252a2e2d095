/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The symbol tables of a binary (ELF specification, "Symbol Table"). The binary may hold any bytes.
 * Test: tests/unit/prof/test_data_symbols.c.
 */
#ifndef HPCPROF_LITE_LOAD_ELF_SYMBOLS_H
#define HPCPROF_LITE_LOAD_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#define ELF_SYMBOL_MOST 4096u /* nobody would read a longer name */

struct elf_part {
	const uint8_t *bytes;
	uint64_t n_bytes;
};

/* Symbols, as Elf64_Sym without alignment, and their names. Borrowed from the binary. */
struct elf_symbols {
	struct elf_part symbols, strings;
};

/* Finds the first table of this type (SHT_SYMTAB, SHT_DYNSYM), with its strings. */
bool elf_symbols_find(struct elf_part image, uint32_t type, struct elf_symbols *t);
/* Returns NULL if there is no name or it is not terminated. */
const char *elf_symbols_name(struct elf_part strings, uint32_t at);
/* The caller frees the name. NULL: it is not a mangled name of C++, or cannot be demangled. */
char *elf_symbols_demangle(const char *name);

#endif
