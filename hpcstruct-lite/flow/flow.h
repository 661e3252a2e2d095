/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow room: the instructions of one function that change the flow of control -> basic blocks -> loops and how they nest. Pure graph algorithms, for any machine: code
 * is a list of ranges of 32-bit positions. No recursion; time n log n for sorting n transfers, almost linear otherwise. Tests: tests/unit/test_flow.c (against
 * brute force on random graphs), tests/fuzz/fuzz_flow.c.
 */
#ifndef HPCSTRUCT_FLOW_FLOW_H
#define HPCSTRUCT_FLOW_FLOW_H

#include "common/base/vec.h"
#include "hpcstruct-lite/isa/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_NONE UINT32_MAX

/* Code of the function; `end` is exclusive. */
struct flow_range {
	uint32_t start, end;
};

/* An instruction that may go elsewhere than to the next one. */
struct flow_transfer {
	uint32_t at, end;      /* its first byte, and the one behind it */
	uint32_t target;       /* of jumps and direct calls; FLOW_NONE: unknown */
	uint8_t kind;          /* enum isa_kind, not ISA_PLAIN */
	bool is_conditional;
	bool never_returns;    /* calls */
};

/* Where an indirect jump goes. */
struct flow_edge {
	uint32_t at, target;   /* at: of the jump */
};

/* One function. Everything is borrowed. Ranges do not touch what is not the function's; a target outside of them leaves the function. */
struct flow_code {
	const struct flow_range *ranges;       /* rising, disjoint */
	const struct flow_transfer *transfers; /* rising, inside the ranges */
	const struct flow_edge *edges;         /* rising by `at` */
	size_t n_ranges, n_transfers, n_edges;
	uint32_t entry;        /* inside the ranges */
	bool with_unreached;   /* look at code, too, that nothing is seen to lead to: exception handlers, targets of jumps whose table was not found */
};

struct flow_block {
	uint32_t start, end;
	uint32_t transfer;        /* index of the transfer that ends it, FLOW_NONE: it runs into the next one */
	uint32_t first_successor; /* in flow.successors; those of block i end where those of block i + 1 start */
};

/* A loop: a header, and the blocks that reach it again without leaving. All ways back to one header are one loop. */
struct flow_loop {
	uint32_t header;       /* block */
	uint32_t parent;       /* the loop around it, a smaller index, or FLOW_NONE */
	uint32_t depth;        /* 0: outermost */
	bool is_irreducible;   /* can be entered elsewhere than at the header, which then is one entry of several */
};

/* Scratch: an edge in a list. */
struct flow_link {
	uint32_t from, to, next;
};

/* What is known of one function, and the memory for it, which is kept from one to the next. Zero-initialise. For one thread at a time. */
struct flow {
	VEC(struct flow_block) blocks;   /* rising; one more than there are, as the end of the last one's successors */
	VEC(uint32_t) successors;        /* blocks */
	VEC(struct flow_loop) loops;
	VEC(uint32_t) innermost;         /* by block: its loop or FLOW_NONE */
	uint32_t n_blocks, entry;
	VEC(uint32_t) leaders, words;    /* scratch */
	VEC(struct flow_link) links;     /* scratch */
};
void flow_free(struct flow *f);

/*
 * Cuts the code into blocks and finds their successors. A call ends a block only when it does not come back. False when memory is short.
 */
bool flow_build(struct flow *f, const struct flow_code *code);
/* The block that holds a position, or FLOW_NONE. */
uint32_t flow_block_at(const struct flow *f, uint32_t position);

/*
 * Finds the loops of what flow_build() made, outer ones first: G. Ramalingam, "Identifying Loops in Almost Linear Time", TOPLAS 21 (1999), his form of the algorithm of Havlak
 * (TOPLAS 19, 1997). Code that the entry does not lead to is looked at apart (with_unreached): its ways into the other code do not count as entries of loops
 * there. False when memory is short.
 */
bool flow_find_loops(struct flow *f, const struct flow_code *code);
/* True when `loop` is `inner` or around it; both may be FLOW_NONE, which is around everything and inside nothing else. */
bool flow_contains(const struct flow *f, uint32_t loop, uint32_t inner);

#endif
