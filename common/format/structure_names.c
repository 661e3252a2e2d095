/* SPDX-License-Identifier: BSD-3-Clause */
/* Index of functions by name; see structure.h. Test: tests/unit/common/test_structure.c. */
#include "common/format/structure_internal.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* (hash of a name, kind of name) -> function scopes that have it. */
enum name_origin { LINKAGE_NAME, OTHER_NAME };
struct structure_names {
	struct map by_hash; /* -> index in entries: the first of a chain */
	VEC(struct name_entry) entries;
};
struct name_entry {
	const char *name;
	uint32_t scope, next; /* next: entry with the same hash; STRUCTURE_NONE: the last */
};

void structure_free_names(struct structure_names *names)
{
	map_free(&names->by_hash);
	vec_free(&names->entries);
	free(names);
}

static bool add_name(struct structure_names *names, const char *name, enum name_origin how,
		     uint32_t scope)
{
	struct name_entry *e = vec_push(&names->entries);
	if (!e)
		return false;
	uint32_t id = (uint32_t)(names->entries.n - 1);
	*e = (struct name_entry){name, scope, STRUCTURE_NONE};
	uint64_t first = map_put(&names->by_hash, hash_bytes(name, strlen(name)), how, id);
	if (first == MAP_NONE || first == id)
		return first != MAP_NONE;
	e->next = names->entries.at[first].next;
	names->entries.at[first].next = id;
	return true;
}

static bool add_names(const struct structure *s, struct structure_names *names)
{
	for (uint32_t i = 0; i < structure_n_scopes(s); i++) {
		struct structure_scope scope = structure_get_scope(s, i);
		if (scope.kind != STRUCTURE_FUNCTION)
			continue;
		if (*scope.linkage_name && !add_name(names, scope.linkage_name, LINKAGE_NAME, i))
			return false;
		if (!add_name(names, scope.name, *scope.linkage_name ? OTHER_NAME : LINKAGE_NAME,
			      i))
			return false;
	}
	for (size_t i = 0; i < structure_n_aliases(s); i++) {
		uint32_t scope;
		const char *name = structure_get_alias(s, i, &scope);
		if (!add_name(names, name, OTHER_NAME, scope))
			return false;
	}
	return true;
}

enum status structure_index_names(struct structure *s, const char *name)
{
	struct structure_names *names = calloc(1, sizeof *names);
	if (!names || !add_names(s, names)) {
		if (names)
			structure_free_names(names);
		log_error(name, "out of memory");
		return STATUS_NO_MEMORY;
	}
	if (s->names)
		structure_free_names(s->names);
	s->names = names;
	return STATUS_OK;
}

/* Returns the lowest scope that has the name, and whether another one has it too. */
static uint32_t find_name(const struct structure_names *names, const char *name,
			  enum name_origin how, bool *is_ambiguous)
{
	uint32_t found = STRUCTURE_NONE;
	uint64_t first = map_get(&names->by_hash, hash_bytes(name, strlen(name)), how);
	for (uint32_t i = first == MAP_NONE ? STRUCTURE_NONE : (uint32_t)first; i != STRUCTURE_NONE;
	     i = names->entries.at[i].next) {
		const struct name_entry *e = &names->entries.at[i];
		if (strcmp(e->name, name) != 0)
			continue;
		*is_ambiguous |= found != STRUCTURE_NONE && found != e->scope;
		found = e->scope < found ? e->scope : found;
	}
	return found;
}

uint32_t structure_find_function(const struct structure *s, const char *name, bool *is_ambiguous)
{
	bool several = false;
	uint32_t found = STRUCTURE_NONE;
	if (s->names)
		found = find_name(s->names, name, LINKAGE_NAME, &several);
	if (s->names && found == STRUCTURE_NONE)
		found = find_name(s->names, name, OTHER_NAME, &several);
	if (is_ambiguous)
		*is_ambiguous = several;
	return found;
}
