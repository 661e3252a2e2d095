/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds loads that form a chain: in a loop, the address of a load depends on a value that it loaded
 * in an earlier iteration. Follows the loaded values forward through the registers of the load's
 * innermost loop, for 64 loads at a time, until nothing new is found. Does not follow values
 * through memory. Test: tests/unit/struct/test_depend.c.
 */
#include "hpcstruct-lite/depend/depend_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LOADS = 64, MOST_ROUNDS = 8, MOST_BLOCKS = 64 };
/* Most blocks to examine for all loops of a function. */
#define MOST_STEPS (UINT64_C(1) << 24)

/* By register: the set of loads that its value depends on. */
struct origins {
	uint64_t of[SASS_N_REGISTERS];
};

/* The loads of one loop, 64 at a time. */
struct pass {
	struct depend *d;
	uint32_t blocks[MOST_BLOCKS];
	uint32_t n_blocks;
	uint32_t loads[MOST_LOADS]; /* instructions */
	unsigned n_loads;
	struct origins starts[MOST_BLOCKS]; /* of each block */
};

/* Returns true for loads from memory outside the SM. Programs have to hide their latency. */
static bool is_load(const struct sass_instruction *i)
{
	switch (i->operation) {
	case STRUCTURE_GLOBAL_LOAD:
	case STRUCTURE_STRONG_LOAD:
	case STRUCTURE_GLOBAL_ATOMIC:
	case STRUCTURE_GENERIC_LOAD:
	case STRUCTURE_GENERIC_ATOMIC:
	case STRUCTURE_TEXTURE: return true;
	default: return false;
	}
}

static uint64_t origins_of(const struct origins *o, const struct sass_registers *r)
{
	uint64_t set = 0;
	for (unsigned i = r->first; i < (unsigned)r->first + r->n && i < SASS_N_REGISTERS; i++)
		set |= o->of[i];
	return set;
}

/* Returns the bit of a load that this pass follows; 0: it does not follow this instruction. */
static uint64_t bit_of(const struct pass *p, uint32_t instruction)
{
	for (unsigned i = 0; i < p->n_loads; i++)
		if (p->loads[i] == instruction)
			return UINT64_C(1) << i;
	return 0;
}

/* Every register that an instruction writes depends on all registers that it reads. */
static void follow(const struct pass *p, uint32_t instruction, struct origins *o)
{
	const struct sass_instruction *i = &p->d->code.at[instruction];
	uint64_t self = is_load(i) ? bit_of(p, instruction) : 0, all = self, address = 0;
	for (unsigned k = 0; k < i->n_reads; k++) {
		uint64_t of = origins_of(o, &i->reads[k]);
		address |= i->reads[k].first < SASS_P ? of : 0;
		all |= of;
	}
	if (address & self)
		p->d->is_chained.at[instruction] = true;
	for (unsigned k = 0; k < i->n_writes; k++)
		for (unsigned r = 0; r < i->writes[k].n; r++) {
			unsigned to = i->writes[k].first + r;
			if (to < SASS_N_REGISTERS)
				o->of[to] = i->is_conditional ? o->of[to] | all : all;
		}
}

static bool merge(struct origins *to, const struct origins *from)
{
	uint64_t new = 0;
	for (unsigned r = 0; r < SASS_N_REGISTERS; r++) {
		new |= from->of[r] & ~to->of[r];
		to->of[r] |= from->of[r];
	}
	return new != 0;
}

/* Adds the origins at the end of a block to the starts of its successors in the loop. */
static bool pass_on(struct pass *p, uint32_t block, const struct origins *end)
{
	const struct flow *f = p->d->flow;
	bool is_new = false;
	for (uint32_t k = f->blocks.at[block].first_successor;
	     k < f->blocks.at[block + 1].first_successor; k++)
		for (uint32_t to = 0; to < p->n_blocks; to++)
			if (p->blocks[to] == f->successors.at[k])
				is_new |= merge(&p->starts[to], end);
	return is_new;
}

static void run(struct pass *p)
{
	struct origins at;
	bool is_new = p->n_loads > 0;
	memset(p->starts, 0, p->n_blocks * sizeof p->starts[0]);
	for (unsigned round = 0; is_new && round < MOST_ROUNDS; round++) {
		is_new = false;
		for (uint32_t b = 0; b < p->n_blocks; b++) {
			const struct depend_block *block = &p->d->blocks.at[p->blocks[b]];
			at = p->starts[b];
			for (uint32_t i = 0; i < block->n; i++)
				follow(p, block->first + i, &at);
			is_new |= pass_on(p, p->blocks[b], &at);
		}
	}
	p->n_loads = 0;
}

/* Lists the blocks of a loop. Returns false if there are too many. */
static bool list_blocks(struct pass *p, uint32_t loop)
{
	const struct flow *f = p->d->flow;
	p->n_blocks = 0;
	for (uint32_t b = 0; b < f->n_blocks; b++) {
		if (!flow_contains(f, loop, f->innermost.at[b]))
			continue;
		if (p->n_blocks == MOST_BLOCKS)
			return false;
		p->blocks[p->n_blocks++] = b;
	}
	return true;
}

static void find_in(struct pass *p, uint32_t loop)
{
	const struct depend *d = p->d;
	p->n_loads = 0;
	if (!list_blocks(p, loop))
		return;
	for (uint32_t b = 0; b < p->n_blocks; b++) {
		const struct depend_block *block = &d->blocks.at[p->blocks[b]];
		if (d->flow->innermost.at[p->blocks[b]] != loop)
			continue;
		for (uint32_t i = block->first; i < block->first + block->n; i++) {
			if (!is_load(&d->code.at[i]))
				continue;
			p->loads[p->n_loads++] = i;
			if (p->n_loads == MOST_LOADS)
				run(p);
		}
	}
	run(p);
}

bool depend_find_chains(struct depend *d)
{
	vec_clear(&d->is_chained);
	if (!d->code.n)
		return true;
	if (!vec_extend(&d->is_chained, d->code.n))
		return false;
	memset(d->is_chained.at, 0, d->code.n * sizeof *d->is_chained.at);
	struct pass *p = d->flow->loops.n ? malloc(sizeof *p) : NULL;
	if (!p)
		return !d->flow->loops.n;
	p->d = d;
	for (uint32_t loop = 0;
	     loop < d->flow->loops.n && (uint64_t)loop * d->flow->n_blocks < MOST_STEPS; loop++)
		find_in(p, loop);
	free(p);
	return true;
}
