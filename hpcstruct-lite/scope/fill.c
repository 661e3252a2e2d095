/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills the gaps that DWARF and symbols leave, with PLT stubs and with functions that only the
 * unwind information shows. Test: tests/cli/struct/struct_golden.sh.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t scope_add_function(struct scope_map *map, const char *name, size_t name_bytes,
			    uint64_t entry, enum structure_origin origin, bool is_final)
{
	uint32_t id = strtab_add(&map->strings, name, name_bytes);
	uint32_t definition =
		id != STRTAB_FAILED ? scope_define(map, id, 0, SCOPE_NONE, 0) : SCOPE_NONE;
	struct scope_record *r = definition != SCOPE_NONE ? vec_push(&map->scopes) : NULL;
	if (!r)
		return SCOPE_NONE;
	map->definitions.at[definition].is_final |= is_final;
	*r = (struct scope_record){.parent = SCOPE_NONE,
				   .definition = definition,
				   .call_file = SCOPE_NONE,
				   .entry = entry,
				   .kind = STRUCTURE_FUNCTION,
				   .origin = (uint8_t)origin};
	return (uint32_t)(map->scopes.n - 1);
}

uint32_t scope_add_lazily(struct scope_map *map, const char *name, uint32_t name_bytes,
			  uint64_t entry, enum structure_origin origin)
{
	if (!map->is_to_narrow && name)
		return scope_add_function(map, name, name_bytes, entry, origin, false);
	char made[SCOPE_UNKNOWN_BYTES];
	if (!map->is_to_narrow)
		return scope_add_function(map, made, scope_put_unknown(made, entry), entry, origin,
					  true);
	struct scope_definition *d = vec_push(&map->definitions);
	struct scope_record *r = d ? vec_push(&map->scopes) : NULL;
	if (!r)
		return SCOPE_NONE;
	*d = (struct scope_definition){.file = SCOPE_NONE,
				       .is_final = !name,
				       .text = name ? name : "",
				       .text_bytes = name_bytes};
	*r = (struct scope_record){.parent = SCOPE_NONE,
				   .definition = (uint32_t)(map->definitions.n - 1),
				   .call_file = SCOPE_NONE,
				   .entry = entry,
				   .kind = STRUCTURE_FUNCTION,
				   .origin = (uint8_t)origin};
	return (uint32_t)(map->scopes.n - 1);
}

size_t scope_put_unknown(char text[SCOPE_UNKNOWN_BYTES], uint64_t link_addr)
{
	return (size_t)snprintf(text, SCOPE_UNKNOWN_BYTES, "<unknown at 0x%llx>",
				(unsigned long long)link_addr);
}

const char *scope_text(const struct scope_map *map, uint32_t scope, size_t *n)
{
	const struct scope_definition *d = &map->definitions.at[map->scopes.at[scope].definition];
	uint32_t name = d->linkage_name ? d->linkage_name : d->name;
	if (d->text && !name) {
		*n = d->text_bytes;
		return d->text;
	}
	const char *text = strtab_get(&map->strings, name);
	*n = strlen(text);
	return text;
}

bool scope_fill(struct scope_map *map, struct scope_ranges *ranges)
{
	struct scope_intervals layer = {0}, joined = {0};
	uint32_t *parents = malloc((map->scopes.n + 1) * sizeof *parents);
	bool ok = parents != NULL;
	for (size_t i = 0; i < map->scopes.n && ok; i++)
		parents[i] = SCOPE_NONE; /* all are functions here */
	ok = ok && scope_flatten(ranges, parents, &layer) &&
	     scope_overlay(&map->intervals, &layer, &joined);
	free(parents);
	vec_free(&layer);
	if (!ok) {
		vec_free(&joined);
		return false;
	}
	vec_free(&map->intervals);
	map->intervals = joined;
	return true;
}

static bool add_range(const struct scope_map *map, struct scope_ranges *ranges, uint64_t start,
		      uint64_t end, uint32_t scope)
{
	uint32_t from, to;
	if (!image_position(map->image, start, &from) ||
	    !image_position_end(map->image, end, &to) || to <= from)
		return true;
	struct scope_range *r = vec_push(ranges);
	if (r)
		*r = (struct scope_range){from, to, scope, 0};
	return r != NULL;
}

/*
 * Adds a stub such as "malloc@plt". The stub of an IFUNC has no name in its relocation, so it gets
 * the function's own name.
 */
static uint32_t add_stub(struct scope_map *map, const struct image_stub *stub)
{
	char name[4200];
	const char *target = stub->target;
	uint32_t target_bytes = stub->target_bytes, position;
	uint32_t scope = target_bytes == 0 && stub->target_addr &&
					 image_position(map->image, stub->target_addr, &position)
				 ? scope_at(map, position)
				 : SCOPE_NONE;
	int n;
	if (scope != SCOPE_NONE) {
		const struct scope_definition *d =
			&map->definitions.at[map->scopes.at[scope_root(map, scope)].definition];
		const char *of =
			d->text ? d->text
				: strtab_get(&map->strings, d->name ? d->name : d->linkage_name);
		n = snprintf(name, sizeof name, "%.*s@plt",
			     d->text && d->text_bytes < 4096 ? (int)d->text_bytes : 4096, of);
	} else if (stub->is_resolver) {
		n = snprintf(name, sizeof name, "plt0");
	} else if (target_bytes > 0) {
		n = snprintf(name, sizeof name, "%.*s@plt",
			     target_bytes < 4096 ? (int)target_bytes : 4096, target);
	} else {
		n = snprintf(name, sizeof name, "<unknown at 0x%llx>@plt",
			     (unsigned long long)stub->link_addr);
	}
	return scope_add_function(map, name, (size_t)n, stub->link_addr, STRUCTURE_FROM_PLT, true);
}

