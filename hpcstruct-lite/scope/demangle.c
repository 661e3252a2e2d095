/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++, Rust and D names through libiberty; without it names stay as the linker knows them. Each
 * distinct name once, at the end, and only of functions that are asked for. Test:
 * tests/unit/struct/test_scope.c.
 */
#include "config.h"

#include "common/base/pool.h"
#include "hpcstruct-lite/scope/scope_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IBERTY
#define HAVE_DECL_BASENAME 1 /* libiberty.h asks for it; nothing here uses basename() */
#include <demangle.h>

#define MAX_MANGLED_BYTES 8192 /* longer names cost minutes and are not read by anyone */

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

/* Compilers' clones: "_Z3foov.cold" is "foo() [clone .cold]" to libiberty itself; Rust's
 * ".llvm.123" is dropped by it. */
char *scope_demangle(const char *linkage_name)
{
	bool cpp = linkage_name[0] == '_' && linkage_name[1] == 'Z',
	     rust = linkage_name[0] == '_' && linkage_name[1] == 'R',
	     dlang = linkage_name[0] == '_' && linkage_name[1] == 'D';
	if ((!cpp && !rust && !dlang) ||
	    strnlen(linkage_name, MAX_MANGLED_BYTES) == MAX_MANGLED_BYTES)
		return NULL;
	char *text = rust || strstr(linkage_name, "17h") ? rust_demangle(linkage_name, DMGL_NO_OPTS)
							 : NULL;
	if (!text && cpp)
		text = cplus_demangle_v3(linkage_name, DMGL_PARAMS | DMGL_ANSI);
	if (dlang)
		text = dlang_demangle(linkage_name, DMGL_NO_OPTS);
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

/* The name to show, with the linkage name kept where it says more. */
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

/* Takes a name that was borrowed so far into the strings. */
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
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
