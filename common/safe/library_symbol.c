/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols of a loaded library; see library_symbol.h. The hash table is that of
 * https://sourceware.org/gnu-gabi, "DT_GNU_HASH". Test: tests/unit/common/test_find_object.c.
 */
#include "common/safe/library_symbol.h"

#include <string.h>

extern struct r_debug _r_debug;

/* The loader writes addresses into the dynamic section, but leaves offsets in that of the vDSO. */
static const void *place(uintptr_t bias, uintptr_t value)
{
	return (const void *)(value < bias ? bias + value : value);
}

bool library_read(const struct link_map *map, struct library *l)
{
	uintptr_t soname = 0;
	*l = (struct library){.bias = map->l_addr};
	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
		const void *at = place(l->bias, d->d_un.d_ptr);
		switch (d->d_tag) {
		case DT_STRTAB: l->strings = at; break;
		case DT_SYMTAB: l->symbols = at; break;
		case DT_VERSYM: l->versions = at; break;
		case DT_GNU_HASH: l->hash = at; break;
		case DT_SONAME: soname = d->d_un.d_val; break;
		}
	}
	if (!l->strings || !l->symbols || !l->hash)
		return false;
	l->soname = soname ? l->strings + soname : "";
	return true;
}

void *library_symbol(const struct library *l, const char *name, size_t *n_bytes)
{
	const uint32_t n_buckets = l->hash[0], first = l->hash[1];
	const uint32_t *bucket = l->hash + 4 + (size_t)l->hash[2] * (sizeof(ElfW(Addr)) / 4);
	const uint32_t *chain = bucket + n_buckets;
	uint32_t hash = 5381;
	for (const char *s = name; *s; s++)
		hash = hash * 33 + (unsigned char)*s;
	uint32_t i = n_buckets ? bucket[hash % n_buckets] : 0;
	for (; i >= first && i; i++) {
		const ElfW(Sym) *s = &l->symbols[i];
		if ((chain[i - first] | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF &&
		    !(l->versions && l->versions[i] & 0x8000) &&
		    strcmp(l->strings + s->st_name, name) == 0) {
			*n_bytes = s->st_size;
			return (void *)(l->bias + s->st_value);
		}
		if (chain[i - first] & 1)
			break;
	}
	return NULL;
}

bool library_read_libc(const struct link_map *map, struct library *l)
{
	static const char *const of_libc[] = {"libc.so.6", "libpthread.so.0", "libdl.so.2"};
	bool is_wanted = false;
	if (library_read(map, l))
		for (size_t i = 0; i < sizeof of_libc / sizeof *of_libc; i++)
			is_wanted |= strcmp(l->soname, of_libc[i]) == 0;
	return is_wanted;
}

void *library_of_libc(const char *name)
{
	struct library l;
	size_t n_bytes;
	void *found = NULL;
	for (const struct link_map *map = _r_debug.r_map; map && !found; map = map->l_next)
		if (library_read_libc(map, &l))
			found = library_symbol(&l, name, &n_bytes);
	return found;
}
