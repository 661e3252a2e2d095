/* SPDX-License-Identifier: BSD-3-Clause */
/* See code_symbols.h. Must not read beyond the binary, whatever it says. */
#include "hpcprof-lite/load/code_symbols.h"

#include "common/base/strtab.h"
#include "common/format/structure.h"
#include "common/format/structure_write.h"
#include "hpcprof-lite/load/elf_symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct function {
	const char *name; /* in the binary; NULL: no symbol has the address */
	uint64_t start, end;
};

struct making {
	const uint64_t *link_addrs;
	size_t n;
	struct function *functions; /* by address; later sorted, each once */
	size_t n_functions;
	struct strtab strings;
	struct structure_definition_record *definitions;
	struct structure_scope_record *scopes;
	struct structure_region_record *regions;
	struct structure_interval_record *intervals;
};

/* The first address that is not below `start`. */
static size_t first_from(const struct making *m, uint64_t start)
{
	size_t low = 0, high = m->n;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (m->link_addrs[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of several symbols around an address, the one that begins last is the innermost. */
static void take_symbols(struct making *m, const struct elf_symbols *t)
{
	for (uint64_t i = 0; i < t->symbols.n_bytes / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;
		memcpy(&s, t->symbols.bytes + i * sizeof s, sizeof s);
		const unsigned type = ELF64_ST_TYPE(s.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s.st_shndx == SHN_UNDEF ||
		    s.st_size > UINT32_MAX || s.st_size > UINT64_MAX - s.st_value)
			continue;
		const char *name = NULL;
		for (size_t k = first_from(m, s.st_value);
		     k < m->n && m->link_addrs[k] < s.st_value + s.st_size; k++) {
			struct function *f = &m->functions[k];
			name = name ? name : elf_symbols_name(t->strings, s.st_name);
			if (name && (!f->name || f->start < s.st_value))
				*f = (struct function){name, s.st_value, s.st_value + s.st_size};
		}
	}
}

static int compare_functions(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;
	return (a->start > b->start) - (a->start < b->start);
}

/* Sorts them and drops doubles. None reaches into the next. */
static void settle(struct making *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->functions[i].name)
			m->functions[m->n_functions++] = m->functions[i];
	const size_t n = m->n_functions;
	if (n)
		qsort(m->functions, n, sizeof *m->functions, compare_functions);
	m->n_functions = 0;
	for (size_t i = 0; i < n; i++) {
		const struct function f = m->functions[i];
		struct function *last = m->n_functions ? &m->functions[m->n_functions - 1] : NULL;
		if (last && last->start == f.start)
			continue;
		if (last && last->end > f.start)
			last->end = f.start;
		m->functions[m->n_functions++] = f;
	}
}

/* The offset of a string in the table. STRTAB_FAILED: memory is short. */
static uint32_t add_string(struct strtab *t, const char *s)
{
	const uint32_t id = strtab_add(t, s, strnlen(s, ELF_SYMBOL_MOST));
	return id == STRTAB_FAILED ? id : strtab_offset(t, id);
}

static bool describe(struct making *m, uint32_t i)
{
	const struct function *f = &m->functions[i];
	char *plain = elf_symbols_demangle(f->name);
	const uint32_t name = add_string(&m->strings, plain ? plain : f->name),
		       linkage = plain ? add_string(&m->strings, f->name) : 0;
	free(plain);
	m->definitions[i] = (struct structure_definition_record){name, linkage, STRUCTURE_NONE, 0};
	m->scopes[i] = (struct structure_scope_record){.kind = STRUCTURE_FUNCTION,
						       .origin = STRUCTURE_FROM_SYMTAB,
						       .parent = STRUCTURE_NONE,
						       .definition = i,
						       .call_file = STRUCTURE_NONE,
						       .entry = f->start};
	m->regions[i] =
		(struct structure_region_record){f->start, (uint32_t)(f->end - f->start), i, 1};
	m->intervals[i] = (struct structure_interval_record){0, i, STRUCTURE_NONE, 0};
	return name != STRTAB_FAILED && linkage != STRTAB_FAILED;
}

static uint8_t *join(const struct making *m, size_t *n_bytes)
{
	const size_t n = m->n_functions;
	const struct structure_content content = {.strings = m->strings.bytes.at,
						  .strings_bytes = m->strings.bytes.n,
						  .definitions = m->definitions,
						  .n_definitions = n,
						  .scopes = m->scopes,
						  .n_scopes = n,
						  .regions = m->regions,
						  .n_regions = n,
						  .intervals = m->intervals,
						  .n_intervals = n};
	struct structure_pieces p;
	structure_lay_out(&content, &p);
	uint8_t *bytes = malloc(p.header.file_bytes);
	*n_bytes = 0;
	for (int i = 0; bytes && i < p.n; i++) {
		memcpy(bytes + *n_bytes, p.at[i].iov_base, p.at[i].iov_len);
		*n_bytes += p.at[i].iov_len;
	}
	return bytes;
}

uint8_t *code_symbols_make(const uint8_t *image, size_t n_bytes, const uint64_t *link_addrs,
			   size_t n, size_t *structure_bytes)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	struct making m = {.link_addrs = link_addrs,
			   .n = n,
			   .functions = calloc(n + 1, sizeof *m.functions),
			   .definitions = calloc(n + 1, sizeof *m.definitions),
			   .scopes = calloc(n + 1, sizeof *m.scopes),
			   .regions = calloc(n + 1, sizeof *m.regions),
			   .intervals = calloc(n + 1, sizeof *m.intervals)};
	struct elf_symbols t;
	bool ok = m.functions && m.definitions && m.scopes && m.regions && m.intervals &&
		  strtab_add_z(&m.strings, "") != STRTAB_FAILED;
	for (size_t i = 0; ok && i < sizeof types / sizeof *types; i++)
		if (elf_symbols_find((struct elf_part){image, n_bytes}, types[i], &t))
			take_symbols(&m, &t);
	if (ok)
		settle(&m);
	for (uint32_t i = 0; ok && i < m.n_functions; i++)
		ok = describe(&m, i);
	uint8_t *bytes = ok ? join(&m, structure_bytes) : NULL;
	strtab_free(&m.strings);
	free(m.functions);
	free(m.definitions);
	free(m.scopes);
	free(m.regions);
	free(m.intervals);
	return bytes;
}
