/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map while units are added: each unit is flattened by its own thread, then given the map's
 * numbers under the lock. See scope.h. Test: tests/unit/struct/test_scope.c.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include "common/base/sorted.h"

#include <stdlib.h>
#include <string.h>

/* Kept from unit to unit, so that memory is allocated once. */
struct scope_scratch {
	struct scope_ranges ranges;
	VEC(uint32_t) parents, depths, scope_ids, file_ids;
	struct scope_intervals scopes, rows, joined;
};

struct scope_map *scope_map_new(const struct image *image)
{
	struct scope_map *map = calloc(1, sizeof *map);
	if (!map)
		return NULL;
	map->image = image;
	pthread_mutex_init(&map->lock, NULL);
	if (strtab_add_z(&map->strings, "") != 0) {
		scope_map_free(map);
		return NULL;
	}
	return map;
}

void scope_map_free(struct scope_map *map)
{
	if (!map)
		return;
	strtab_free(&map->strings);
	strtab_free(&map->paths);
	vec_free(&map->definitions);
	map_free(&map->definition_ids);
	vec_free(&map->scopes);
	for (size_t i = 0; i < map->chunks.n; i++)
		vec_free(&map->chunks.at[i].intervals);
	vec_free(&map->chunks);
	vec_free(&map->aliases);
	map_free(&map->plain_names);
	vec_free(&map->resources);
	vec_free(&map->calls);
	vec_free(&map->waits);
	vec_free(&map->causes);
	vec_free(&map->intervals);
	free(map->is_wanted);
	vec_free(&map->loose);
	vec_free(&map->kept);
	pthread_mutex_destroy(&map->lock);
	free(map);
}

struct scope_scratch *scope_scratch_new(void)
{
	return calloc(1, sizeof(struct scope_scratch));
}

void scope_scratch_free(struct scope_scratch *s)
{
	if (!s)
		return;
	vec_free(&s->ranges);
	vec_free(&s->parents);
	vec_free(&s->depths);
	vec_free(&s->scope_ids);
	vec_free(&s->file_ids);
	vec_free(&s->scopes);
	vec_free(&s->rows);
	vec_free(&s->joined);
	free(s);
}

uint32_t scope_define(struct scope_map *map, uint32_t name, uint32_t linkage_name, uint32_t file,
		      uint32_t line)
{
	uint64_t id = map_put(&map->definition_ids, (uint64_t)name << 32 | linkage_name,
			      (uint64_t)file << 32 | line, map->definitions.n);
	if (id == MAP_NONE)
		return SCOPE_NONE;
	if (id == map->definitions.n) {
		struct scope_definition *d = vec_push(&map->definitions);
		if (!d)
			return SCOPE_NONE;
		*d = (struct scope_definition){
			.name = name, .linkage_name = linkage_name, .file = file, .line = line};
	}
	return (uint32_t)id;
}

uint32_t scope_root(const struct scope_map *map, uint32_t scope)
{
	while (map->scopes.at[scope].parent != SCOPE_NONE)
		scope = map->scopes.at[scope].parent;
	return scope;
}

uint32_t scope_at(const struct scope_map *map, uint32_t position)
{
	size_t n = sorted_up_to(map->intervals.at, map->intervals.n, offset, position);
	return n ? map->intervals.at[n - 1].scope : SCOPE_NONE;
}

/* Prepares the parents, depths and ranges of the unit for scope_flatten(). */
static bool prepare(const struct scope_map *map, const struct debug_unit *unit,
		    struct scope_scratch *s)
{
	vec_clear(&s->parents);
	vec_clear(&s->depths);
	vec_clear(&s->ranges);
	if (unit->scopes.n > 0 &&
	    (!vec_extend(&s->parents, unit->scopes.n) || !vec_extend(&s->depths, unit->scopes.n)))
		return false;
	for (size_t i = 0; i < unit->scopes.n; i++) {
		uint32_t parent = unit->scopes.at[i].parent;
		s->parents.at[i] = parent;
		s->depths.at[i] = parent == DEBUG_NONE ? 0 : s->depths.at[parent] + 1;
	}
	for (size_t i = 0; i < unit->ranges.n; i++) {
		const struct debug_range *r = &unit->ranges.at[i];
		uint32_t start, end;
		if (!image_position(map->image, r->start, &start) ||
		    !image_position_end(map->image, r->end, &end) ||
		    end - start != r->end - r->start)
			continue;
		struct scope_range *slot = vec_push(&s->ranges);
		if (!slot)
			return false;
		*slot = (struct scope_range){start, end, r->scope, s->depths.at[r->scope]};
	}
	return true;
}

static void fill_with_none(uint32_t *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ids[i] = SCOPE_NONE;
}

/*
 * Returns the map's number of a file of the unit; SCOPE_NONE: unknown. Sets *ok to false when out
 * of memory.
 */
static uint32_t file_id(struct scope_map *map, const struct debug_unit *unit,
			struct scope_scratch *s, uint32_t file, bool *ok)
{
	if (file == DEBUG_NONE)
		return SCOPE_NONE;
	uint32_t *id = &s->file_ids.at[file];
	if (*id == SCOPE_NONE) {
		*id = strtab_add_z(&map->paths, strtab_get(&unit->files, file));
		*ok = *ok && *id != STRTAB_FAILED;
	}
	return *id;
}

