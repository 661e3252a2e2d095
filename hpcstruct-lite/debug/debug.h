/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The debug room: image -> per compilation unit the line table, the functions with their inlined calls, and names. The only user of libdwarf; nothing of libdwarf shows here.
 * DWARF 2 to 5, dwz's alternate files; of split units (.dwo) the line tables alone. A debug_session is for one thread at a time, several on one image are independent. Tests: tests/cli/struct_judge.sh.
 */
#ifndef HPCSTRUCT_DEBUG_DEBUG_H
#define HPCSTRUCT_DEBUG_DEBUG_H

#include "common/base/status.h"
#include "common/base/strtab.h"
#include "common/base/vec.h"
#include "hpcstruct-lite/image/image.h"

#include <stdbool.h>
#include <stdint.h>

#define DEBUG_NONE UINT32_MAX

/* Who knows of the functions and lines of a unit. */
enum debug_origin { DEBUG_FROM_DWARF, DEBUG_FROM_SYMBOLS /* functions; lines and inlined calls are from the line table */, DEBUG_FROM_SOURCE,
	DEBUG_FROM_GO };

/* A function's name and place in the source. Strings are borrowed from the image's sections; NULL when unknown. */
struct debug_definition {
	const char *name, *linkage_name;
	uint32_t file, line;   /* file: index in debug_unit.files, DEBUG_NONE: unknown */
};

/* A function with code, or a call that was inlined into one. */
struct debug_scope {
	uint32_t parent;       /* index of the enclosing scope, always smaller; DEBUG_NONE for functions */
	uint32_t definition;
	uint32_t call_file, call_line;
	uint64_t entry;
	const char *alias;     /* another name that it has in the symbol table, or NULL */
};

/* Code of a scope, children's included. A scope may have several. */
struct debug_range {
	uint64_t start, end;
	uint32_t scope;
};

/* What a GPU function needs of the machine; 0: none, or not said. */
struct debug_resources {
	uint64_t link_addr;    /* of its entry */
	uint32_t registers;    /* of a thread */
	uint32_t shared_bytes; /* static, of a group */
	uint32_t frame_bytes;  /* local memory of a thread: of this function, ... */
	uint32_t stack_bytes;  /* ... and with what it calls */
	uint32_t parameter_bytes;
	uint32_t max_threads;  /* of a group, where the source gives a bound */
	uint16_t barriers;
	bool is_kernel;
};

/* A row of the line table. */
struct debug_row {
	uint64_t link_addr;
	uint32_t file, line;   /* DEBUG_NONE, 0: unknown */
	bool is_end;           /* first address behind a sequence */
};

/* What one unit says, in its own numbers. Cleared and refilled for each unit. */
struct debug_unit {
	uint64_t offset;       /* in .debug_info */
	enum debug_origin origin;
	struct strtab files;   /* paths */
	struct { struct debug_definition *at; size_t n, capacity; } definitions;
	struct { struct debug_scope *at; size_t n, capacity; } scopes;
	struct { struct debug_range *at; size_t n, capacity; } ranges;
	struct { struct debug_row *at; size_t n, capacity; } rows;
	struct { struct debug_resources *at; size_t n, capacity; } resources;
	bool incomplete;       /* part of it could not be read; said in the log */
	bool is_split;         /* its functions are in a .dwo file, which is not read: rows alone */
};
void debug_unit_free(struct debug_unit *unit);

struct debug_session;

/* What a session reads. Images are borrowed and outlive it. */
struct debug_input {
	const struct image *image;     /* holds .debug_info; its path is the subject of messages */
	const struct image *alternate; /* dwz's shared part, or NULL */
	const struct image *code;      /* the binary itself: tells which addresses are code */
};

/* A unit of the file, found without reading what is in it. */
struct debug_unit_place {
	uint64_t offset, n_bytes;
};
struct debug_unit_places {
	struct debug_unit_place *at;
	size_t n, capacity;
};

/* Names of the sections this room reads, ended by NULL: what is to be unpacked. */
extern const char *const debug_sections[];
/* True when there is DWARF to read, packed or not. */
bool debug_has_units(const struct image *image);
/*
 * Lists the units of .debug_info that may hold code, in order. A damaged header ends the list and sets *damaged.
 */
enum status debug_list_units(const struct image *image, struct debug_unit_places *places, bool *damaged);
/* Logs and returns STATUS_BAD_INPUT when libdwarf refuses the sections. */
enum status debug_session_open(const struct debug_input *input, struct debug_session **session);
void debug_session_close(struct debug_session *session);
/*
 * Reads the unit at `offset`. Cheapest when called with rising offsets. Damage is said, with section and offset, costs what it must, and sets
 * unit->incomplete; STATUS_NO_MEMORY is the only failure.
 */
enum status debug_read_unit(struct debug_session *session, uint64_t offset, struct debug_unit *unit);

#endif
