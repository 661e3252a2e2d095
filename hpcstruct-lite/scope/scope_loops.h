/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the loops of all functions, before they become scopes: the place of each loop among the
 * inlined calls, and its line. Nothing outside the scope room includes this file. Test:
 * tests/cli/struct/struct_loops.sh.
 */
#ifndef HPCSTRUCT_LITE_SCOPE_SCOPE_LOOPS_H
#define HPCSTRUCT_LITE_SCOPE_SCOPE_LOOPS_H

#include "hpcstruct-lite/scope/code_ranges.h"

/* Loops nested deeper than this count as code of the enclosing loop. */
#define LOOPS_MAX_DEPTH 64

struct loop {
	/* the enclosing loop, a smaller index in the same list, or SCOPE_NONE */
	uint32_t parent;
	uint32_t scope;        /* the enclosing function or inlined call */
	uint32_t file, line;   /* SCOPE_NONE and 0: unknown */
	bool is_irreducible;
};

/* Code with the innermost loop `loop`. */
struct loop_range {
	uint32_t start, end, loop;
};

/* The loops of one batch of functions, or of all of them. */
struct loops {
	VEC(struct loop) loops;
	VEC(struct loop_range) ranges;
};
void loops_free(struct loops *l);

/* Scratch memory. Each worker has its own. */
struct loops_scratch;
struct loops_scratch *loops_scratch_new(void);
void loops_scratch_free(struct loops_scratch *s);
/* Returns blocks and loops of the last function. */
const struct flow *loops_flow(const struct loops_scratch *s);
/* Appends the loops of a function. Returns false when out of memory. */
bool loops_find(const struct code *c, const struct code_batch *b, const struct code_function *f,
	struct loops_scratch *s, struct loops *out);

#endif
