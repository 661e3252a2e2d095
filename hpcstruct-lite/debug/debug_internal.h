/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the debug room share; nothing outside it includes this. libdwarf 20210528 and 0.9 and later. */
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

/* Which file a DIE is in. */
enum debug_place { DEBUG_MAIN, DEBUG_ALTERNATE };

/* An image as libdwarf sees it: its debug sections, behind an empty one as libdwarf wants it. */
struct debug_object {
	const struct image *image;
	VEC(const struct image_section *) sections;
	Dwarf_Obj_Access_Interface_a access;
	Dwarf_Debug dbg;
};
enum status debug_object_open(const struct image *image, struct debug_object *object);
void debug_object_close(struct debug_object *object);

/* File numbers of one unit's line table, as indices in debug_unit.files; DEBUG_NONE for those it does not have. */
struct debug_file_table {
	uint64_t unit_die;     /* offset of the unit's DIE: the key */
	enum debug_place place;
	VEC(uint32_t) ids;
};

/* What is to be done with DIEs of one abbreviation. */
enum debug_die_class { DIE_UNKNOWN, DIE_SKIP, DIE_ENTER, DIE_FUNCTION, DIE_INLINED };

struct debug_session {
	struct debug_input input;
	struct debug_object main, alternate;
	uint64_t next_header;  /* what dwarf_next_cu_header_d() gives next; 0: at the start */

	/* of the unit being read */
	struct debug_unit *unit;
	uint64_t unit_end;
	Dwarf_Die unit_die;
	uint64_t unit_die_offset;
	struct range_context lists;
	VEC(uint8_t) classes;  /* enum debug_die_class by abbreviation code */
	struct map definitions;/* (DIE offset, place) -> index in unit->definitions */
	struct debug_file_table files;
	VEC(struct debug_file_table) foreign;
	unsigned n_said;       /* messages about this unit */
};

/* The attributes the room cares for, read from one DIE. */
struct debug_facts {
	const char *name, *linkage_name;
	uint64_t decl_file, decl_line, call_file, call_line;
	uint64_t origin;       /* of DW_AT_abstract_origin or DW_AT_specification */
	uint64_t low, high, entry;
	enum debug_place origin_place;
	bool has_decl_file, has_call_file, has_origin, has_low, has_high, high_is_distance, has_entry, has_ranges;
};

/* Says that something at `offset` of a section is damaged; at most a few for each unit. Frees `error`, which may be NULL. Marks the unit incomplete. */
void debug_complain(struct debug_session *s, const char *section, uint64_t offset, const char *what, Dwarf_Error error);
/* The unpacked section of that name. */
struct section_bytes debug_bytes(const struct image *image, const char *name);
/* Drops an error that does not matter. */
void debug_forget(Dwarf_Debug dbg, Dwarf_Error error);

/*
 * Reads the attributes of `die`. When `ranges_of` is a scope, its code is added to unit->ranges. False only when memory is short.
 */
bool debug_read_facts(struct debug_session *s, Dwarf_Die die, enum debug_place place, struct debug_facts *facts, uint32_t ranges_of);

/* Index in unit->definitions of the function that `die` stands for; `facts` are the DIE's. DEBUG_NONE when memory is short. */
uint32_t debug_define(struct debug_session *s, Dwarf_Die die, const struct debug_facts *facts);

/* Reads rows and the file table of the unit. False only when memory is short. */
bool debug_read_lines(struct debug_session *s);
/* File number of the unit that `die` is in -> index in unit->files; DEBUG_NONE: unknown. */
uint32_t debug_file(struct debug_session *s, Dwarf_Die die, enum debug_place place, uint64_t number);

/* Walks the DIEs of the unit. False only when memory is short. */
bool debug_read_dies(struct debug_session *s);

#endif
