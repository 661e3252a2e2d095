/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for other warps. A warp waits at a barrier for warps that take a longer path to it. So the
 * causes are the ends of the paths that lead to the barrier, the longest first. Test:
 * tests/unit/struct/test_depend.c.
 */
#include "hpcstruct-lite/depend/depend_internal.h"

/*
 * BAR.SYNC.DEFER_BLOCKING lets the warp go on for some cycles. On an H200 a warp was held two
 * instructions and 18 cycles after it, and not at the instruction in between, 5 cycles after it.
 */
enum { DEFERRED_CYCLES = 20 };

static bool list_order(struct depend *d)
{
	const struct flow *f = d->flow;
	uint32_t n = f->n_blocks, depth = 0, at = n;
	vec_clear(&d->order);
	/* the order, the stack, and the next successor of each block */
	uint32_t *order = vec_extend(&d->order, 3 * (size_t)n + 1);
	if (!order)
		return false;
	uint32_t *stack = order + n, *next = stack + n;
	for (uint32_t i = 0; i < n; i++)
		next[i] = f->blocks.at[i].first_successor;
	if (f->entry != FLOW_NONE) {
		d->blocks.at[f->entry].order = 0;
		stack[depth++] = f->entry;
	}
	while (depth > 0) {
		uint32_t block = stack[depth - 1];
		if (next[block] < f->blocks.at[block + 1].first_successor) {
			uint32_t to = f->successors.at[next[block]++];
			if (d->blocks.at[to].order != FLOW_NONE)
				continue;
			d->blocks.at[to].order = 0;
			stack[depth++] = to;
			continue;
		}
		order[--at] = block;
		depth--;
	}
	for (uint32_t i = at; i < n; i++)
		d->blocks.at[order[i]].order = i;
	for (uint32_t i = 0; i < at; i++)
		order[i] = FLOW_NONE;
	return true;
}

/*
 * Returns the cycles from the last barrier in the block, or from the start of the block, to its
 * end.
 */
static uint32_t cycles_after_join(const struct depend *d, const struct depend_block *b)
{
	for (uint32_t i = b->first + b->n; b->has_join && i-- > b->first;)
		if (d->code.at[i].joins_warps)
			return b->cycles - d->before.at[i];
	return b->cycles;
}

bool depend_measure_paths(struct depend *d)
{
	if (!list_order(d))
		return false;
	for (uint32_t i = 0; i < d->flow->n_blocks; i++) {
		uint32_t block = d->order.at[i], longest = 0;
		if (block == FLOW_NONE)
			continue;
		struct depend_block *b = &d->blocks.at[block];
		for (uint32_t k = b->first_predecessor; k < b[1].first_predecessor; k++) {
			const struct depend_block *from = &d->blocks.at[d->predecessors.at[k]];
			if (from->order < i && from->longest > longest)
				longest = from->longest;
		}
		b->longest = cycles_after_join(d, b);
		if (!b->has_join && longest < UINT32_MAX - b->longest)
			b->longest += longest;
	}
	return true;
}

static uint32_t n_predecessors(const struct depend *d, uint32_t block)
{
	return d->blocks.at[block + 1].first_predecessor - d->blocks.at[block].first_predecessor;
}

static uint32_t n_successors(const struct depend *d, uint32_t block)
{
	return d->flow->blocks.at[block + 1].first_successor -
	       d->flow->blocks.at[block].first_successor;
}

/*
 * Returns the barrier that holds a warp at an instruction: this instruction, or one a few cycles
 * before it.
 */
static uint32_t barrier_before(const struct depend *d, const struct depend_block *b, uint32_t at)
{
	for (uint32_t i = at + 1; b->has_join && i-- > b->first;) {
		if (d->before.at[at] - d->before.at[i] > DEFERRED_CYCLES)
			break;
		if (d->code.at[i].joins_warps)
			return i;
	}
	return FLOW_NONE;
}

void depend_find_paths(struct depend *d, uint32_t block, uint32_t wait)
{
	uint32_t barrier = barrier_before(d, &d->blocks.at[block], wait);
	if (barrier == FLOW_NONE)
		return;
	uint32_t cycles = d->before.at[barrier];
	for (uint32_t i = barrier; i-- > d->blocks.at[block].first;)
		if (d->code.at[i].joins_warps)
			return; /* all warps take the same path from the previous barrier */
	while (n_predecessors(d, block) == 1) {
		uint32_t from = d->predecessors.at[d->blocks.at[block].first_predecessor];
		if (n_successors(d, from) > 1 || d->blocks.at[from].has_join || from >= block)
			break;
		block = from;
		cycles += d->blocks.at[block].cycles;
	}
	for (uint32_t i = d->blocks.at[block].first_predecessor;
	     i < d->blocks.at[block + 1].first_predecessor; i++) {
		const struct depend_block *from = &d->blocks.at[d->predecessors.at[i]];
		if (from->n > 0)
			depend_add(d, wait, from->first + from->n - 1, STRUCTURE_WAIT_WARPS,
				   from->longest + cycles, false);
	}
}
