/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The debug room reads the debug information of an image: for each compilation unit the line table,
 * the functions with their inlined calls, and names. Only this room uses libdwarf, and this header
 * shows nothing of libdwarf. It supports DWARF 2 to 5 and dwz's alternate files, but only the line
 * tables of split units (.dwo). One thread at a time may use a debug_session; several sessions on
 * one image are independent. Test: tests/cli/struct/struct_judge.sh.
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

/* Where the functions and lines of a unit come from. */
enum debug_origin {
	DEBUG_FROM_DWARF,
	DEBUG_FROM_SYMBOLS, /* functions; lines and inlined calls are from the line table */
	DEBUG_FROM_SOURCE
};

/*
 * A function's name and place in the source. The strings are borrowed from the image's sections or
 * from debug_unit.names, and are NULL if unknown. A C++ function without a linkage name has its
 * namespaces, classes and enclosing functions in its name.
 */
struct debug_definition {
	const char *name, *linkage_name;
	uint32_t file, line;   /* file: index in debug_unit.files, or DEBUG_NONE if unknown */
};

/* A function with code, or an inlined call. */
struct debug_scope {
	/* index of the enclosing scope, always smaller; DEBUG_NONE for functions */
	uint32_t parent;
	uint32_t definition;
	uint32_t call_file, call_line;
	uint64_t entry;
	const char *alias;     /* another name of it in the symbol table, or NULL */
};

/* Code of a scope, with the code of its children. A scope may have several ranges. */
struct debug_range {
	uint64_t start, end;
	uint32_t scope;
};

/* What a GPU function needs from the machine. 0: none, or unknown. */
struct debug_resources {
	uint64_t link_addr;    /* of its entry point */
	uint32_t registers;    /* per thread */
	uint32_t shared_bytes; /* static, per thread block or work-group */
	uint32_t frame_bytes;  /* local memory per thread: of this function alone */
	uint32_t stack_bytes;  /* the same with the functions that it calls */
	uint32_t parameter_bytes;
	uint32_t max_threads;  /* per thread block or work-group, if the source sets a limit */
	uint16_t barriers;
	bool is_kernel;
};

/* A row of the line table. */
struct debug_row {
	uint64_t link_addr;
	uint32_t file, line;   /* DEBUG_NONE and 0: unknown */
	bool is_end;           /* first address after a sequence */
};

/* The contents of one unit, with the unit's own numbers. Cleared and refilled for each unit. */
struct debug_unit {
	uint64_t offset;       /* in .debug_info */
	enum debug_origin origin;
	struct strtab files;   /* paths */
	struct strtab names;   /* names that are put together from several entries */
	VEC(struct debug_definition) definitions;
	VEC(struct debug_scope) scopes;
	VEC(struct debug_range) ranges;
	VEC(struct debug_row) rows;
	VEC(struct debug_resources) resources;
	/* functions with code by their plain names, with those whose code the linker left out */
	VEC(const char *) plain_names;
	bool incomplete;       /* part of the unit could not be read; already logged */
	bool is_split;         /* its functions are in a .dwo file, which is not read: only rows */
};
void debug_unit_free(struct debug_unit *unit);

struct debug_session;

/* The input of a session. The images are borrowed and must outlive it. */
struct debug_input {
	const struct image *image;     /* contains .debug_info; messages name its path */
	const struct image *alternate; /* dwz's shared part, or NULL */
	/* the binary itself, which determines what addresses are code */
	const struct image *code;
	/*
	 * If n_link_addrs > 0, a unit that says which code it has is read only if one of these
	 * addresses is in that code. The addresses rise.
	 */
	const uint64_t *link_addrs;
	size_t n_link_addrs;
};

/* The place of a unit in the file. Finding it does not read the unit's contents. */
struct debug_unit_place {
	uint64_t offset, n_bytes;
};
struct debug_unit_places {
	VEC(struct debug_unit_place);
};

/* Names of the sections that this room reads, for image_unpack(). NULL ends the list. */
extern const char *const debug_sections[];
/* Returns true if the image contains DWARF, compressed or not. */
bool debug_has_units(const struct image *image);
/*
 * Lists in order the units of .debug_info that may contain code. A damaged header ends the list and
 * sets *damaged.
 */
enum status debug_list_units(const struct image *image, struct debug_unit_places *places,
	bool *damaged);
/* Opens a session. Logs and returns STATUS_BAD_INPUT if libdwarf rejects the sections. */
enum status debug_session_open(const struct debug_input *input, struct debug_session **session);
void debug_session_close(struct debug_session *session);
/*
 * Reads the unit at `offset`. Rising offsets are the fastest. Logs damage with section and offset,
 * skips as little as possible, and sets unit->incomplete. Fails only with STATUS_NO_MEMORY.
 */
enum status debug_read_unit(struct debug_session *session, uint64_t offset,
	struct debug_unit *unit);

#endif
