/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the debug room; nothing outside the room includes this file. Supports
 * libdwarf 20180129, which RHEL 8 has, and later.
 */
#ifndef HPCSTRUCT_DEBUG_DEBUG_INTERNAL_H
#define HPCSTRUCT_DEBUG_DEBUG_INTERNAL_H

#include "config.h"

#include "common/base/map.h"
#include "hpcstruct-lite/debug/debug.h"
#include "hpcstruct-lite/debug/range_list.h"

#include <dwarf.h>
#include <libdwarf.h>

#ifndef HAVE_DWARF_OBJ_ACCESS_INTERFACE_A
typedef Dwarf_Obj_Access_Interface Dwarf_Obj_Access_Interface_a;
#endif

/* Where a DIE is: in .debug_info of a file, or in .debug_types of the main one (DWARF 4). */
enum debug_place { DEBUG_MAIN, DEBUG_ALTERNATE, DEBUG_TYPES };

/* An image in the form that libdwarf expects: its debug sections, after an empty one. */
struct debug_object {
	const struct image *image;
	VEC(const struct image_section *) sections;
	Dwarf_Obj_Access_Interface_a access;
	Dwarf_Debug dbg;
};
enum status debug_object_open(const struct image *image, struct debug_object *object);
void debug_object_close(struct debug_object *object);

/*
 * Maps the file numbers of one unit's line table to indices in debug_unit.files. A number without a
 * file maps to DEBUG_NONE.
 */
struct debug_file_table {
	uint64_t unit_die;     /* offset of the unit's DIE; the key */
	enum debug_place place;
	VEC(uint32_t) ids;
};

/* An entry that may contain functions, or is one. `outer`: the entry around it, or DEBUG_NONE. */
struct debug_entry {
	uint64_t offset;
	uint32_t outer;
	uint16_t tag;
};

/* These entries of one unit, by rising offset. */
struct debug_outline {
	uint64_t unit_die;
	enum debug_place place;
	VEC(struct debug_entry) entries;
};

/* A definition whose name is not qualified yet. */
struct debug_unqualified {
	uint32_t definition;
	uint32_t id;           /* of the qualified name in debug_unit.names */
	uint64_t offset;       /* of the entry that has the name */
	enum debug_place place;
};

/* How to handle the DIEs of one abbreviation. */
enum debug_die_class { DIE_UNKNOWN, DIE_SKIP, DIE_ENTER, DIE_FUNCTION, DIE_INLINED };

struct debug_session {
	struct debug_input input;
	struct debug_object main, alternate;
	/* offset that dwarf_next_cu_header_d() returns next; 0: at the start */
	uint64_t next_header;

	/* state of the current unit */
	struct debug_unit *unit;
	uint64_t unit_end;
	Dwarf_Die unit_die;
	uint64_t unit_die_offset;
	struct range_context lists;
	VEC(uint8_t) classes;  /* enum debug_die_class, indexed by abbreviation code */
	struct map definitions;/* (DIE offset, place) -> index in unit->definitions */
	struct debug_file_table files;
	VEC(struct debug_file_table) foreign;
	unsigned n_said;       /* number of messages logged about this unit */
	const char *separator; /* in qualified names; NULL: the language has none */
	bool is_assembler;     /* every label of a function has an entry */
	struct debug_outline outline; /* of this unit, if there is a separator */
	VEC(struct debug_outline *) outlines; /* of other units that this unit refers to */
	VEC(struct debug_unqualified) unqualified;

	/* Of all units: signature of a type unit -> 2 * offset of its type + is in .debug_types. */
	struct map types;
	bool has_types;
};

static inline Dwarf_Debug debug_of(const struct debug_session *s, enum debug_place place)
{
	return place == DEBUG_ALTERNATE ? s->alternate.dbg : s->main.dbg;
}

/* The attributes that the room needs, read from one DIE. */
struct debug_facts {
	const char *name, *linkage_name;
	uint64_t decl_file, decl_line, call_file, call_line;
	uint64_t origin;       /* target of DW_AT_abstract_origin or DW_AT_specification */
	uint64_t signature;    /* of the type unit that has the rest of a class */
	uint64_t low, high, entry;
	enum debug_place origin_place;
	bool has_decl_file, has_call_file, has_origin, has_signature, has_low, has_high,
		high_is_distance, has_entry, has_ranges;
};

/*
 * Logs damage at `offset` of a section, at most a few times per unit. Marks the unit incomplete.
 * Frees `error`, which may be NULL.
 */
void debug_complain(struct debug_session *s, const char *section, uint64_t offset, const char *what,
	Dwarf_Error error);
/* Returns the uncompressed section with that name. */
struct section_bytes debug_bytes(const struct image *image, const char *name);
/* Frees an error that does not matter. */
void debug_forget(Dwarf_Debug dbg, Dwarf_Error error);

/*
 * Reads the attributes of `die`. If `ranges_of` is a scope, adds its code to unit->ranges. Returns
 * false only when out of memory.
 */
bool debug_read_facts(struct debug_session *s, Dwarf_Die die, enum debug_place place,
	struct debug_facts *facts, uint32_t ranges_of);

/*
 * Returns the index in unit->definitions of the function that `die` represents, or DEBUG_NONE when
 * out of memory. `facts` are the attributes of `die`.
 */
uint32_t debug_define(struct debug_session *s, Dwarf_Die die, const struct debug_facts *facts);

/*
 * Returns the separator of qualified names in a DW_AT_language, or NULL if the language has none.
 */
const char *debug_name_separator(uint64_t language);
/* Returns true if there may be functions below `die`. */
bool debug_may_hold_functions(struct debug_session *s, Dwarf_Die die);
/* Adds `die` to an outline; *id is its number there. Returns false only when out of memory. */
bool debug_outline_add(struct debug_outline *o, Dwarf_Debug dbg, Dwarf_Die die, uint32_t outer,
	uint32_t *id);
/* Frees an outline of another unit. It may be NULL. */
void debug_outline_free(struct debug_outline *o);
/* Finds the type in the type unit with this signature. It is in the main file. */
bool debug_find_type(struct debug_session *s, uint64_t signature, enum debug_place *place,
	uint64_t *offset);
/*
 * Gives the definitions in `unqualified` their qualified names. Returns false only when out of
 * memory.
 */
bool debug_qualify_names(struct debug_session *s);

/* Reads the rows and the file table of the unit. Returns false only when out of memory. */
bool debug_read_lines(struct debug_session *s);
/*
 * Converts a file number of the unit that contains `die` to an index in unit->files, or to
 * DEBUG_NONE if unknown.
 */
uint32_t debug_file(struct debug_session *s, Dwarf_Die die, enum debug_place place,
	uint64_t number);

/*
 * Reads the bases of range lists. Finds out whether the unit has requested code, or does not say
 * which code it has. Returns false only when out of memory.
 */
bool debug_is_needed(struct debug_session *s, bool *is_needed);
/* Walks the DIEs of the unit. Returns false only when out of memory. */
bool debug_read_dies(struct debug_session *s);

#endif
