/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the structure file (structs/<build id or hash>.hpcstruct), which says what the addresses of
 * a binary mean. doc/formats/structure.md is the specification. Only layout and pure functions on
 * bytes: no I/O. structure_open() validates the file once; after that every call is safe with any
 * address. Tests: tests/unit/common/test_structure.c, tests/fuzz/fuzz_structure.c.
 *
 * The core is an interval map: sorted addresses, each with the scope, file and line that are valid
 * up to the next address. Scopes form a tree: functions at the top, inlined calls and loops below.
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
	/* an inlined call; call_file and call_line are the call site in the parent */
	STRUCTURE_INLINE,
	STRUCTURE_LOOP      /* file and line are the loop's */
};

/* Where the information comes from. */
enum structure_origin {
	STRUCTURE_FROM_DWARF,
	STRUCTURE_FROM_SYMTAB,
	STRUCTURE_FROM_DYNSYM,
	STRUCTURE_FROM_PLT,
	STRUCTURE_FROM_EH_FRAME, /* the name is invented: "<unknown at 0x1234>" */
	/* the binary is source text; addresses are offsets in it. Since 1.1 */
	STRUCTURE_FROM_SOURCE,
	STRUCTURE_FROM_CODE,     /* loops. Since 1.1 */
	STRUCTURE_FROM_GO        /* Go's table of functions. Since 1.1; no longer written */
};

/* A decoded scope. Its strings are borrowed from the bytes of the file. */
struct structure_scope {
	enum structure_scope_kind kind;
	enum structure_origin origin;
	uint32_t parent;
	/* Equal for all scopes of the same function; less than structure_n_definitions(). */
	uint32_t definition;
	const char *name;         /* demangled */
	const char *linkage_name; /* "" if it equals the name */
	uint32_t file, line;      /* of the definition; STRUCTURE_NONE, 0: unknown */
	uint32_t call_file, call_line;
	uint64_t entry; /* link address of the function's entry, or of the lowest instruction */
	bool is_irreducible;      /* loops: it has several entries */
};

/* What an address belongs to. */
struct structure_place {
	uint32_t scope;           /* innermost scope; STRUCTURE_NONE: in no known function */
	uint32_t file, line;      /* source line; STRUCTURE_NONE, 0: unknown */
};

/* An open file: views into bytes that the caller must keep alive and unchanged. */
struct structure;

/*
 * Validates everything that later calls rely on. Logs an error with `name` and returns
 * STATUS_BAD_INPUT for a damaged file, STATUS_UNSUPPORTED for another version. On success the
 * caller owns *s and must call structure_close().
 */
enum status structure_open(const char *name, const uint8_t *bytes, size_t n_bytes,
			   struct structure **s);
void structure_close(struct structure *s);

/* Looks up an address in O(log n). Returns false if it is in no known code. */
bool structure_lookup(const struct structure *s, uint64_t link_addr, struct structure_place *place);
uint32_t structure_n_scopes(const struct structure *s);
/* `id` must be less than structure_n_scopes(). */
struct structure_scope structure_get_scope(const struct structure *s, uint32_t id);
uint32_t structure_n_files(const struct structure *s);
/* An absolute path if the debug information has one. */
const char *structure_get_file(const struct structure *s, uint32_t id);
/* The binary that the file describes. build_id_bytes may be 0. */
const char *structure_binary(const struct structure *s);
const uint8_t *structure_build_id(const struct structure *s, size_t *build_id_bytes);
bool structure_has_lines(const struct structure *s);
/* Some debug information existed but could not be used; hpcstruct-lite has reported why. */
bool structure_is_incomplete(const struct structure *s);
/*
 * The file has only the functions that were asked for. structure_n_regions() and
 * structure_get_region() list the analysed code, in ascending order.
 */
bool structure_is_partial(const struct structure *s);
size_t structure_n_regions(const struct structure *s);
void structure_get_region(const struct structure *s, size_t i, uint64_t *start, uint64_t *end);

uint32_t structure_n_definitions(const struct structure *s);
/*
 * The intervals in ascending order of address; i < structure_n_intervals(). Returns false for a
 * gap, about which nothing is known.
 */
