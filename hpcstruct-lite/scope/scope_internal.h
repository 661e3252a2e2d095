/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the scope room. Only the room and its tests include this file. */
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
 * The interval map in construction. It has the form of the map in the file, but `offset` is a
 * position (image_position()). A list that is not empty ends with a gap: no scope and no file.
 */
struct scope_intervals {
	VEC(struct structure_interval_record);
};

/* Code of one scope. start and end are positions; `end` is exclusive. */
struct scope_range {
	uint32_t start, end, scope, depth;
};
struct scope_ranges {
	VEC(struct scope_range);
};

/*
 * Flattens ranges into an interval list with the innermost scope at every position. A range counts
 * only inside its parent's range. If two ranges overlap without nesting, the one that starts later
 * hides the other. Sorts `ranges`. Returns false when out of memory.
 */
bool scope_flatten(struct scope_ranges *ranges, const uint32_t *parents,
	struct scope_intervals *out);

/*
 * Overlays two lists. The scope comes from `a` if it has one there, else from `b`. The line comes
 * from the list of the scope, or from the other list if the first has no line. Returns false when
 * out of memory.
 */
bool scope_overlay(const struct scope_intervals *a, const struct scope_intervals *b,
	struct scope_intervals *out);
/* Appends an interval unless it is equal to the last one. Returns false when out of memory. */
bool scope_append(struct scope_intervals *list, uint32_t position, uint32_t scope, uint32_t file,
	uint32_t line);

/*
 * Converts rows of a line table to an interval list with files and lines only. Returns false when
 * out of memory.
 */
bool scope_flatten_rows(const struct image *image, const struct debug_row *rows, size_t n,
	struct scope_intervals *out);

/* The intervals of one unit, with the map's numbers. */
struct scope_chunk {
	uint32_t number;       /* of the unit */
	struct scope_intervals intervals;
};
/*
 * Joins all chunks into one list; the lower unit number has priority. Sorts `chunks`. Returns false
 * when out of memory.
 */
bool scope_join(struct scope_chunk *chunks, size_t n_chunks, struct scope_intervals *out);

struct scope_definition {
	uint32_t name, linkage_name; /* ids in strings; mangled before scope_demangle_all() */
	uint32_t file, line;         /* id in paths, or SCOPE_NONE */
	bool is_final;               /* show the name as it is */
	/*
	 * A borrowed name that is not in strings yet, because it may never be needed. NULL: none.
	 */
	const char *text;
	uint32_t text_bytes;
};

struct scope_record {
	uint32_t parent, definition, call_file, call_line;
	uint64_t entry;
	uint8_t kind, origin, flags; /* flags: STRUCTURE_SCOPE_* */
};

/* Another symbol of a function. */
struct scope_alias {
	uint32_t scope, name;
	bool is_folded; /* belongs to another function with equal code, which the linker left out */
};

/* A call instruction. The scope of its target is found after all functions are known. */
struct scope_call {
	uint64_t link_addr, target_addr; /* target_addr 0: unknown */
};

struct scope_map {
	const struct image *image;
	pthread_mutex_t lock;  /* protects all fields below while units are added */
	struct strtab strings; /* id 0 is "" */
	struct strtab paths;   /* of source files */
	VEC(struct scope_definition) definitions;
	struct map definition_ids;
	/* parents before children */
	VEC(struct scope_record) scopes;
	VEC(struct scope_chunk) chunks;
	/* scope_narrow() will follow, so the names of most functions are not needed */
	bool is_to_narrow;
	VEC(struct scope_alias) aliases; /* the aliases of a scope are next to each other */
	struct map plain_names; /* hashes of debug_unit.plain_names */
	VEC(struct debug_resources) resources;
	VEC(struct scope_call) calls;
	struct scope_intervals intervals; /* after scope_finish() */
	/* what GPU code waits for, as in the file; after scope_find_loops() */
	VEC(struct structure_wait_record) waits;
	VEC(struct structure_cause_record) causes;
	/* after scope_narrow(): by function, whether it is wanted; else NULL, and all are */
	bool *is_wanted;
	VEC(uint32_t) loose;           /* positions that are wanted and in no function */
	VEC(struct image_region) kept; /* code of wanted functions; by scope_cut() */
};

