/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See dead_ends.h. If a compiler knows that a call never returns, it writes no way out of the
 * caller after the call. So the instructions of a function show that it neither returns nor jumps
 * elsewhere. A function that only jumps to such functions never returns either, and neither does
 * its stub. Functions of libraries are known by name.
 */
#include "hpcstruct-lite/scope/dead_ends.h"

#include "common/base/map.h"
#include "common/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 16 /* rounds to find functions that only jump to functions that never return */

/* Sorted. */
static const char *const names[] = {
	"_Exit",
	"_Unwind_Resume",
	"_ZSt10unexpectedv",
	"_ZSt9terminatev",
	"__assert",
	"__assert_fail",
	"__assert_perror_fail",
	"__chk_fail",
	"__cxa_bad_cast",
	"__cxa_bad_typeid",
	"__cxa_call_unexpected",
	"__cxa_deleted_virtual",
	"__cxa_pure_virtual",
	"__cxa_rethrow",
	"__cxa_throw",
	"__cxa_throw_bad_array_new_length",
	"__fortify_fail",
	"__libc_fatal",
	"__libc_start_main",
	"__longjmp_chk",
	"__stack_chk_fail",
	"_exit",
	"_gfortran_error_stop_numeric",
	"_gfortran_error_stop_string",
	"_gfortran_exit_i4",
	"_gfortran_exit_i8",
	"_gfortran_os_error",
	"_gfortran_os_error_at",
	"_gfortran_runtime_error",
	"_gfortran_runtime_error_at",
	"_gfortran_stop_numeric",
	"_gfortran_stop_string",
	"_longjmp",
	"abort",
	"err",
	"errx",
	"exit",
	"longjmp",
	"pthread_exit",
	"quick_exit",
	"siglongjmp",
	"thrd_exit",
	"verr",
	"verrx",
};

static int compare_name(const void *key, const void *name)
{
	return strcmp(key, *(const char *const *)name);
}

/* Returns the length of the function's name in the name of a stub: "abort@plt". */
static size_t bare_bytes(const char *name)
{
	const char *at = strstr(name, "@plt");
	return at ? (size_t)(at - name) : strlen(name);
}

/* Includes libstdc++'s std::__throw_...(). */
static bool is_known_name(const char *name, size_t n_bytes)
{
	char bare[64];
	if (n_bytes > 4 && strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_"))
		return true;
	if (n_bytes >= sizeof bare)
		return false;
	memcpy(bare, name, n_bytes);
	bare[n_bytes] = '\0';
	return bsearch(bare, names, sizeof names / sizeof names[0], sizeof names[0],
		       compare_name) != NULL;
}

static bool add(struct code *c, uint32_t position)
{
	uint32_t *slot = vec_push(&c->dead_ends);
	if (slot)
		*slot = position;
	return slot != NULL;
}

static int compare_positions(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Sorts the entries and removes duplicates. */
static void sort(struct code *c)
{
	size_t n = 0;
	if (c->dead_ends.n > 1)
		qsort(c->dead_ends.at, c->dead_ends.n, sizeof *c->dead_ends.at, compare_positions);
	for (size_t i = 0; i < c->dead_ends.n; i++)
		if (n == 0 || c->dead_ends.at[n - 1] != c->dead_ends.at[i])
			c->dead_ends.at[n++] = c->dead_ends.at[i];
	c->dead_ends.n = n;
}

bool dead_ends_has(const struct code *c, uint32_t position)
{
	size_t at = sorted_prefix(c->dead_ends.n, i, c->dead_ends.at[i] < position);
	return at < c->dead_ends.n && c->dead_ends.at[at] == position;
}

/* Collects the names of the functions known so far. */
static bool note_names(const struct code *c, struct map *known)
{
	for (size_t i = 0; i < c->functions.n; i++) {
		const struct code_function *f = &c->functions.at[i];
		size_t n_bytes;
		const char *name = scope_text(c->map, f->scope, &n_bytes);
		if (dead_ends_has(c, f->entry) &&
		    map_put(known, hash_name(name, n_bytes), 0, 1) == MAP_NONE)
			return false;
	}
	return true;
}

/*
 * Adds the stubs of functions that are known by name, or that this binary defines and that never
 * return.
 */
static bool add_stubs(struct code *c)
{
	const struct scope_map *map = c->map;
	struct map known = {0};
	bool ok = note_names(c, &known);
	for (size_t i = 0; i < map->scopes.n && ok; i++) {
		const struct scope_record *r = &map->scopes.at[i];
		uint32_t position;
		if (r->origin != STRUCTURE_FROM_PLT ||
		    !image_position(map->image, r->entry, &position))
			continue;
		const char *name =
			strtab_get(&map->strings, map->definitions.at[r->definition].name);
		size_t n_bytes = bare_bytes(name);
		if (is_known_name(name, n_bytes) ||
		    map_get(&known, hash_name(name, n_bytes), 0) != MAP_NONE)
			ok = add(c, position);
	}
	map_free(&known);
	return ok;
}

/*
 * Returns true if the function cannot return and every jump out of it goes to a function known not
 * to return.
 */
static bool is_dead_end(const struct code *c, const struct code_batch *b,
			const struct code_function *f)
{
	for (size_t i = f->first_out; i < f->first_out + f->n_out && !f->has_way_out; i++)
		if (!dead_ends_has(c, b->outs.at[i]))
			return false;
	return !f->has_way_out;
}

/* Adds functions that never return. *more: some were not known before. */
static bool add_functions(struct code *c, bool *more)
{
	VEC(uint32_t) found = {0};
	bool ok = true;
	for (size_t i = 0; i < c->batches.n; i++) {
		const struct code_batch *b = &c->batches.at[i];
		for (size_t k = b->first; k < b->first + b->n && ok; k++) {
			const struct code_function *f = &c->functions.at[k];
			if (!is_dead_end(c, b, f) || dead_ends_has(c, f->entry))
				continue;
			uint32_t *slot = vec_push(&found);
			ok = slot != NULL;
			if (slot)
				*slot = f->entry;
		}
	}
	for (size_t i = 0; i < found.n && ok; i++)
		ok = add(c, found.at[i]);
	*more = found.n > 0;
	vec_free(&found);
	sort(c);
	return ok;
}

/*
 * Go's functions first check the size of the stack. If it is too small, they call runtime.morestack
 * at their end and start again. That is no loop of the program, so runtime.morestack counts as a
 * function that never returns.
 */
static bool add_go(struct code *c)
{
	static const char name[] = "runtime.morestack";
	bool ok = true;
	for (size_t i = 0; i < c->functions.n && ok; i++) {
		const struct code_function *f = &c->functions.at[i];
		size_t n_bytes;
		const char *own = scope_text(c->map, f->scope, &n_bytes);
		if (n_bytes >= sizeof name - 1 && memcmp(own, name, sizeof name - 1) == 0)
			ok = add(c, f->entry);
	}
	sort(c);
	return ok;
}

bool dead_ends_find(struct code *c)
{
	bool ok = add_go(c), more = true;
	for (int round = 0; round < MAX_ROUNDS && ok && more; round++) {
		size_t n = c->dead_ends.n;
		ok = add_stubs(c);
		sort(c);
		more = c->dead_ends.n > n;
		bool more_functions = false;
		ok = ok && add_functions(c, &more_functions);
		more |= more_functions;
	}
	return ok;
}
