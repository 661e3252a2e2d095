/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restricts a map to the wanted functions. A machine-learning library has hundreds of megabytes of
 * code, and a run samples some hundred functions of it. Test: tests/cli/struct/struct_needed.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include <stdlib.h>

static uint32_t function_at(const struct scope_map *map, uint64_t link_addr)
{
	uint32_t position, scope = SCOPE_NONE;
	if (image_position(map->image, link_addr, &position))
		scope = scope_at(map, position);
	return scope == SCOPE_NONE ? SCOPE_NONE : scope_root(map, scope);
}

bool scope_is_wanted(const struct scope_map *map, uint32_t scope)
{
	return !map->is_wanted || (scope != SCOPE_NONE && map->is_wanted[scope_root(map, scope)]);
}

enum status scope_narrow(struct scope_map *map, const uint64_t *link_addrs, size_t n)
{
	map->is_wanted = calloc(map->scopes.n + 1, sizeof *map->is_wanted);
	if (!map->is_wanted)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < n; i++) {
		uint32_t position, function = function_at(map, link_addrs[i]);
		if (function != SCOPE_NONE) {
			map->is_wanted[function] = true;
			continue;
		}
		uint32_t *slot = image_position(map->image, link_addrs[i], &position)
					 ? vec_push(&map->loose)
					 : NULL;
		if (slot)
			*slot = position;
		else if (image_position(map->image, link_addrs[i], &position))
			return STATUS_NO_MEMORY;
	}
	/* a call of OpenMP's run time is recognised by the stub that it calls */
	for (size_t i = 0; i < map->calls.n; i++) {
		uint32_t from = function_at(map, map->calls.at[i].link_addr),
			 to = function_at(map, map->calls.at[i].target_addr);
		if (from != SCOPE_NONE && to != SCOPE_NONE && map->is_wanted[from] &&
		    map->scopes.at[to].origin == STRUCTURE_FROM_PLT)
			map->is_wanted[to] = true;
	}
	return STATUS_OK;
}

/* ---- what is written ---- */

/* Appends code to the last region or adds a new region. The code is in one region of the image. */
static bool keep_piece(struct scope_map *map, uint64_t start, uint32_t n_bytes, uint32_t position)
{
	struct image_region *last = map->kept.n ? &map->kept.at[map->kept.n - 1] : NULL;
	if (last && last->start + last->n_bytes == start) {
		last->n_bytes += n_bytes;
		return true;
	}
	last = vec_push(&map->kept);
	if (last)
		*last = (struct image_region){start, n_bytes, position};
	return last != NULL;
}

static bool keep_positions(struct scope_map *map, uint32_t from, uint32_t to)
{
	const struct image *image = map->image;
	bool ok = true;
	for (size_t k = 0; k < image->regions.n && ok; k++) {
		const struct image_region *r = &image->regions.at[k];
		uint64_t end = r->position + r->n_bytes;
		uint32_t start = from > r->position ? from : r->position,
			 stop = to < end ? to : (uint32_t)end;
		if (start < stop)
			ok = keep_piece(map, r->start + (start - r->position), stop - start, start);
	}
	return ok;
}

static int compare_positions(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

bool scope_cut(struct scope_map *map)
{
	const struct scope_intervals *v = &map->intervals;
	struct scope_intervals out = {0};
	size_t l = 0;
	bool ok = true;
	if (map->loose.n > 1)
		qsort(map->loose.at, map->loose.n, sizeof *map->loose.at, compare_positions);
	for (size_t i = 0; i <= v->n && ok; i++) {
		struct structure_interval_record r = {0, SCOPE_NONE, SCOPE_NONE, 0};
		uint32_t end = i < v->n ? v->at[i].offset : image_n_positions(map->image);
		if (i > 0)
			r = v->at[i - 1];
		if (r.scope != SCOPE_NONE && scope_is_wanted(map, r.scope)) {
			ok = scope_append(&out, r.offset, r.scope, r.file, r.line) &&
			     keep_positions(map, r.offset, end);
			continue;
		}
		ok = scope_append(&out, r.offset, SCOPE_NONE, SCOPE_NONE, 0);
		for (; l < map->loose.n && map->loose.at[l] < end && ok; l++) {
			uint32_t at = map->loose.at[l];
			if (l > 0 && map->loose.at[l - 1] == at)
				continue; /* requested twice */
			ok = scope_append(&out, at, SCOPE_NONE, r.file, r.line) &&
			     scope_append(&out, at + 1, SCOPE_NONE, SCOPE_NONE, 0) &&
			     keep_positions(map, at, at + 1);
		}
	}
	if (!ok) {
		vec_free(&out);
		return false;
	}
	vec_free(&map->intervals);
	map->intervals = out;
	return true;
}
