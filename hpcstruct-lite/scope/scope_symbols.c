/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds functions that have symbols but no DWARF, further names of functions with DWARF, and parts
 * that the compiler split off. If DWARF and a symbol disagree, DWARF decides what the function is,
 * and the symbol gives it a name. Test: tests/cli/struct/struct_golden.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Symbols at one address. */
struct entry {
	size_t first, n;       /* in the sorted symbols; the first is the one to show */
	uint32_t start, end;   /* positions */
	uint32_t scope;        /* the function, once known */
	uint32_t base_bytes;   /* for code that was moved away: the length of its function's name */
};
struct entries {
	VEC(struct entry);
};

/* A name, and the entry that has it. */
struct named {
	const struct image_symbol *symbol;
	size_t entry;
	bool is_ambiguous;     /* another entry has it too */
};

struct finder {
	struct scope_map *map;
	struct image_symbols symbols;
	struct entries entries;
	VEC(struct named) names;
	/* (hash of name, source file) -> index in names; only names that are needed */
	struct map by_name;
	/* by original definition: the definition with the symbol's name, SCOPE_NONE, or SEVERAL */
	VEC(uint32_t) renamed;
};

#define SEVERAL (SCOPE_NONE - 1)

static unsigned leading_underscores(const struct image_symbol *s)
{
	unsigned n = 0;
	while (n < s->name_bytes && s->name[n] == '_')
		n++;
	return n;
}

static int compare_names(const struct image_symbol *x, const struct image_symbol *y)
{
	if (x->name_bytes != y->name_bytes)
		return x->name_bytes < y->name_bytes ? -1 : 1;
	return memcmp(x->name, y->name, x->name_bytes);
}

/*
 * Sorts by address, then the better name first: a function before a label, a name that other files
 * can see, fewer underscores, a shorter name.
 */
static int compare_symbols(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;
	if (x->link_addr != y->link_addr)
		return x->link_addr < y->link_addr ? -1 : 1;
	if ((x->type == STT_NOTYPE) != (y->type == STT_NOTYPE))
		return x->type == STT_NOTYPE ? 1 : -1;
	if ((x->bind == STB_LOCAL) != (y->bind == STB_LOCAL))
		return x->bind == STB_LOCAL ? 1 : -1;
	unsigned underscores_x = leading_underscores(x), underscores_y = leading_underscores(y);
	if (underscores_x != underscores_y)
		return underscores_x < underscores_y ? -1 : 1;
	int by_name = compare_names(x, y);
	return by_name ? by_name : (int)x->table - (int)y->table;
}

/* Sorted in place of the symbols, which are bigger. */
struct sort_key {
	uint64_t link_addr;
	size_t index;
};

static int compare_keys(const void *a, const void *b, void *symbols)
{
	const struct sort_key *x = a, *y = b;
	const struct image_symbol *s = symbols;
	if (x->link_addr != y->link_addr)
		return x->link_addr < y->link_addr ? -1 : 1;
	int by_symbol = compare_symbols(&s[x->index], &s[y->index]);
	return by_symbol ? by_symbol : x->index < y->index ? -1 : x->index > y->index;
}

static bool sort_symbols(struct image_symbols *symbols)
{
	size_t n = symbols->n;
	struct image_symbols sorted = {0};
	struct sort_key *keys = calloc(n + 1, sizeof *keys);
	bool ok = keys && vec_reserve(&sorted, n);
	if (ok) {
		for (size_t i = 0; i < n; i++)
			keys[i] = (struct sort_key){symbols->at[i].link_addr, i};
		qsort_r(keys, n, sizeof *keys, compare_keys, symbols->at);
		for (size_t i = 0; i < n; i++)
			sorted.at[i] = symbols->at[keys[i].index];
		sorted.n = n;
		vec_free(symbols);
		*symbols = sorted;
	}
	free(keys);
	return ok;
}

bool scope_is_symbol_wanted(const struct image_symbol *s)
{
	if (s->name[0] == '.' || s->name[0] == '$')
		return false;
	return s->type != STT_NOTYPE || s->bind != STB_LOCAL;
}

