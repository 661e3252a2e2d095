/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structure file (structs/<build id or hash>.hpcstruct): what the addresses of one binary mean. doc/formats/structure.md is the
 * specification. Pure layout and pure functions on bytes: no I/O. The reader validates once (structure_open) and is then safe for
 * any address. Tests: tests/unit/test_structure.c, tests/fuzz/fuzz_structure.c.
 *
 * The heart is an interval map: sorted addresses, each with the scope, file and line that hold from there to the next
 * one. Scopes form a tree: functions at the top, inlined calls (and later loops) below.
 */
#ifndef COMMON_FORMAT_STRUCTURE_H
#define COMMON_FORMAT_STRUCTURE_H

#include "common/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRUCTURE_NONE UINT32_MAX

enum structure_scope_kind {
	STRUCTURE_FUNCTION, /* top level: parent is STRUCTURE_NONE */
	STRUCTURE_INLINE,   /* an inlined call; call_file and call_line are the call site, in the parent's source */
	STRUCTURE_LOOP      /* file and line are the loop's */
};

/* Who says so. */
enum structure_origin {
	STRUCTURE_FROM_DWARF,
	STRUCTURE_FROM_SYMTAB,
	STRUCTURE_FROM_DYNSYM,
	STRUCTURE_FROM_PLT,
	STRUCTURE_FROM_EH_FRAME, /* the name is made up: "<unknown at 0x1234>" */
	STRUCTURE_FROM_SOURCE,   /* the binary is source text; addresses are offsets in it. Since 1.1 */
	STRUCTURE_FROM_CODE,     /* loops. Since 1.1 */
	STRUCTURE_FROM_GO        /* the table of functions of a Go program. Since 1.1 */
};

/* A scope, decoded. Strings are borrowed from the file's bytes. */
struct structure_scope {
	enum structure_scope_kind kind;
	enum structure_origin origin;
	uint32_t parent;
	uint32_t definition;      /* equal for all scopes that stand for the same function; < structure_n_definitions() */
	const char *name;         /* demangled */
	const char *linkage_name; /* "" when it is the same */
	uint32_t file, line;      /* of the definition; STRUCTURE_NONE, 0: unknown */
	uint32_t call_file, call_line;
	uint64_t entry;           /* link address of the function's entry, else of the lowest instruction */
	bool is_irreducible;      /* loops: can be entered at several places */
};

/* What holds at an address. */
struct structure_place {
	uint32_t scope;           /* innermost scope, STRUCTURE_NONE: no function known here */
	uint32_t file, line;      /* source line; STRUCTURE_NONE, 0: unknown */
};

/* An opened file: views into bytes that the caller keeps alive and unchanged. */
struct structure;

/* Validates everything a later call relies on. Logs against `name` and returns STATUS_BAD_INPUT for damage, STATUS_UNSUPPORTED for another
 * version (named). On success *s is owned by the caller: structure_close(). */
enum status structure_open(const char *name, const uint8_t *bytes, size_t n_bytes, struct structure **s);
void structure_close(struct structure *s);

/* O(log n). False: the address is in no known code. */
bool structure_lookup(const struct structure *s, uint64_t link_addr, struct structure_place *place);
uint32_t structure_n_scopes(const struct structure *s);
/* id < structure_n_scopes(). */
struct structure_scope structure_get_scope(const struct structure *s, uint32_t id);
uint32_t structure_n_files(const struct structure *s);
/* Absolute path where the debug information gives one. */
const char *structure_get_file(const struct structure *s, uint32_t id);
/* The binary it was made from. build_id_bytes may be 0. */
const char *structure_binary(const struct structure *s);
const uint8_t *structure_build_id(const struct structure *s, size_t *build_id_bytes);
bool structure_has_lines(const struct structure *s);
/* Part of the debug information was there but could not be used; hpcstruct-lite has said why. */
bool structure_is_incomplete(const struct structure *s);

uint32_t structure_n_definitions(const struct structure *s);
/* The intervals in rising order of address; i < structure_n_intervals(). False: a gap, where nothing is known. */
size_t structure_n_intervals(const struct structure *s);
bool structure_get_interval(const struct structure *s, size_t i, uint64_t *start, uint64_t *end, struct structure_place *place);
/* Other names of functions, sorted by scope; i < structure_n_aliases(). Borrowed. */
size_t structure_n_aliases(const struct structure *s);
const char *structure_get_alias(const struct structure *s, size_t i, uint32_t *scope);

/* What a GPU function needs of the machine; 0: none, or not said. */
struct structure_resources {
	bool is_kernel;           /* it is launched; else it is called */
	uint32_t registers;       /* of a thread */
	uint32_t shared_bytes;    /* static, of a group */
	uint32_t frame_bytes;     /* local memory of a thread: of this function, ... */
	uint32_t stack_bytes;     /* ... and with what it calls, as far as the compiler could tell */
	uint32_t parameter_bytes;
	uint32_t max_threads;     /* of a group, where the source gives a bound */
	uint32_t barriers;
};
/* Of a function scope. False when nothing is known of it. O(log n). */
bool structure_get_resources(const struct structure *s, uint32_t scope, struct structure_resources *resources);

/* A call instruction of GPU code, at link_addr, to a function that is not inlined. The line of the call is what structure_lookup() says of link_addr. */
struct structure_call {
	uint64_t link_addr;
	uint32_t target;          /* the function scope; STRUCTURE_NONE: not known, as of calls through a pointer */
};
/* By rising address; i < structure_n_calls(). */
size_t structure_n_calls(const struct structure *s);
struct structure_call structure_get_call(const struct structure *s, size_t i);

/*
 * From a name to its function scope, as for a GPU's kernel, which a measurement knows by name. structure_index_names() comes once, before the structure is
 * shared between threads; STATUS_NO_MEMORY, logged against `name`, leaves it without index. Then structure_find_function() gives the function scope
 * whose linkage name is `name`, else the one whose shown name or alias it is; of several the one with the lowest id, and *is_ambiguous (may be NULL) is set.
 * STRUCTURE_NONE when there is none. O(1).
 */
enum status structure_index_names(struct structure *s, const char *name);
uint32_t structure_find_function(const struct structure *s, const char *name, bool *is_ambiguous);

/* Of what the file was made: equal fingerprints make equal files. "" where there is no separate debug file. */
uint64_t structure_fingerprint(const struct structure *s);
const char *structure_debug_file(const struct structure *s);
const char *structure_producer(const struct structure *s);
/* Size and modification time of the binary when it was read; what tells a changed binary when it has no build id. */
void structure_binary_stat(const struct structure *s, uint64_t *n_bytes, uint64_t *mtime_ns);

#define STRUCTURE_SUFFIX ".hpcstruct"
#define STRUCTURE_KEY_BYTES 80 /* enough for any key and its NUL */
/*
 * The file name, without suffix, of the structure of a binary: its build id, or a hash of path, size and modification time when it has none. A build id longer
 * than 32 bytes counts as its first 32. Measurement files hold the same facts of each module (struct msr_module).
 */
void structure_key(char key[STRUCTURE_KEY_BYTES], const uint8_t *build_id, size_t build_id_bytes, const char *path, uint64_t file_bytes,
	uint64_t mtime_ns);

#endif
