/* SPDX-License-Identifier: BSD-3-Clause */
/* Basic blocks and their successors; see flow.h. Test: tests/unit/struct/test_flow.c. */
#include "hpcstruct-lite/flow/flow.h"

#include "common/base/sorted.h"

#include <stdlib.h>

void flow_free(struct flow *f)
{
	vec_free(&f->blocks);
	vec_free(&f->successors);
	vec_free(&f->loops);
	vec_free(&f->innermost);
	vec_free(&f->leaders);
	vec_free(&f->words);
	vec_free(&f->links);
}

/* Returns true if control may continue elsewhere than at the next instruction. */
static bool ends_block(const struct flow_transfer *t)
{
	return t->kind != ISA_CALL || t->never_returns;
}

static bool falls_through(const struct flow_transfer *t)
{
	return t->is_conditional || (t->kind == ISA_CALL && !t->never_returns);
}

static bool is_inside(const struct flow_code *c, uint32_t position)
{
	size_t n = sorted_up_to(c->ranges, c->n_ranges, start, position);
	return n > 0 && position < c->ranges[n - 1].end;
}

static int compare_words(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static bool add_leader(struct flow *f, const struct flow_code *c, uint32_t position)
{
	if (position == FLOW_NONE || !is_inside(c, position))
		return true;
	uint32_t *slot = vec_push(&f->leaders);
	if (slot)
		*slot = position;
	return slot != NULL;
}

/* Lists the first positions of all blocks, sorted and without duplicates. */
static bool find_leaders(struct flow *f, const struct flow_code *c)
{
	vec_clear(&f->leaders);
	bool ok = add_leader(f, c, c->entry);
	for (size_t i = 0; i < c->n_ranges && ok; i++)
		ok = add_leader(f, c, c->ranges[i].start);
	for (size_t i = 0; i < c->n_transfers && ok; i++) {
		const struct flow_transfer *t = &c->transfers[i];
		if (ends_block(t))
			ok = add_leader(f, c, t->end) &&
			     (t->kind != ISA_JUMP || add_leader(f, c, t->target));
	}
	for (size_t i = 0; i < c->n_edges && ok; i++)
		ok = add_leader(f, c, c->edges[i].target);
	if (!ok)
		return false;
	if (f->leaders.n > 1)
		qsort(f->leaders.at, f->leaders.n, sizeof *f->leaders.at, compare_words);
	size_t n = 0;
	for (size_t i = 0; i < f->leaders.n; i++)
		if (n == 0 || f->leaders.at[n - 1] != f->leaders.at[i])
			f->leaders.at[n++] = f->leaders.at[i];
	f->leaders.n = n;
	return true;
}

/*
 * Makes the blocks. A block starts at a leader. It ends at the next leader, at the end of the
 * range, or after the first transfer that ends a block.
 */
static bool make_blocks(struct flow *f, const struct flow_code *c)
{
	size_t range = 0, transfer = 0;
	vec_clear(&f->blocks);
	if (!vec_extend(&f->blocks, f->leaders.n + 1))
		return false;
	for (size_t i = 0; i < f->leaders.n; i++) {
		struct flow_block *b = &f->blocks.at[i];
		b->start = f->leaders.at[i];
		while (c->ranges[range].end <= b->start)
			range++;
		b->end = c->ranges[range].end;
		if (i + 1 < f->leaders.n && f->leaders.at[i + 1] < b->end)
			b->end = f->leaders.at[i + 1];
		b->transfer = FLOW_NONE;
		for (; transfer < c->n_transfers && c->transfers[transfer].at < b->end; transfer++)
			if (c->transfers[transfer].at >= b->start &&
			    ends_block(&c->transfers[transfer]))
				b->transfer = (uint32_t)transfer;
	}
	f->n_blocks = (uint32_t)f->leaders.n;
	return true;
}

uint32_t flow_block_at(const struct flow *f, uint32_t position)
{
	uint32_t n = (uint32_t)sorted_up_to(f->blocks.at, f->n_blocks, start, position);
	return n > 0 && position < f->blocks.at[n - 1].end ? n - 1 : FLOW_NONE;
}

/* Adds the block that starts at a position, if there is one. */
static bool add_successor(struct flow *f, uint32_t position)
{
	uint32_t b = position == FLOW_NONE ? FLOW_NONE : flow_block_at(f, position);
	if (b == FLOW_NONE || f->blocks.at[b].start != position)
		return true;
	uint32_t *slot = vec_push(&f->successors);
	if (slot)
		*slot = b;
	return slot != NULL;
}

bool flow_build(struct flow *f, const struct flow_code *c)
{
	size_t edge = 0;
	vec_clear(&f->successors);
	bool ok = find_leaders(f, c) && make_blocks(f, c);
	for (uint32_t i = 0; i < f->n_blocks && ok; i++) {
		struct flow_block *b = &f->blocks.at[i];
		const struct flow_transfer *t =
			b->transfer == FLOW_NONE ? NULL : &c->transfers[b->transfer];
		b->first_successor = (uint32_t)f->successors.n;
		if (!t || falls_through(t))
			ok = add_successor(f, b->end);
		if (ok && t && t->kind == ISA_JUMP)
			ok = add_successor(f, t->target);
		if (!t || t->kind != ISA_INDIRECT)
			continue;
		while (edge < c->n_edges && c->edges[edge].at < t->at)
			edge++;
		for (; edge < c->n_edges && c->edges[edge].at == t->at && ok; edge++)
			ok = add_successor(f, c->edges[edge].target);
	}
	if (!ok)
		return false;
	f->blocks.at[f->n_blocks] =
		(struct flow_block){FLOW_NONE, FLOW_NONE, FLOW_NONE, (uint32_t)f->successors.n};
	f->entry = flow_block_at(f, c->entry);
	return true;
}
