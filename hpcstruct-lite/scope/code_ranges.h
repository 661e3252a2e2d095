/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes the code of each function of a map. Finds what changes the flow of control, where switch
 * statements jump, and which functions never return. Nothing outside the scope room includes this
 * file. Test: tests/cli/struct/struct_loops.sh.
 */
#ifndef HPCSTRUCT_LITE_SCOPE_CODE_RANGES_H
#define HPCSTRUCT_LITE_SCOPE_CODE_RANGES_H

#include "hpcstruct-lite/flow/flow.h"
#include "hpcstruct-lite/isa/isa.h"
#include "hpcstruct-lite/scope/branches.h"
#include "hpcstruct-lite/scope/scope_internal.h"

/* A jump table with the entries that lead to instructions of the function. */
struct code_table {
	uint32_t jump;         /* position */
	uint64_t base;
	uint8_t entry_bytes;
	bool is_bounded;       /* otherwise it ends at the latest where another table starts */
	/* in the batch's `targets`; in the order of the entries if not bounded */
	size_t first_target, n_targets;
};

struct code_function {
	uint32_t scope;        /* scope of the function */
	uint32_t entry;        /* position */
	size_t first_range, n_ranges;       /* in the map's list */
	size_t first_transfer, n_transfers; /* in the batch's list, like all below */
	size_t first_table, n_tables;
	size_t first_out, n_out;            /* jumps out of the function */
	bool is_whole;         /* every byte was decoded, and every jump leads to an instruction */
	bool has_way_out;      /* it returns, jumps to an unknown address, or runs beyond its end */
};

struct code_functions {
	VEC(struct code_function);
};

/* Functions that one worker decodes together. */
struct code_batch {
	size_t first, n;       /* functions */
	VEC(struct flow_transfer) transfers;
	VEC(struct code_table) tables;
	VEC(uint32_t) targets; /* positions */
	VEC(uint32_t) outs;    /* positions */
	bool failed;           /* it ran out of memory */
};

/* Bytes of a section that contains code. */
struct code_piece {
	uint32_t start, end;
	uint64_t link_addr;
	const uint8_t *bytes;
};

struct code {
	const struct scope_map *map;
	const struct isa *isa;
	uint32_t *roots, *depths;  /* by scope: its function, and its depth below that function */
	VEC(struct code_piece) pieces;
	VEC(struct flow_range) ranges; /* by function, in rising order */
	struct code_functions functions;
	/* the first functions are wanted; of the others only whether they return matters */
	size_t n_wanted;
	VEC(struct code_batch) batches;
	struct branches branches;  /* targets of indirect jumps, if the image is a cubin */
	VEC(uint64_t) tables;      /* addresses of all tables, in rising order */
	VEC(uint32_t) dead_ends;   /* entries of functions that never return, in rising order */
};

/*
 * Decodes all functions of the map, or only those that the loops of the wanted functions depend on.
 * Returns false when out of memory. The caller calls code_free() in both cases.
 */
bool code_read(struct code *c, const struct scope_map *map, const struct isa *isa,
	unsigned n_workers);
void code_free(struct code *c);

/*
 * Chooses the functions to decode. code_needed_new() removes all functions of `c` but the wanted
 * ones. code_needed_follow() adds those that the functions decoded since the last call jump to, or
 * that wanted ones call. NULL or false when out of memory.
 */
struct code_needed;
struct code_needed *code_needed_new(struct code *c);
bool code_needed_follow(struct code_needed *n);
void code_needed_free(struct code_needed *n);
/*
 * Makes a function the input of flow. Completes its transfers with knowledge of all functions
 * (calls that never return). `edges` is the caller's memory for the targets of switch statements.
 * Returns false when out of memory.
 */
struct code_edges {
	VEC(struct flow_edge);
};
bool code_prepare(const struct code *c, const struct code_batch *b, const struct code_function *f,
	struct code_edges *edges, struct flow_code *out);
/* Returns the bytes of the code at a position that is in a function. */
const uint8_t *code_bytes_at(const struct code *c, uint32_t position);
/* Returns the index of the interval that holds a position. The map must know the position. */
size_t code_interval_at(const struct code *c, uint32_t position);

#endif