static void drop_unwanted(struct image_symbols *symbols)
{
	size_t n = 0;
	for (size_t i = 0; i < symbols->n; i++)
		if (scope_is_symbol_wanted(&symbols->at[i]))
			symbols->at[n++] = symbols->at[i];
	symbols->n = n;
}

/* Returns the end of the code section that contains `link_addr`. */
static uint64_t section_end(const struct image *image, uint64_t link_addr)
{
	for (size_t i = 0; i < image->code.n; i++)
		if (link_addr - image->code.at[i].start < image->code.at[i].n_bytes)
			return image->code.at[i].start + image->code.at[i].n_bytes;
	return link_addr;
}

uint32_t scope_moved_base(const struct image_symbol *s)
{
	static const char mark[] = ".cold";
	const size_t n = sizeof mark - 1;
	for (size_t i = 1; i + n <= s->name_bytes; i++) {
		const char *at = memchr(s->name + i, '.', s->name_bytes - i);
		if (!at)
			return 0;
		i = (size_t)(at - s->name);
		if (i + n <= s->name_bytes && memcmp(at, mark, n) == 0 &&
		    (i + n == s->name_bytes || at[n] == '.'))
			return (uint32_t)i;
	}
	return 0;
}

static bool make_entries(struct finder *f)
{
	const struct image *image = f->map->image;
	const struct image_symbol *s = f->symbols.at;
	for (size_t i = 0, n; i < f->symbols.n; i += n) {
		uint64_t start = s[i].link_addr, n_bytes = 0, end = section_end(image, start);
		for (n = 0; i + n < f->symbols.n && s[i + n].link_addr == start; n++)
			n_bytes = s[i + n].n_bytes > n_bytes ? s[i + n].n_bytes : n_bytes;
		uint64_t next = i + n < f->symbols.n ? s[i + n].link_addr : end;
		if (n_bytes == 0) {
			end = scope_unsized_end(image, start, next < end ? next : end);
		} else if (n_bytes < end - start) {
			end = start + n_bytes;
		}
		struct entry e = {.first = i,
				  .n = n,
				  .scope = SCOPE_NONE,
				  .base_bytes = scope_moved_base(&s[i])};
		if (!image_position(image, start, &e.start) ||
		    !image_position_end(image, end, &e.end))
			continue;
		struct entry *slot = vec_push(&f->entries);
		if (!slot)
			return false;
		*slot = e;
	}
	return true;
}

/*
 * Returns the length of a name without the suffix that a compiler gave a clone (".cold", ".part.3",
 * ".constprop.0", ".isra.0", ".llvm.12"). Returns the whole length if there is no suffix.
 */
static size_t base_length(const char *name, size_t n_bytes)
{
	const char *dot = n_bytes > 1 ? memchr(name + 1, '.', n_bytes - 1) : NULL;
	return dot && dot[1] && (isalpha((unsigned char)dot[1]) || dot[1] == '_')
		       ? (size_t)(dot - name)
		       : n_bytes;
}

/* Collects the hashes of the names of functions from which code was moved away. */
static bool collect_bases(const struct finder *f, struct map *bases)
{
	bool ok = true;
	for (size_t i = 0; i < f->entries.n && ok; i++) {
		const struct entry *e = &f->entries.at[i];
		const char *name = f->symbols.at[e->first].name;
		ok = e->base_bytes == 0 ||
		     map_put(bases, hash_name(name, e->base_bytes), 0, 1) != MAP_NONE;
	}
	return ok;
}

/* Adds the symbols with these names. */
static bool index_names(struct finder *f, const struct map *bases)
{
	for (size_t i = 0; i < f->entries.n && bases->n > 0; i++) {
		for (size_t k = 0; k < f->entries.at[i].n; k++) {
			const struct image_symbol *s = &f->symbols.at[f->entries.at[i].first + k];
			uint64_t hash = hash_name(s->name, s->name_bytes);
			if (map_get(bases, hash, 0) == MAP_NONE)
				continue;
			uint64_t id = map_put(&f->by_name, hash, s->source, f->names.n);
			if (id == MAP_NONE)
				return false;
			if (id < f->names.n) {
				struct named *known = &f->names.at[id];
				known->is_ambiguous |=
					known->entry != i || compare_names(known->symbol, s) != 0;
				continue;
			}
			struct named *slot = vec_push(&f->names);
			if (!slot)
				return false;
			*slot = (struct named){s, i, false};
		}
	}
	return true;
}