size_t structure_n_intervals(const struct structure *s);
bool structure_get_interval(const struct structure *s, size_t i, uint64_t *start, uint64_t *end,
			    struct structure_place *place);
/* Other names of functions, sorted by scope; i < structure_n_aliases(). Borrowed. */
size_t structure_n_aliases(const struct structure *s);
const char *structure_get_alias(const struct structure *s, size_t i, uint32_t *scope);

/* Resources that a GPU function needs; 0: none, or unknown. */
struct structure_resources {
	bool is_kernel;           /* the host launches it; otherwise GPU code calls it */
	uint32_t registers;       /* per thread */
	uint32_t shared_bytes;    /* static, per group */
	uint32_t frame_bytes;     /* local memory per thread, of this function alone */
	uint32_t stack_bytes;     /* ... and with its callees, as far as the compiler knew */
	uint32_t parameter_bytes;
	uint32_t max_threads;     /* per group, if the source gives a limit */
	uint32_t barriers;
};
/* The resources of a function scope, in O(log n). Returns false if nothing is known. */
bool structure_get_resources(const struct structure *s, uint32_t scope,
			     struct structure_resources *resources);

/*
 * A call instruction at link_addr. In GPU code it calls a function that is not inlined. In host
 * code it calls the PLT stub of an OpenMP function. structure_lookup() finds its source line.
 */
struct structure_call {
	uint64_t link_addr;
	/* the function scope; STRUCTURE_NONE: unknown, such as a call through a pointer */
	uint32_t target;
};
/* In ascending order of address; i < structure_n_calls(). */
size_t structure_n_calls(const struct structure *s);
struct structure_call structure_get_call(const struct structure *s, size_t i);

/*
 * What instructions of GPU code wait for. Known for cubins of sm_70 and later. doc/dependencies.md
 * says how we find it and what the kinds and operations mean.
 */
enum structure_wait_kind {
	STRUCTURE_WAIT_RESULT,   /* the cause writes a register after a varying time: a load */
	STRUCTURE_WAIT_OPERANDS, /* the cause still has to read its operands: a store */
	STRUCTURE_WAIT_FIXED,    /* the cause writes a register after a known number of cycles */
	STRUCTURE_WAIT_WARPS,    /* a barrier: the cause ends a path into it */
	/* threads of a warp that took different paths are together again; the cause began that */
	STRUCTURE_WAIT_PATHS,
	STRUCTURE_N_WAIT_KINDS
};

/* What the instruction does that causes the wait. */
enum structure_operation {
	STRUCTURE_OTHER_OPERATION,
	STRUCTURE_ARITHMETIC,    /* of integers, floats, predicates; moves */
	STRUCTURE_DOUBLE,        /* arithmetic of doubles */
	STRUCTURE_TENSOR,        /* matrix operations */
	STRUCTURE_MUFU,          /* reciprocal, root, sine and the like */
	STRUCTURE_CONVERSION,    /* between types; bit counts */
	STRUCTURE_SPECIAL,       /* reads a special register: clock, index of the thread */
	STRUCTURE_UNIFORM,       /* moves between warp-wide and thread registers */
	STRUCTURE_SHUFFLE,       /* exchanges values in a warp: SHFL, VOTE, MATCH, REDUX */
	STRUCTURE_GLOBAL_LOAD,
	STRUCTURE_GLOBAL_STORE,
	STRUCTURE_GLOBAL_ATOMIC,
	STRUCTURE_LOCAL_LOAD,    /* spilled registers, arrays of a thread */
	STRUCTURE_LOCAL_STORE,
	STRUCTURE_SHARED_LOAD,
	STRUCTURE_SHARED_STORE,
	STRUCTURE_SHARED_ATOMIC,
	STRUCTURE_GENERIC_LOAD,  /* the address says at run time which memory it is */
	STRUCTURE_GENERIC_STORE,
	STRUCTURE_GENERIC_ATOMIC,
	STRUCTURE_CONSTANT_LOAD,
	STRUCTURE_TEXTURE,
	STRUCTURE_SURFACE,
	STRUCTURE_ASYNC_COPY,    /* from global to shared memory, or back */
	STRUCTURE_TENSOR_MEMORY, /* Blackwell's memory of the tensor cores */
	STRUCTURE_FENCE,         /* MEMBAR and cache control */
	STRUCTURE_BARRIER,       /* BAR, and barriers in shared memory */
	STRUCTURE_BRANCH,
	STRUCTURE_CALL,          /* the wait is for something in the called function */
	STRUCTURE_STRONG_LOAD,   /* global or generic, past the caches of the SM: volatile */
	STRUCTURE_DIVISION,      /* conversion that begins an integer division */
	STRUCTURE_N_OPERATIONS
};
/* A short English name in lower case, such as "global load". */
const char *structure_operation_name(enum structure_operation operation);