bool scope_fill_from_stubs(struct scope_map *map, const struct image_stubs *stubs)
{
	struct scope_ranges ranges = {0};
	bool ok = true;
	for (size_t i = 0; i < stubs->n && ok; i++) {
		const struct image_stub *s = &stubs->at[i];
		uint32_t position;
		if (!image_position(map->image, s->link_addr, &position) ||
		    scope_at(map, position) != SCOPE_NONE)
			continue;
		uint32_t scope = add_stub(map, s);
		ok = scope != SCOPE_NONE &&
		     add_range(map, &ranges, s->link_addr, s->link_addr + s->n_bytes, scope);
	}
	ok = ok && scope_fill(map, &ranges);
	vec_free(&ranges);
	return ok;
}

/*
 * Adds the code of a range to the function that contains its start. If there is none, the range
 * becomes a function whose name says that it is unknown. `main_addr`: where main starts; 0:
 * unknown. If main is known, the entry point is _start.
 */
static bool add_frame(struct scope_map *map, struct scope_ranges *ranges,
		      const struct image_range *r, uint64_t main_addr)
{
	uint32_t position;
	if (!image_position(map->image, r->start, &position))
		return true;
	uint32_t scope = scope_at(map, position);
	if (scope != SCOPE_NONE) {
		scope = scope_root(map, scope);
		if (map->scopes.at[scope].origin == STRUCTURE_FROM_PLT)
			return true;
	} else {
		const char *name = !main_addr                      ? NULL
				   : r->start == main_addr         ? "main"
				   : r->start == map->image->entry ? "_start"
								   : NULL;
		scope = name ? scope_add_function(map, name, strlen(name), r->start,
						  STRUCTURE_FROM_EH_FRAME, true)
			     : scope_add_lazily(map, NULL, 0, r->start, STRUCTURE_FROM_EH_FRAME);
	}
	return scope != SCOPE_NONE && add_range(map, ranges, r->start, r->end, scope);
}

/*
 * Adds start-up code of the C library, by its section. In a stripped file it has neither symbols
 * nor unwind information.
 */
static bool add_section(struct scope_map *map, struct scope_ranges *ranges, const char *section,
			const char *name)
{
	const struct image_section *s = image_find(map->image, section);
	uint32_t position;
	if (!s || !image_position(map->image, s->link_addr, &position) ||
	    scope_at(map, position) != SCOPE_NONE)
		return true;
	uint32_t scope = scope_add_function(map, name, strlen(name), s->link_addr,
					    STRUCTURE_FROM_EH_FRAME, true);
	return scope != SCOPE_NONE &&
	       add_range(map, ranges, s->link_addr, s->link_addr + s->n_bytes, scope);
}

static bool is_unknown(const struct scope_map *map, uint64_t link_addr)
{
	uint32_t position;
	return image_position(map->image, link_addr, &position) &&
	       scope_at(map, position) == SCOPE_NONE;
}

/* Names functions of libc that are known only by their place, if code without a name is wanted. */
static bool fill_from_libc(struct scope_map *map, const struct image_ranges *frames)
{
	struct image_functions known = {0};
	struct scope_ranges ranges = {0};
	size_t i = 0;
	while (i < frames->n && !is_unknown(map, frames->at[i].start))
		i++;
	bool ok = i == frames->n || image_find_libc(map->image, &known) == STATUS_OK;
	for (i = 0; i < known.n && ok; i++) {
		const struct image_function *f = &known.at[i];
		if (!is_unknown(map, f->range.start))
			continue;
		const uint32_t scope = scope_add_function(map, f->name, strlen(f->name),
							  f->range.start, STRUCTURE_FROM_EH_FRAME,
							  true);
		ok = scope != SCOPE_NONE &&
		     add_range(map, &ranges, f->range.start, f->range.end, scope);
	}
	ok = ok && scope_fill(map, &ranges);
	vec_free(&ranges);
	vec_free(&known);
	return ok;
}

bool scope_fill_from_frames(struct scope_map *map, const struct image_ranges *frames)
{
	struct scope_ranges ranges = {0};
	uint64_t main_addr = 0;
	bool ok = fill_from_libc(map, frames);
	if (!image_find_main(map->image, &main_addr))
		main_addr = 0;
	for (size_t i = 0; i < frames->n && ok; i++)
		ok = add_frame(map, &ranges, &frames->at[i], main_addr);
	ok = ok && add_section(map, &ranges, ".init", "_init") &&
	     add_section(map, &ranges, ".fini", "_fini") && scope_fill(map, &ranges);
	vec_free(&ranges);
	return ok;
}
