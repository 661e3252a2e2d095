/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow room takes the instructions of one function that change the flow of control. From them
 * it makes basic blocks, then loops and their nesting. Pure graph algorithms for any machine: code
 * is a list of ranges of 32-bit positions. No recursion. Sorting n transfers takes n log n time;
 * the rest is almost linear. Tests: tests/unit/struct/test_flow.c (against brute force on random
 * graphs), tests/fuzz/fuzz_flow.c.
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

/* An instruction that may continue elsewhere than at the next one. */
struct flow_transfer {
	uint32_t at, end;      /* its first byte, and the byte after it */
	uint32_t target;       /* of jumps and direct calls; FLOW_NONE: unknown */
	uint8_t kind;          /* enum isa_kind, but not ISA_PLAIN */
	bool is_conditional;
	bool never_returns;    /* for calls */
};

/* A target of an indirect jump. */
struct flow_edge {
	uint32_t at, target;   /* at: position of the jump */
};

/*
 * One function. Everything is borrowed. The ranges contain no other function's code. A target
 * outside the ranges leaves the function.
 */
struct flow_code {
	const struct flow_range *ranges;       /* rising and disjoint */
	const struct flow_transfer *transfers; /* rising, inside the ranges */
	const struct flow_edge *edges;         /* sorted by `at` */
	size_t n_ranges, n_transfers, n_edges;
	uint32_t entry;        /* inside the ranges */
	/*
	 * include code without a known way to it: exception handlers, targets of jumps with unknown
	 * tables
	 */
	bool with_unreached;
};

struct flow_block {
	uint32_t start, end;
	/* index of the transfer at its end; FLOW_NONE: continues with the next block */
	uint32_t transfer;
	/* in flow.successors; the successors of block i end where those of block i + 1 start */
	uint32_t first_successor;
};

/*
 * A loop: a header, and the blocks that can return to it without leaving. All back edges to one
 * header form one loop.
 */
struct flow_loop {
	uint32_t header;       /* a block */
	uint32_t parent;       /* the enclosing loop, a smaller index, or FLOW_NONE */
	uint32_t depth;        /* 0: outermost */
	bool is_irreducible;   /* it has several entries, and the header is one of them */
};

/* Scratch memory: an edge in a list. */
struct flow_link {
	uint32_t from, to, next;
};

/*
 * The result for one function. Its memory is reused for the next function. Zero-initialise it. One
 * thread at a time may use it.
 */
struct flow {
	/* rising; one extra block marks the end of the last one's successors */
	VEC(struct flow_block) blocks;
	VEC(uint32_t) successors;        /* blocks */
	VEC(struct flow_loop) loops;
	VEC(uint32_t) innermost;         /* by block: its innermost loop, or FLOW_NONE */
	uint32_t n_blocks, entry;
	VEC(uint32_t) leaders, words;    /* scratch */
	VEC(struct flow_link) links;     /* scratch */
};
void flow_free(struct flow *f);

/*
 * Divides the code into blocks and finds their successors. A call ends a block only if it does not
 * return. Returns false when out of memory.
 */
bool flow_build(struct flow *f, const struct flow_code *code);
/* Returns the block that holds a position, or FLOW_NONE. */
uint32_t flow_block_at(const struct flow *f, uint32_t position);

/*
 * Finds the loops in the result of flow_build(), outer loops first. The algorithm is Ramalingam's
 * form of Havlak's (TOPLAS 19, 1997): G. Ramalingam, "Identifying Loops in Almost Linear Time",
 * TOPLAS 21 (1999). With with_unreached, code that the entry does not reach is examined separately:
 * its edges into the other code do not count as loop entries there. Returns false when out of
 * memory.
 */
bool flow_find_loops(struct flow *f, const struct flow_code *code);
/*
 * Returns true if `loop` is `inner` or encloses it. Both may be FLOW_NONE, which encloses
 * everything and is inside nothing else.
 */
bool flow_contains(const struct flow *f, uint32_t loop, uint32_t inner);

#endif
