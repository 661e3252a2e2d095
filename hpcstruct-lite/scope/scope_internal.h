/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the scope room share; nothing outside it and its tests includes this. */
#ifndef HPCSTRUCT_SCOPE_SCOPE_INTERNAL_H
#define HPCSTRUCT_SCOPE_SCOPE_INTERNAL_H

#include "common/base/map.h"
#include "common/base/strtab.h"
#include "common/format/structure.h"
#include "common/format/structure_layout.h"
#include "hpcstruct-lite/scope/scope.h"

#include <pthread.h>

#define SCOPE_NONE STRUCTURE_NONE

/*
 * The interval map while it is being made: as in the file, but `offset` is a position (image_position()), and a list that is not empty ends with a
 * gap (no scope, no file).
 */
struct scope_intervals {
	struct structure_interval_record *at;
	size_t n, capacity;
};

/* Code of one scope; positions, `end` exclusive. */
struct scope_range {
	uint32_t start, end, scope, depth;
};
struct scope_ranges {
	struct scope_range *at;
	size_t n, capacity;
};

/*
 * Flattens ranges into an interval list that gives the innermost scope at every position. A range counts only where that of its parent is; of ranges that overlap
 * without being nested the one that starts later hides the other while it lasts. Sorts `ranges`. False when memory is short.
 */
bool scope_flatten(struct scope_ranges *ranges, const uint32_t *parents, struct scope_intervals *out);

/*
 * Lays two lists over each other: the scope is that of `a` where it has one, else that of `b`; the line comes from the list that gave the scope, or from the other
 * when that one has none. False when memory is short.
 */
bool scope_overlay(const struct scope_intervals *a, const struct scope_intervals *b, struct scope_intervals *out);
/* Appends an interval unless it says the same as the last one. */
bool scope_append(struct scope_intervals *list, uint32_t position, uint32_t scope, uint32_t file, uint32_t line);

/* Rows of a line table -> interval list with files and lines alone. */
bool scope_flatten_rows(const struct image *image, const struct debug_row *rows, size_t n, struct scope_intervals *out);

/* The intervals of one unit, with the map's numbers. */
struct scope_chunk {
	uint32_t number;       /* of the unit */
	struct scope_intervals intervals;
};
/* Joins all chunks into one list, the lower unit number first. Sorts `chunks`. False when memory is short. */
bool scope_join(struct scope_chunk *chunks, size_t n_chunks, struct scope_intervals *out);

struct scope_definition {
	uint32_t name, linkage_name; /* ids in strings; not demangled before scope_finish() */
	uint32_t file, line;         /* id in paths, or SCOPE_NONE */
	bool is_final;               /* the name is to be shown as it is */
};

struct scope_record {
	uint32_t parent, definition, call_file, call_line;
	uint64_t entry;
	uint8_t kind, origin, flags; /* flags: STRUCTURE_SCOPE_* */
};

struct scope_alias {
	uint32_t scope, name;
};

/* A call instruction; the target's scope is found when all functions are known. */
struct scope_call {
	uint64_t link_addr, target_addr; /* target_addr 0: not known */
};

struct scope_map {
	const struct image *image;
	pthread_mutex_t lock;  /* over all below while units are added */
	struct strtab strings; /* id 0 is "" */
	struct strtab paths;   /* of source files */
	struct { struct scope_definition *at; size_t n, capacity; } definitions;
	struct map definition_ids;
	struct { struct scope_record *at; size_t n, capacity; } scopes; /* parents before children */
	struct { struct scope_chunk *at; size_t n, capacity; } chunks;
	struct { struct scope_alias *at; size_t n, capacity; } aliases;
	struct { struct debug_resources *at; size_t n, capacity; } resources;
	struct { struct scope_call *at; size_t n, capacity; } calls;
	struct scope_intervals intervals; /* after scope_finish() */
};

/* Index of the definition, which is added when it is new. SCOPE_NONE when memory is short. */
uint32_t scope_define(struct scope_map *map, uint32_t name, uint32_t linkage_name, uint32_t file, uint32_t line);
/* Adds a call instruction. target_addr is any address of the function that is called, 0: not known. STATUS_NO_MEMORY has not been logged. */
enum status scope_add_call(struct scope_map *map, uint64_t link_addr, uint64_t target_addr);
/* The scope that holds at a position, or SCOPE_NONE; and the function at the top of it. */
uint32_t scope_at(const struct scope_map *map, uint32_t position);
uint32_t scope_root(const struct scope_map *map, uint32_t scope);

/* Steps of scope_finish(). False when memory is short. */
bool scope_fill_from_symbols(struct scope_map *map, const struct image *symbols_of);
bool scope_fill_from_stubs(struct scope_map *map);
bool scope_fill_from_frames(struct scope_map *map);
/* Adds a function whose name is shown as it is (is_final) or demangled. SCOPE_NONE when memory is short. */
uint32_t scope_add_function(struct scope_map *map, const char *name, size_t name_bytes, uint64_t entry, enum structure_origin origin, bool is_final);
/* Overlays `ranges` on the map where it has no scope yet. */
bool scope_fill(struct scope_map *map, struct scope_ranges *ranges);

/* Demangles the names of all definitions. */
bool scope_demangle_all(struct scope_map *map, unsigned n_workers);
/* The demangled form, to be freed by the caller; NULL when the name is not mangled (or libiberty is not there). */
char *scope_demangle(const char *linkage_name);

#endif
