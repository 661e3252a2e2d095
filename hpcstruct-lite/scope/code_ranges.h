/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code of each function of a map, decoded: what changes the flow of control, where switch statements jump, which functions never return. Nothing outside the scope
 * room includes this. Test: tests/cli/struct_loops.sh.
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
	bool is_bounded;       /* else it ends where another table starts, at the latest */
	size_t first_target, n_targets; /* in the batch's; in the order of the entries when it is not bounded */
};

struct code_function {
	uint32_t scope;        /* the function's */
	uint32_t entry;        /* position */
	size_t first_range, n_ranges;       /* in the map's */
	size_t first_transfer, n_transfers; /* in the batch's, as all below */
	size_t first_table, n_tables;
	size_t first_out, n_out;            /* jumps out of the function */
	bool is_whole;         /* every byte was decoded, every jump leads to an instruction */
	bool has_way_out;      /* returns, jumps to where is not known, or runs beyond its end */
};

/* Functions that one worker decodes together. */
struct code_batch {
	size_t first, n;       /* functions */
	VEC(struct flow_transfer) transfers;
	VEC(struct code_table) tables;
	VEC(uint32_t) targets; /* positions */
	VEC(uint32_t) outs;    /* positions */
	bool failed;           /* memory was short */
};

/* Bytes of a section that holds code. */
struct code_piece {
	uint32_t start, end;
	uint64_t link_addr;
	const uint8_t *bytes;
};

struct code {
	const struct scope_map *map;
	const struct isa *isa;
	uint32_t *roots, *depths;  /* by scope: its function, and how far it is below it */
	VEC(struct code_piece) pieces;
	VEC(struct flow_range) ranges; /* by function, rising */
	VEC(struct code_function) functions;
	VEC(struct code_batch) batches;
	struct branches branches;  /* of a cubin: targets of indirect jumps */
	VEC(uint64_t) tables;      /* addresses of all tables, rising */
	VEC(uint32_t) dead_ends;   /* entries of functions that never return, rising */
};

/* Decodes all functions of the map. False when memory is short; code_free() in any case. */
bool code_read(struct code *c, const struct scope_map *map, const struct isa *isa, unsigned n_workers);
void code_free(struct code *c);
/*
 * Completes the transfers of a function with what is known of all (calls that never return), and makes it the input of flow. `edges` is the caller's memory for the targets of
 * switch statements. False when memory is short.
 */
struct code_edges {
	struct flow_edge *at;
	size_t n, capacity;
};
bool code_prepare(const struct code *c, const struct code_batch *b, const struct code_function *f, struct code_edges *edges, struct flow_code *out);
/* Index of the interval that holds a position which the map knows. */
size_t code_interval_at(const struct code *c, uint32_t position);

#endif