/*
 * Returns the index of the definition, and adds it if it is new. Returns SCOPE_NONE when out of
 * memory.
 */
uint32_t scope_define(struct scope_map *map, uint32_t name, uint32_t linkage_name, uint32_t file,
	uint32_t line);
/*
 * Adds a call instruction. target_addr is any address of the called function; 0: unknown. Does not
 * log STATUS_NO_MEMORY.
 */
enum status scope_add_call(struct scope_map *map, uint64_t link_addr, uint64_t target_addr);
/*
 * scope_at() returns the scope at a position, or SCOPE_NONE. scope_root() returns the function that
 * encloses a scope.
 */
uint32_t scope_at(const struct scope_map *map, uint32_t position);
uint32_t scope_root(const struct scope_map *map, uint32_t scope);

/* Returns true if the function that encloses the scope is wanted. */
bool scope_is_wanted(const struct scope_map *map, uint32_t scope);
/*
 * Drops the intervals of functions that are not wanted, and lists the code that is left. Returns
 * false when out of memory.
 */
bool scope_cut(struct scope_map *map);

/* Steps of scope_finish(). Return false when out of memory. */
/* Takes the symbols. */
bool scope_fill_from_symbols(struct scope_map *map, struct image_symbols *symbols);
/*
 * Returns where the code of a function at `start` ends, at most `end`: after the first instruction
 * that nothing follows and that no earlier jump passes. Returns `end` if that is unknown, as after
 * an indirect jump.
 */
uint64_t scope_unsized_end(const struct image *image, uint64_t start, uint64_t end);
bool scope_fill_from_stubs(struct scope_map *map, const struct image_stubs *stubs);
bool scope_fill_from_frames(struct scope_map *map, const struct image_ranges *frames);
/*
 * Returns false for labels of assembler code that other files cannot see: they are no functions.
 */
bool scope_is_symbol_wanted(const struct image_symbol *s);
/*
 * Returns the length of "foo" for "foo.cold" and "foo.cold.3": code of foo that was moved away and
 * is not a function of its own. Returns 0 for other names.
 */
uint32_t scope_moved_base(const struct image_symbol *s);
/* Adds the calls of OpenMP's run time in the image, which go to one of `stubs`. */
bool scope_read_library_calls(struct scope_map *map, const struct image_stubs *stubs);
/*
 * Adds a function. Its name is shown as it is if is_final, else demangled. Returns SCOPE_NONE when
 * out of memory.
 */
uint32_t scope_add_function(struct scope_map *map, const char *name, size_t name_bytes,
	uint64_t entry, enum structure_origin origin, bool is_final);
/*
 * The same for a name in the image. If the map will be narrowed, the name is copied only when it is
 * needed. NULL: "<unknown at ENTRY>".
 */
uint32_t scope_add_lazily(struct scope_map *map, const char *name, uint32_t name_bytes,
	uint64_t entry, enum structure_origin origin);
/* Writes the name of a function that has none; returns its length. */
#define SCOPE_UNKNOWN_BYTES 40u
size_t scope_put_unknown(char text[SCOPE_UNKNOWN_BYTES], uint64_t link_addr);
/* The name of a function before it is demangled. `n` is its length; 0: none yet. */
const char *scope_text(const struct scope_map *map, uint32_t scope, size_t *n);
/* Adds `ranges` to the map where it has no scope yet. Returns false when out of memory. */
bool scope_fill(struct scope_map *map, struct scope_ranges *ranges);

/*
 * Returns the demangled name, which the caller frees. Returns NULL if the name is not mangled, or
 * if the program was built without libiberty.
 */
char *scope_demangle(const char *linkage_name);

#endif
