/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finishes the map when all units are added: joins them, and fills the gaps from symbols, stubs and
 * unwind information. See scope.h. Test: tests/unit/struct/test_scope.c,
 * tests/cli/struct/struct_golden.sh.
 */
#include "hpcstruct-lite/scope/reach.h"
#include "hpcstruct-lite/scope/scope_internal.h"

static bool read_whole(const struct scope_map *map, const struct image *symbols_of,
		       struct scope_sources *out)
{
	return image_read_symbols(map->image, NULL, &out->symbols) == STATUS_OK &&
	       (!symbols_of || image_read_symbols(symbols_of, NULL, &out->symbols) == STATUS_OK) &&
	       image_read_stubs(map->image, &out->stubs) == STATUS_OK &&
	       image_read_frames(map->image, &out->frames) == STATUS_OK;
}

static bool fill(struct scope_map *map, const struct image *symbols_of, const uint64_t *link_addrs,
		 size_t n, unsigned n_workers)
{
	struct scope_sources s = {0};
	bool ok = (n > 0 ? reach_read(map, symbols_of, link_addrs, n, n_workers, &s)
			 : read_whole(map, symbols_of, &s)) &&
		  scope_fill_from_symbols(map, &s.symbols) &&
		  scope_fill_from_stubs(map, &s.stubs) && scope_fill_from_frames(map, &s.frames) &&
		  scope_read_library_calls(map, &s.stubs);
	scope_sources_free(&s);
	return ok;
}

enum status scope_finish(struct scope_map *map, const struct image *symbols_of,
			 const uint64_t *link_addrs, size_t n, unsigned n_workers)
{
	map->is_to_narrow = n > 0;
	bool ok = scope_join(map->chunks.at, map->chunks.n, &map->intervals);
	for (size_t i = 0; i < map->chunks.n; i++)
		vec_free(&map->chunks.at[i].intervals);
	vec_free(&map->chunks);
	if (!map->image->is_cubin) /* a cubin's symbols were read with its lines */
		ok = ok && fill(map, symbols_of, link_addrs, n, n_workers);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
