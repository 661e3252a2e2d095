/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches the dynamic symbols of an object; see python_symbols.h. Its bytes are not trusted: every
 * load is guarded and every loop is bounded. Test: tests/unit/run/test_python.c.
 */
#include "hpcrun-lite/python/python_symbols.h"

#include "common/safe/load.h"

#include <elf.h>
#include <string.h>

enum { MAX_DYNAMIC = 256, MAX_CHAIN = 4096 };

static bool load(void *to, uintptr_t from, size_t n)
{
	return load_guarded(to, from, n) == n;
}

/* The loader has relocated the addresses in place, except in the vdso. */
static uintptr_t place(const struct link_map *map, uint64_t value)
{
	return value < map->l_addr ? value + map->l_addr : value;
}

bool symbols_open(const struct link_map *map, struct symbols *s)
{
	uintptr_t at = (uintptr_t)map->l_ld;
	*s = (struct symbols){.bias = map->l_addr};
	for (unsigned i = 0; at && i < MAX_DYNAMIC; i++, at += sizeof(ElfW(Dyn))) {
		ElfW(Dyn) d;
		if (!load(&d, at, sizeof d) || d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_STRTAB)
			s->names = place(map, d.d_un.d_ptr);
		else if (d.d_tag == DT_SYMTAB)
			s->table = place(map, d.d_un.d_ptr);
		else if (d.d_tag == DT_GNU_HASH)
			s->hash = place(map, d.d_un.d_ptr);
	}
	return s->names && s->table && s->hash;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;
	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static bool has_name(const struct symbols *s, const ElfW(Sym) *symbol, const char *name)
{
	char text[64];
	size_t n = strlen(name) + 1;
	return n <= sizeof text && load(text, s->names + symbol->st_name, n) &&
	       memcmp(text, name, n) == 0;
}

uintptr_t symbols_find(const struct symbols *s, const char *name, uint64_t *n_bytes)
{
	struct {
		uint32_t n_buckets, first, n_bloom, shift;
	} head;
	uint32_t wanted = hash_of(name), i, hash;
	uint64_t bloom;
	if (!load(&head, s->hash, sizeof head) || !head.n_buckets || !head.n_bloom)
		return 0;
	uintptr_t words = s->hash + sizeof head, buckets = words + head.n_bloom * sizeof bloom,
		  chain = buckets + head.n_buckets * sizeof i;
	if (!load(&bloom, words + (wanted / 64) % head.n_bloom * sizeof bloom, sizeof bloom)
	    || !(bloom >> (wanted % 64) & bloom >> ((wanted >> (head.shift & 31)) % 64) & 1))
		return 0;
	if (!load(&i, buckets + wanted % head.n_buckets * sizeof i, sizeof i) || i < head.first)
		return 0;
	for (unsigned n = 0;
	     n < MAX_CHAIN &&
	     load(&hash, chain + (uintptr_t)(i - head.first) * sizeof hash, sizeof hash);
	     n++, i++) {
		ElfW(Sym) symbol;
		if ((hash | 1) == (wanted | 1) &&
		    load(&symbol, s->table + (uintptr_t)i * sizeof symbol, sizeof symbol) &&
		    symbol.st_shndx != SHN_UNDEF && has_name(s, &symbol, name)) {
			if (n_bytes)
				*n_bytes = symbol.st_size;
			return s->bias + symbol.st_value;
		}
		if (hash & 1)
			break;
	}
	return 0;
}