/*
 * Returns the only entry with that name in a source file (0: names that all files can see), or
 * NULL.
 */
static struct entry *find_name(struct finder *f, const char *name, size_t n_bytes, uint32_t source)
{
	uint64_t id = map_get(&f->by_name, hash_name(name, n_bytes), source);
	if (id == MAP_NONE || f->names.at[id].is_ambiguous)
		return NULL;
	const struct named *n = &f->names.at[id];
	if (n->symbol->name_bytes != n_bytes || memcmp(n->symbol->name, name, n_bytes) != 0)
		return NULL;
	return &f->entries.at[n->entry];
}

static bool is_text(const struct scope_map *map, uint32_t string, const struct image_symbol *s)
{
	const char *text = strtab_get(&map->strings, string);
	return strncmp(text, s->name, s->name_bytes) == 0 && text[s->name_bytes] == '\0';
}

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D');
}

/*
 * Returns true if the symbol belongs to another function than the scope: linkers with --icf and gcc
 * keep only one of several functions with equal code. C++ names show this. For a plain name, DWARF
 * says whether it is a function or an alias.
 */
static bool is_of_other(const struct scope_map *map, uint32_t scope, const struct image_symbol *s)
{
	size_t n;
	const char *own = scope_text(map, scope, &n);
	const size_t base = base_length(s->name, s->name_bytes);
	if (base == base_length(own, n) && memcmp(own, s->name, base) == 0)
		return false;
	if (is_mangled(s->name) || is_mangled(own))
		return is_mangled(s->name) && is_mangled(own);
	return map_get(&map->plain_names, hash_name(s->name, s->name_bytes), 0) != MAP_NONE &&
	       map_get(&map->plain_names, hash_name(own, n), 0) != MAP_NONE;
}

static bool add_alias(struct scope_map *map, uint32_t scope, const struct image_symbol *s)
{
	const struct scope_definition *d = &map->definitions.at[map->scopes.at[scope].definition];
	bool is_same = d->text && d->text_bytes == s->name_bytes &&
		       memcmp(d->text, s->name, s->name_bytes) == 0;
	if (is_same || is_text(map, d->name, s) || is_text(map, d->linkage_name, s))
		return true;
	uint32_t name = strtab_add(&map->strings, s->name, s->name_bytes);
	if (name == STRTAB_FAILED)
		return false;
	for (size_t i = map->aliases.n; i-- > 0 && map->aliases.at[i].scope == scope;)
		if (map->aliases.at[i].name == name)
			return true;
	struct scope_alias *a = vec_push(&map->aliases);
	if (a)
		*a = (struct scope_alias){scope, name, is_of_other(map, scope, s)};
	return a != NULL;
}

/*
 * The symbol has a better name than DWARF for two kinds of functions: clones ("foo.part.0"), which
 * have the name of the original in DWARF, and C++ functions that no other file can see, for which
 * gcc writes only the bare identifier.
 */
static bool name_from_symbol(struct finder *f, uint32_t scope, const struct image_symbol *s)
{
	struct scope_map *map = f->map;
	const uint32_t before = map->scopes.at[scope].definition;
	struct scope_definition d = map->definitions.at[before];
	size_t n = base_length(s->name, s->name_bytes);
	const char *known = strtab_get(&map->strings, d.linkage_name ? d.linkage_name : d.name);
	bool clone = n < s->name_bytes && strlen(known) == n && memcmp(known, s->name, n) == 0;
	if (!clone && (d.linkage_name || !is_mangled(s->name)))
		return true;
	uint32_t name = strtab_add(&map->strings, s->name, s->name_bytes);
	uint32_t definition = name != STRTAB_FAILED ? scope_define(map, clone ? name : d.name,
								   clone ? 0 : name, d.file, d.line)
						    : SCOPE_NONE;
	if (definition == SCOPE_NONE)
		return false;
	map->scopes.at[scope].definition = definition;
	if (n == s->name_bytes && before < f->renamed.n) {
		uint32_t *to = &f->renamed.at[before];
		*to = *to == SCOPE_NONE || *to == definition ? definition : SEVERAL;
	}
	return true;
}

