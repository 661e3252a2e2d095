/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map when all units are there: joined, with what symbols, stubs and unwind information tell of
 * the gaps, and names demangled. See scope.h. Test: tests/unit/struct/test_scope.c,
 * tests/cli/struct/struct_golden.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

enum status scope_finish(struct scope_map *map, const struct image *symbols_of, unsigned n_workers)
{
	bool ok = scope_join(map->chunks.at, map->chunks.n, &map->intervals);
	for (size_t i = 0; i < map->chunks.n; i++)
		vec_free(&map->chunks.at[i].intervals);
	vec_free(&map->chunks);
	if (!map->image->is_cubin) /* whose symbols have been read with its lines */
		ok = ok && scope_fill_from_symbols(map, symbols_of) && scope_fill_from_stubs(map) &&
		     scope_fill_from_frames(map);
	ok = ok && scope_demangle_all(map, n_workers);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
