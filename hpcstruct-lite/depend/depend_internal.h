/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the depend room. Only the room includes this file. */
#ifndef HPCSTRUCT_DEPEND_DEPEND_INTERNAL_H
#define HPCSTRUCT_DEPEND_DEPEND_INTERNAL_H

#include "hpcstruct-lite/depend/depend.h"

/* Instructions of a block that hold a barrier at its end, kept for each barrier. */
#define DEPEND_MAX_OPEN 12
/* Most blocks that the search for one barrier of one wait examines. */
#define DEPEND_MAX_BLOCKS 256

struct depend_block {
	uint32_t first, n; /* instructions */
	uint32_t cycles;   /* of all of them */
	uint32_t longest;  /* cycles from the last barrier of warps to the end of the block */
	uint32_t order;    /* in reverse postorder; FLOW_NONE: not reached */
	bool is_waited[SASS_N_BARRIERS];
	bool has_join; /* a barrier of warps */
	/* in d->open, the last instruction first */
	uint32_t first_open[SASS_N_BARRIERS];
	uint8_t n_open[SASS_N_BARRIERS];
	uint32_t first_predecessor; /* in d->predecessors; they end where the next block's start */
};

/* A block to examine, `cycles` before the wait. */
struct depend_step {
	uint32_t cycles, block;
	bool is_carried;
};

struct depend {
	const struct flow *flow;
	VEC(struct sass_instruction) code;
	VEC(uint32_t) positions;         /* by instruction */
	VEC(uint32_t) before;            /* by instruction: cycles from the start of its block */
	/* an extra one at the end ends the last block's predecessors */
	VEC(struct depend_block) blocks;
	VEC(uint32_t) predecessors;
	VEC(uint32_t) open; /* instructions */
	VEC(uint32_t) seen; /* by block: the last search that met it */
	VEC(struct depend_step) heap;
	VEC(uint32_t) order; /* blocks in reverse postorder; scratch before */
	VEC(uint32_t) joined; /* by instruction: the BSSY whose threads meet there; FLOW_NONE */
	VEC(bool) is_chained; /* by instruction: see struct structure_cause */
	uint32_t search;     /* number of the current search */
	struct depend_cause found[4 * DEPEND_MAX_CAUSES]; /* by the current wait */
	uint32_t n_found;
};

/* Adds a cause of the current wait, unless it is already in the list. */
void depend_add(struct depend *d, uint32_t wait, uint32_t cause, enum structure_wait_kind kind,
		uint32_t cycles, bool is_carried);

/* The three ways to wait. depend_find_holders() returns false when out of memory. */
struct depend_end {
	bool was_cut;     /* there were more blocks than DEPEND_MAX_BLOCKS */
	bool has_entered; /* a path from the entry has no earlier wait for the barrier */
};
bool depend_find_holders(struct depend *d, uint32_t block, uint32_t wait, unsigned barrier,
			 struct depend_end *end);
void depend_find_latency(struct depend *d, uint32_t block, uint32_t wait);
void depend_find_paths(struct depend *d, uint32_t block, uint32_t wait);
/* Fills `is_chained`. Returns false when out of memory. */
bool depend_find_chains(struct depend *d);
/* Fills `order` and `longest` of all blocks. Returns false when out of memory. */
bool depend_measure_paths(struct depend *d);

/*
 * Returns true if an instruction may hold a barrier. We do not know what a called function holds.
 */
static inline bool depend_holds(const struct sass_instruction *i, uint8_t bit)
{
	return ((i->results | i->operands) & bit) || i->operation == STRUCTURE_CALL;
}

static inline uint32_t depend_stall(const struct sass_instruction *i)
{
	return i->stall > 0 ? i->stall : 1;
}

#endif
