/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for a fixed latency: the stall count of the previous instruction delays the warp until a
 * register has been written. The cause is the last instruction that writes a register which the
 * waiting instruction reads. It is not listed if it is the previous instruction, because readers
 * assume that without a listed cause. Test: tests/unit/struct/test_depend.c.
 */
#include "hpcstruct-lite/depend/depend_internal.h"

enum { MIN_STALL = 2, MAX_CYCLES = 40, MAX_BLOCKS = 3 };

/*
 * Upper bounds of latencies, taken from the stall counts that compilers write for sm_75 to sm_120.
 * A delay that starts later after the instruction was issued has another reason.
 */
static uint32_t max_latency(const struct sass_instruction *s)
{
	switch (s->operation) {
	case STRUCTURE_TENSOR: return MAX_CYCLES;
	case STRUCTURE_DOUBLE: return 18;
	case STRUCTURE_ARITHMETIC:
		/* a predicate takes longer than a register */
		return s->n_writes > 0 && s->writes[s->n_writes - 1].first >= SASS_P ? 14 : 7;
	default: return 14;
	}
}

/* Returns the block from which control falls through into this one, or FLOW_NONE. */
static uint32_t block_before(const struct depend *d, uint32_t block)
{
	for (uint32_t i = d->blocks.at[block].first_predecessor;
	     i < d->blocks.at[block + 1].first_predecessor; i++)
		if (d->predecessors.at[i] + 1 == block)
			return block - 1;
	return FLOW_NONE;
}

void depend_find_latency(struct depend *d, uint32_t block, uint32_t wait)
{
	const struct sass_instruction *w = &d->code.at[wait];
	uint32_t cycles = 0, delay = 0, at = wait;
	for (int k = 0; k < MAX_BLOCKS && block != FLOW_NONE; k++) {
		const struct depend_block *b = &d->blocks.at[block];
		while (at-- > b->first) {
			const struct sass_instruction *s = &d->code.at[at];
			if (cycles == 0)
				delay = s->stall;
			if (delay < MIN_STALL)
				return;
			cycles += depend_stall(s);
			if (cycles > MAX_CYCLES)
				return;
			if (!sass_overlap(s->writes, s->n_writes, w->reads, w->n_reads))
				continue;
			bool is_next = d->positions.at[at] + SASS_BYTES == d->positions.at[wait];
			if (s->results == 0 && !is_next && cycles - delay < max_latency(s))
				depend_add(d, wait, at, STRUCTURE_WAIT_FIXED, cycles, false);
			return;
		}
		block = block_before(d, block);
		if (block != FLOW_NONE)
			at = d->blocks.at[block].first + d->blocks.at[block].n;
	}
}
