/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops of all functions as scopes-to-be: where each belongs among the inlined calls, and its line. Nothing outside the scope room includes this. Test:
 * tests/cli/struct_loops.sh.
 */
#ifndef HPCSTRUCT_LITE_SCOPE_SCOPE_LOOPS_H
#define HPCSTRUCT_LITE_SCOPE_SCOPE_LOOPS_H

#include "hpcstruct-lite/scope/code_ranges.h"

/* Loops nested deeper than this count as code of the loop around them. */
#define LOOPS_MAX_DEPTH 64

struct loop {
	uint32_t parent;       /* the loop around it in the code: a smaller index in the same list, or SCOPE_NONE */
	uint32_t scope;        /* function or inlined call that it belongs to */
	uint32_t file, line;   /* SCOPE_NONE, 0: unknown */
	bool is_irreducible;
};

/* Code whose innermost loop is `loop`. */
struct loop_range {
	uint32_t start, end, loop;
};

/* Of one batch of functions, or of all of them. */
struct loops {
	VEC(struct loop) loops;
	VEC(struct loop_range) ranges;
};
void loops_free(struct loops *l);

/* The worker's own. */
struct loops_scratch;
struct loops_scratch *loops_scratch_new(void);
void loops_scratch_free(struct loops_scratch *s);
/* Appends the loops of a function. False when memory is short. */
bool loops_find(const struct code *c, const struct code_batch *b, const struct code_function *f, struct loops_scratch *s, struct loops *out);

#endif