struct structure_cause {
	uint64_t link_addr;
	enum structure_wait_kind kind; /* STRUCTURE_N_WAIT_KINDS: of a newer version */
	enum structure_operation operation;
	/*
	 * The fewest cycles in which a warp can issue the instructions from the cause to the wait,
	 * on the shortest way. For STRUCTURE_WAIT_WARPS: on the longest way through the cause, from
	 * the previous barrier to this one, with each loop once. 65535: that many or more.
	 */
	uint32_t cycles;
	/* The waiting instruction reads the result; for OPERANDS, overwrites the operand. */
	bool is_used;
	bool is_carried;         /* the cause is in an earlier iteration of a loop around both */
	uint32_t bytes;          /* that a load or store moves for a thread; 0: unknown */
	/* A load in a loop. Its address depends on a value it loaded in an earlier iteration. */
	bool is_chained;
};

/* An instruction that waits, and its causes first .. first + n - 1, the most likely one first. */
struct structure_wait {
	uint64_t link_addr;
	size_t first, n;         /* n > 0 */
};
/* In ascending order of address; i < structure_n_waits(). */
size_t structure_n_waits(const struct structure *s);
struct structure_wait structure_get_wait(const struct structure *s, size_t i);
/* The wait at exactly this address, in O(log n). Returns false if no cause is known. */
bool structure_find_wait(const struct structure *s, uint64_t link_addr,
			 struct structure_wait *wait);
struct structure_cause structure_get_cause(const struct structure *s, size_t i);

/*
 * Finds function scopes by name; a measurement knows a GPU kernel only by its name.
 *
 * Call structure_index_names() once before several threads use the structure. If there is no
 * memory, it logs that with `name`, returns STATUS_NO_MEMORY, and there is no index.
 * structure_find_function() returns the scope with this linkage name, or else one with this name
 * or alias. If there are several, it returns the lowest id and sets *is_ambiguous (may be NULL).
 * O(1). Returns STRUCTURE_NONE if there is none.
 */
enum status structure_index_names(struct structure *s, const char *name);
uint32_t structure_find_function(const struct structure *s, const char *name, bool *is_ambiguous);

/*
 * The inputs of the file. Equal fingerprints mean equal files. structure_debug_file() is "" if
 * there is no separate debug file.
 */
uint64_t structure_fingerprint(const struct structure *s);
const char *structure_debug_file(const struct structure *s);
const char *structure_producer(const struct structure *s);
/*
 * Size and modification time of the binary when it was analysed. They identify a binary without
 * build id.
 */
void structure_binary_stat(const struct structure *s, uint64_t *n_bytes, uint64_t *mtime_ns);

#define STRUCTURE_SUFFIX ".hpcstruct"
#define STRUCTURE_KEY_BYTES 80 /* enough for any key and its NUL */
/*
 * Makes the file name, without suffix, of a binary's structure file: its build id, cut to 32 bytes,
 * or a hash of path, size, modification time and content if it has none. `content` is the hash of
 * common/safe/content_hash.h; 0: unknown, as in measurements before 1.7. Measurement files have the
 * same facts about each module (struct msr_module).
 */
void structure_key(char key[STRUCTURE_KEY_BYTES], const uint8_t *build_id, size_t build_id_bytes,
		   const char *path, uint64_t file_bytes, uint64_t mtime_ns, uint64_t content);

#endif