static uint32_t string_id(struct scope_map *map, const char *text, bool *ok)
{
	uint32_t id = text ? strtab_add_z(&map->strings, text) : 0;
	*ok = *ok && id != STRTAB_FAILED;
	return id;
}

/* Gives numbers of the map to the ancestors of the scope and then to the scope. */
static bool publish_scope(struct scope_map *map, const struct debug_unit *unit,
			  struct scope_scratch *s, uint32_t local)
{
	if (s->scope_ids.at[local] != SCOPE_NONE)
		return true;
	const struct debug_scope *from = &unit->scopes.at[local];
	if (from->parent != DEBUG_NONE && !publish_scope(map, unit, s, from->parent))
		return false;
	bool ok = true;
	const struct debug_definition *d = &unit->definitions.at[from->definition];
	uint32_t name = string_id(map, d->name, &ok),
		 linkage_name = string_id(map, d->linkage_name, &ok);
	uint32_t file = file_id(map, unit, s, d->file, &ok),
		 call_file = file_id(map, unit, s, from->call_file, &ok);
	bool has_place = file != SCOPE_NONE;
	uint32_t definition =
		ok ? scope_define(map, name, linkage_name, file, has_place ? d->line : 0)
		   : SCOPE_NONE;
	struct scope_record *to = definition != SCOPE_NONE ? vec_push(&map->scopes) : NULL;
	if (!to)
		return false;
	bool is_function = from->parent == DEBUG_NONE;
	*to = (struct scope_record){
		.parent = is_function ? SCOPE_NONE : s->scope_ids.at[from->parent],
		.definition = definition,
		.call_file = call_file,
		.call_line = from->call_line,
		.entry = from->entry,
		.kind = is_function ? STRUCTURE_FUNCTION : STRUCTURE_INLINE,
		.origin = unit->origin == DEBUG_FROM_SOURCE ? STRUCTURE_FROM_SOURCE
			  : unit->origin == DEBUG_FROM_SYMBOLS && is_function
				  ? STRUCTURE_FROM_SYMTAB
				  : STRUCTURE_FROM_DWARF,
	};
	if (from->alias) {
		struct scope_alias *a = vec_push(&map->aliases);
		if (!a)
			return false;
		*a = (struct scope_alias){(uint32_t)(map->scopes.n - 1),
					  string_id(map, from->alias, &ok), false};
	}
	s->scope_ids.at[local] = (uint32_t)(map->scopes.n - 1);
	return ok;
}

static bool publish(struct scope_map *map, const struct debug_unit *unit, uint32_t number,
		    struct scope_scratch *s)
{
	bool ok = true;
	vec_clear(&s->scope_ids);
	vec_clear(&s->file_ids);
	size_t n_files = unit->files.starts.n;
	if ((unit->scopes.n > 0 && !vec_extend(&s->scope_ids, unit->scopes.n)) ||
	    (n_files > 0 && !vec_extend(&s->file_ids, n_files)))
		return false;
	fill_with_none(s->scope_ids.at, unit->scopes.n);
	fill_with_none(s->file_ids.at, n_files);
	struct scope_chunk *chunk = vec_push(&map->chunks);
	if (!chunk || !vec_reserve(&chunk->intervals, s->joined.n))
		return false;
	chunk->number = number;
	for (size_t i = 0; i < s->joined.n && ok; i++) {
		struct structure_interval_record v = s->joined.at[i];
		if (v.scope != SCOPE_NONE) {
			ok = publish_scope(map, unit, s, v.scope);
			v.scope = s->scope_ids.at[v.scope];
		}
		v.file = file_id(map, unit, s, v.file, &ok);
		*vec_push(&chunk->intervals) = v;
	}
	for (size_t i = 0; i < unit->plain_names.n && ok; i++) {
		const char *name = unit->plain_names.at[i];
		ok = map_put(&map->plain_names, hash_name(name, strlen(name)), 0, 1) != MAP_NONE;
	}
	for (size_t i = 0; i < unit->resources.n && ok; i++) {
		struct debug_resources *r = vec_push(&map->resources);
		ok = r != NULL;
		if (ok)
			*r = unit->resources.at[i];
	}
	return ok;
}

enum status scope_add_call(struct scope_map *map, uint64_t link_addr, uint64_t target_addr)
{
	struct scope_call *c = vec_push(&map->calls);
	if (!c)
		return STATUS_NO_MEMORY;
	*c = (struct scope_call){link_addr, target_addr};
	return STATUS_OK;
}

enum status scope_add_unit(struct scope_map *map, const struct debug_unit *unit, uint32_t number,
			   struct scope_scratch *s)
{
	vec_clear(&s->scopes);
	vec_clear(&s->rows);
	vec_clear(&s->joined);
	bool ok = prepare(map, unit, s) && scope_flatten(&s->ranges, s->parents.at, &s->scopes) &&
		  scope_flatten_rows(map->image, unit->rows.at, unit->rows.n, &s->rows) &&
		  scope_overlay(&s->scopes, &s->rows, &s->joined);
	if (ok && (s->joined.n > 0 || unit->plain_names.n > 0)) {
		pthread_mutex_lock(&map->lock);
		ok = publish(map, unit, number, s);
		pthread_mutex_unlock(&map->lock);
	}
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}
