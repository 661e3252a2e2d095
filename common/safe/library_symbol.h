/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the symbols of a loaded library by its own tables in memory: no lock, no memory of the
 * loader's is written. Only for libraries that cannot be unloaded meanwhile. Signal-safe. Test:
 * tests/unit/common/test_find_object.c.
 */
#ifndef COMMON_SAFE_LIBRARY_SYMBOL_H
#define COMMON_SAFE_LIBRARY_SYMBOL_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct library {
	uintptr_t bias;
	const char *strings, *soname;
	const ElfW(Sym) * symbols;
	const uint16_t *versions;
	const uint32_t *hash;
};

/* Returns false if the object has no table with GNU's hashes. Without a soname, that is "". */
bool library_read(const struct link_map *map, struct library *l);

/* The same, and false if it is not a part of libc: libc, or before glibc 2.34 libpthread and libdl.
 */
bool library_read_libc(const struct link_map *map, struct library *l);

/* A function of libc, whatever stands in front of it; NULL: there is none. */
void *library_of_libc(const char *name);

/* Returns the default version of the symbol, or NULL. Sets *n_bytes to its size. */
void *library_symbol(const struct library *l, const char *name, size_t *n_bytes);

#endif
