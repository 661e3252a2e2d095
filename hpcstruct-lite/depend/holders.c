/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the instructions that hold a barrier that another instruction waits for. A barrier is a
 * counter. So every holder counts from which control reaches the wait without another wait for the
 * same barrier. Blocks are examined in the order of their distance (Dijkstra), so a search that is
 * cut short has the nearest ones. Test: tests/unit/struct/test_depend.c.
 */
#include "hpcstruct-lite/depend/depend_internal.h"

/* One search. */
struct search {
	struct depend *d;
	uint32_t wait, wait_block;
	uint8_t bit;
	unsigned barrier;
	uint32_t to_skip; /* the latest holders, which may still hold it */
};

/* Adds the asynchronous copies of a group. The group holds the barrier, not the copies. */
static void add_group(const struct search *s, const struct depend_block *b, uint32_t group,
		      uint32_t cycles, bool is_carried)
{
	struct depend *d = s->d;
	uint32_t n = 0;
	for (uint32_t i = group; i-- > b->first && !d->code.at[i].is_async_group;)
		if (d->code.at[i].is_async_copy && n++ < DEPEND_MAX_CAUSES)
			depend_add(d, s->wait, i, STRUCTURE_WAIT_RESULT,
				   cycles + d->before.at[group] - d->before.at[i], is_carried);
	if (n == 0)
		depend_add(d, s->wait, group, STRUCTURE_WAIT_RESULT, cycles, is_carried);
}

static void add_holder(struct search *s, const struct depend_block *b, uint32_t i, uint32_t cycles,
		       bool is_carried)
{
	const struct sass_instruction *holder = &s->d->code.at[i];
	if (s->to_skip > 0)
		s->to_skip--;
	else if (holder->is_async_group)
		add_group(s, b, i, cycles, is_carried);
	else
		depend_add(s->d, s->wait, i,
			   holder->operands & s->bit ? STRUCTURE_WAIT_OPERANDS
						     : STRUCTURE_WAIT_RESULT,
			   cycles, is_carried);
}

/* Examines the wait's own block, before the wait. Returns false if another wait is there. */
static bool look_before(struct search *s)
{
	struct depend *d = s->d;
	const struct depend_block *b = &d->blocks.at[s->wait_block];
	for (uint32_t i = s->wait; i-- > b->first;) {
		const struct sass_instruction *at = &d->code.at[i];
		if (depend_holds(at, s->bit))
			add_holder(s, b, i, d->before.at[s->wait] - d->before.at[i], false);
		if ((at->waits & s->bit) && at->still_out == 0)
			return false;
	}
	return true;
}

static bool is_before(const struct depend_step *a, const struct depend_step *b)
{
	return a->cycles != b->cycles ? a->cycles < b->cycles : a->block < b->block;
}

static bool push(struct depend *d, struct depend_step step)
{
	if (!vec_push(&d->heap))
		return false;
	size_t i = d->heap.n - 1;
	for (; i > 0 && is_before(&step, &d->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
		d->heap.at[i] = d->heap.at[(i - 1) / 2];
	d->heap.at[i] = step;
	return true;
}

static struct depend_step pop(struct depend *d)
{
	struct depend_step top = d->heap.at[0], last = d->heap.at[--d->heap.n];
	size_t i = 0, n = d->heap.n;
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && is_before(&d->heap.at[child + 1], &d->heap.at[child]))
			child++;
		if (!is_before(&d->heap.at[child], &last))
			break;
		d->heap.at[i] = d->heap.at[child];
	}
	if (n > 0)
		d->heap.at[i] = last;
	return top;
}

/* Returns true if the edge leads back to the header of a loop that contains the wait. */
static bool is_back_edge(const struct search *s, uint32_t from, uint32_t to)
{
	const struct flow *f = s->d->flow;
	uint32_t loop = f->innermost.at[to];
	return loop != FLOW_NONE && f->loops.at[loop].header == to &&
	       flow_contains(f, loop, f->innermost.at[from]) &&
	       flow_contains(f, loop, f->innermost.at[s->wait_block]);
}

static bool push_predecessors(const struct search *s, uint32_t block, uint32_t cycles,
			      bool is_carried)
{
	struct depend *d = s->d;
	for (uint32_t i = d->blocks.at[block].first_predecessor;
	     i < d->blocks.at[block + 1].first_predecessor; i++) {
		uint32_t from = d->predecessors.at[i];
		struct depend_step step = {cycles, from,
					   is_carried || is_back_edge(s, from, block)};
		if (d->seen.at[from] != d->search && !push(d, step))
			return false;
	}
	return true;
}

bool depend_find_holders(struct depend *d, uint32_t block, uint32_t wait, unsigned barrier,
			 struct depend_end *end)
{
	struct search s = {.d = d,
			   .wait = wait,
			   .wait_block = block,
			   .bit = (uint8_t)(1u << barrier),
			   .barrier = barrier,
			   .to_skip = d->code.at[wait].still_out};
	if (!look_before(&s))
		return true;
	end->has_entered = block == d->flow->entry;
	vec_clear(&d->heap);
	d->search++;
	bool ok = push_predecessors(&s, block, d->before.at[wait], false);
	for (uint32_t n = 0; ok && d->heap.n > 0; n++) {
		struct depend_step step = pop(d);
		const struct depend_block *b = &d->blocks.at[step.block];
		if (n == DEPEND_MAX_BLOCKS) {
			end->was_cut = true;
			break;
		}
		if (d->seen.at[step.block] == d->search)
			continue;
		d->seen.at[step.block] = d->search;
		for (uint32_t i = 0; i < b->n_open[barrier]; i++) {
			uint32_t holder = d->open.at[b->first_open[barrier] + i];
			add_holder(&s, b, holder, step.cycles + b->cycles - d->before.at[holder],
				   step.is_carried);
		}
		end->has_entered |= step.block == d->flow->entry && !b->is_waited[barrier];
		if (!b->is_waited[barrier])
			ok = push_predecessors(&s, step.block, step.cycles + b->cycles,
					       step.is_carried);
	}
	return ok;
}
