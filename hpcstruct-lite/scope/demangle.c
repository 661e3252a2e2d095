/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Demangles C++, Rust and D names with libiberty. Without it names stay mangled. Demangles each
 * distinct name once, at the end, and only for wanted functions. Test:
 * tests/unit/struct/test_scope.c.
 */
#include "config.h"

#include "common/base/iberty.h"
#include "common/base/pool.h"
#include "hpcstruct-lite/scope/scope_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MANGLED_BYTES 8192 /* longer names cost minutes, and nobody reads them */

#ifdef HAVE_IBERTY
/* nvcc puts static functions into a namespace of its own for each file,
 * "_INTERNAL_9df5436a_16_truth_kernels_cu_f4e764b6::"; the source has none. */
static void drop_nvcc_namespaces(char *name)
{
	static const char head[] = "_INTERNAL_";
	for (char *at = name; (at = strstr(at, head));) {
		size_t n =
			sizeof head - 1 +
			strspn(at + sizeof head - 1,
			       "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (n > sizeof head - 1 && strncmp(at + n, "::", 2) == 0)
			memmove(at, at + n + 2, strlen(at + n + 2) + 1);
		else
			at += n;
	}
}

/*
 * libiberty handles compilers' clones: it makes "foo() [clone .cold]" of "_Z3foov.cold", and it
 * drops Rust's ".llvm.123".
 */
char *scope_demangle(const char *linkage_name)
{
	bool cpp = linkage_name[0] == '_' && linkage_name[1] == 'Z',
	     rust = linkage_name[0] == '_' && linkage_name[1] == 'R',
	     dlang = linkage_name[0] == '_' && linkage_name[1] == 'D';
	if ((!cpp && !rust && !dlang) ||
	    strnlen(linkage_name, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
		return NULL;
	char *text = rust || strstr(linkage_name, "17h") ? rust_demangle(linkage_name, 0) : NULL;
	if (!text && cpp)
		text = cplus_demangle_v3(linkage_name, IBERTY_PARAMS | IBERTY_ANSI);
	if (dlang)
		text = dlang_demangle(linkage_name, 0);
	if (text)
		drop_nvcc_namespaces(text);
	return text;
}
#else
char *scope_demangle(const char *linkage_name)
{
	(void)linkage_name;
	return NULL;
}
#endif

struct work {
	struct scope_map *map;
	char **names;          /* by definition; NULL: not mangled */
	bool *is_wanted;       /* by definition */
	atomic_bool no_memory;
};

enum { BATCH = 256 };

static void demangle_batch(void *arg, size_t batch, unsigned worker)
{
	struct work *w = arg;
	(void)worker;
	for (size_t i = batch * BATCH; i < (batch + 1) * BATCH && i < w->map->definitions.n; i++) {
		const struct scope_definition *d = &w->map->definitions.at[i];
		uint32_t mangled = d->linkage_name ? d->linkage_name : d->name;
		if (d->is_final || !w->is_wanted[i])
			continue;
		errno = 0;
		w->names[i] = scope_demangle(strtab_get(&w->map->strings, mangled));
		if (!w->names[i] && errno == ENOMEM) /* libiberty does not report it */
			atomic_store(&w->no_memory, true);
	}
}

/* Sets the name to show. Keeps the linkage name if it says more. */
static bool set_name(struct scope_map *map, struct scope_definition *d, const char *demangled)
{
	if (demangled) {
		if (!d->linkage_name)
			d->linkage_name = d->name;
		d->name = strtab_add_z(&map->strings, demangled);
	} else if (!d->name && !d->text) {
		d->name = d->linkage_name ? d->linkage_name
					  : strtab_add_z(&map->strings, "<unnamed>");
	}
	if (d->linkage_name == d->name)
		d->linkage_name = 0;
	return d->name != STRTAB_FAILED;
}

/* Copies a borrowed name into the strings. */
static bool own_name(struct scope_map *map, const struct scope_record *r)
{
	struct scope_definition *d = &map->definitions.at[r->definition];
	char unknown[SCOPE_UNKNOWN_BYTES];
	if (d->text && !d->name)
		d->name = d->text_bytes > 0
				  ? strtab_add(&map->strings, d->text, d->text_bytes)
				  : strtab_add(&map->strings, unknown,
					       scope_put_unknown(unknown, r->entry));
	return d->name != STRTAB_FAILED;
}

static bool want_definitions(struct scope_map *map, bool *is_wanted)
{
	bool ok = true;
	for (uint32_t i = 0; i < map->scopes.n && ok; i++) {
		if (!scope_is_wanted(map, i))
			continue;
		is_wanted[map->scopes.at[i].definition] = true;
		ok = own_name(map, &map->scopes.at[i]);
	}
	return ok;
}

/*
 * Appends to `text`, the name of a function, the names of the functions that the linker folded into
 * it: "a or b", or "a or b, or 3 others". Returns the number of the scope's aliases from `first`
 * on.
 */
static size_t put_folded(const struct scope_map *map, size_t first, char *text, size_t n_bytes)
{
	size_t n = 0, n_put = 0, n_others = 0;
	for (; first + n < map->aliases.n; n++) {
		const struct scope_alias *a = &map->aliases.at[first + n];
		if (a->scope != map->aliases.at[first].scope)
			break;
		if (!a->is_folded)
			continue;
		const char *symbol = strtab_get(&map->strings, a->name);
		char *readable = scope_demangle(symbol);
		const char *other = readable ? readable : symbol;
		const size_t at = strlen(text);
		if (strcmp(text, other) == 0) /* another symbol of a constructor */
			;
		else if (n_put == 0 && at + strlen(other) + 4 < n_bytes)
			n_put = (size_t)snprintf(text + at, n_bytes - at, " or %s", other);
		else
			n_others++;
		free(readable);
	}
	if (n_others && strlen(text) + 40 < n_bytes)
		snprintf(text + strlen(text), n_bytes - strlen(text), ", or %zu other%s", n_others,
			 n_others > 1 ? "s" : "");
	return n;
}

/* Gives functions that the linker folded into one the names of all of them. */
static bool name_folded(struct scope_map *map)
{
	char text[2 * MAX_MANGLED_BYTES];
	bool ok = true;
	for (size_t i = 0, n; i < map->aliases.n && ok; i += n) {
		struct scope_record *r = &map->scopes.at[map->aliases.at[i].scope];
		const struct scope_definition d = map->definitions.at[r->definition];
		const char *own = strtab_get(&map->strings, d.name);
		const bool has_room = strlen(own) < sizeof text;
		n = 1;
		if (!scope_is_wanted(map, map->aliases.at[i].scope) || !has_room)
			continue;
		strcpy(text, own);
		n = put_folded(map, i, text, sizeof text);
		if (strcmp(text, own) == 0)
			continue;
		uint32_t name = strtab_add_z(&map->strings, text),
			 to = name == STRTAB_FAILED ? SCOPE_NONE
						    : scope_define(map, name, d.linkage_name,
								   d.file, d.line);
		ok = to != SCOPE_NONE;
		if (ok)
			map->scopes.at[map->aliases.at[i].scope].definition = to;
	}
	return ok;
}

enum status scope_demangle_all(struct scope_map *map, unsigned n_workers)
{
	size_t n = map->definitions.n;
	struct work w = {.map = map,
			 .names = calloc(n + 1, sizeof *w.names),
			 .is_wanted = calloc(n + 1, sizeof *w.is_wanted)};
	bool ok = w.names && w.is_wanted && want_definitions(map, w.is_wanted);
	if (ok) {
		pool_run((n + BATCH - 1) / BATCH, n_workers, demangle_batch, &w);
		ok = !atomic_load(&w.no_memory);
	}
	for (size_t i = 0; i < n && w.names && w.is_wanted; i++) {
		ok = ok && set_name(map, &map->definitions.at[i], w.names[i]);
		free(w.names[i]);
	}
	free(w.names);
	free(w.is_wanted);
	ok = ok && name_folded(map);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