/* Gives inlined calls of a function the name that a symbol gave the function. */
static void rename_inlined(struct finder *f)
{
	for (size_t i = 0; i < f->map->scopes.n; i++) {
		struct scope_record *r = &f->map->scopes.at[i];
		const uint32_t to = r->kind == STRUCTURE_INLINE && r->definition < f->renamed.n
					    ? f->renamed.at[r->definition]
					    : SCOPE_NONE;
		if (to < SEVERAL)
			r->definition = to;
	}
}

static bool add_aliases(struct finder *f, const struct entry *e)
{
	const struct image_symbol *s = &f->symbols.at[e->first];
	for (size_t k = 0; k < e->n; k++) {
		bool is_new = k == 0 || compare_names(&s[k], &s[k - 1]) != 0;
		if (is_new && !add_alias(f->map, e->scope, &s[k]))
			return false;
	}
	return true;
}

/*
 * Finds the entry's function, or makes one. Split-off code of a function that we know stays
 * SCOPE_NONE for the second pass.
 */
static bool assign(struct finder *f, struct entry *e, bool cold_too)
{
	struct scope_map *map = f->map;
	const struct image_symbol *s = &f->symbols.at[e->first];
	uint32_t inside = scope_at(map, e->start);
	if (inside != SCOPE_NONE) {
		e->scope = scope_root(map, inside);
		if (map->scopes.at[e->scope].entry != s->link_addr)
			return true;
		return name_from_symbol(f, e->scope, s) && add_aliases(f, e);
	}
	bool cold = e->base_bytes > 0;
	if (cold && !cold_too)
		return true;
	const struct entry *base = cold ? find_name(f, s->name, e->base_bytes, s->source) : NULL;
	if (cold && !base)
		base = find_name(f, s->name, e->base_bytes, 0);
	if (base && base->scope != SCOPE_NONE) {
		e->scope = base->scope;
		return true;
	}
	e->scope = scope_add_lazily(map, s->name, s->name_bytes, s->link_addr,
				    s->table == IMAGE_SYMTAB ? STRUCTURE_FROM_SYMTAB
							     : STRUCTURE_FROM_DYNSYM);
	return e->scope != SCOPE_NONE && add_aliases(f, e);
}

static bool run(struct finder *f)
{
	struct scope_map *map = f->map;
	drop_unwanted(&f->symbols);
	struct map bases = {0};
	bool ok = sort_symbols(&f->symbols) && make_entries(f) &&
		  (map->is_to_narrow || strtab_reserve(&map->strings, f->entries.n)) &&
		  collect_bases(f, &bases) &&
		  index_names(f, &bases) &&
		  (map->definitions.n == 0 || vec_extend(&f->renamed, map->definitions.n));
	map_free(&bases);
	for (size_t i = 0; i < f->renamed.n; i++)
		f->renamed.at[i] = SCOPE_NONE;
	for (size_t i = 0; i < f->entries.n && ok; i++)
		ok = assign(f, &f->entries.at[i], false);
	rename_inlined(f);
	struct scope_ranges ranges = {0};
	for (size_t i = 0; i < f->entries.n && ok; i++) {
		struct entry *e = &f->entries.at[i];
		ok = e->scope != SCOPE_NONE || assign(f, e, true);
		struct scope_range *r = ok ? vec_push(&ranges) : NULL;
		ok = r != NULL;
		if (ok)
			*r = (struct scope_range){e->start, e->end, e->scope, 0};
	}
	ok = ok && scope_fill(map, &ranges);
	vec_free(&ranges);
	return ok;
}

bool scope_fill_from_symbols(struct scope_map *map, struct image_symbols *symbols)
{
	struct finder f = {.map = map, .symbols = *symbols};
	*symbols = (struct image_symbols){0};
	bool ok = run(&f);
	vec_free(&f.symbols);
	vec_free(&f.entries);
	vec_free(&f.names);
	map_free(&f.by_name);
	vec_free(&f.renamed);
	return ok;
}
