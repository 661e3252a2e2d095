/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prepares a function and goes through its waits; see depend.h. Test:
 * tests/unit/struct/test_depend.c.
 */
#include "hpcstruct-lite/depend/depend_internal.h"

#include <stdlib.h>
#include <string.h>

struct depend *depend_new(void)
{
	return calloc(1, sizeof(struct depend));
}

void depend_free(struct depend *d)
{
	if (!d)
		return;
	vec_free(&d->code);
	vec_free(&d->positions);
	vec_free(&d->before);
	vec_free(&d->blocks);
	vec_free(&d->predecessors);
	vec_free(&d->open);
	vec_free(&d->seen);
	vec_free(&d->heap);
	vec_free(&d->order);
	vec_free(&d->is_chained);
	vec_free(&d->joined);
	free(d);
}

/* ---- preparation ---- */

static bool add_instructions(struct depend *d, uint32_t b, depend_bytes *bytes, void *arg)
{
	const struct flow_block *from = &d->flow->blocks.at[b];
	struct depend_block *to = &d->blocks.at[b];
	uint32_t n = (from->end - from->start) / SASS_BYTES;
	*to = (struct depend_block){.first = (uint32_t)d->code.n, .n = n, .order = FLOW_NONE};
	struct sass_instruction *code = n ? vec_extend(&d->code, n) : NULL;
	uint32_t *positions = n ? vec_extend(&d->positions, n) : NULL;
	uint32_t *before = n ? vec_extend(&d->before, n) : NULL;
	if (n && (!code || !positions || !before))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		positions[i] = from->start + i * SASS_BYTES;
		before[i] = to->cycles;
		sass_decode(bytes(arg, positions[i]), &code[i]);
		to->cycles += depend_stall(&code[i]);
		to->has_join |= code[i].joins_warps;
	}
	return true;
}

/* Lists the instructions that hold a barrier at the end of the block. */
static bool list_open(struct depend *d, struct depend_block *b, unsigned barrier)
{
	const uint8_t bit = (uint8_t)(1u << barrier);
	b->first_open[barrier] = (uint32_t)d->open.n;
	for (uint32_t i = b->first + b->n; i-- > b->first && !b->is_waited[barrier];) {
		const struct sass_instruction *s = &d->code.at[i];
		if (depend_holds(s, bit) && b->n_open[barrier] < DEPEND_MAX_OPEN) {
			uint32_t *slot = vec_push(&d->open);
			if (!slot)
				return false;
			*slot = i;
			b->n_open[barrier]++;
		}
		b->is_waited[barrier] = (s->waits & bit) && s->still_out == 0;
	}
	return true;
}

static bool list_predecessors(struct depend *d)
{
	const struct flow *f = d->flow;
	uint32_t n = f->n_blocks;
	vec_clear(&d->predecessors);
	if (f->successors.n && !vec_extend(&d->predecessors, f->successors.n))
		return false;
	/* first counts, then ends; the loop that fills the list moves them to the starts */
	for (uint32_t i = 0; i <= n; i++)
		d->blocks.at[i].first_predecessor = 0;
	for (size_t i = 0; i < f->successors.n; i++)
		d->blocks.at[f->successors.at[i]].first_predecessor++;
	for (uint32_t i = 1; i <= n; i++)
		d->blocks.at[i].first_predecessor += d->blocks.at[i - 1].first_predecessor;
	for (uint32_t b = n; b-- > 0;)
		for (uint32_t i = f->blocks.at[b].first_successor;
		     i < f->blocks.at[b + 1].first_successor; i++)
			d->predecessors.at[--d->blocks.at[f->successors.at[i]].first_predecessor] =
				b;
	return true;
}

/* Blocks are in the order of their addresses, and so are positions. */
static uint32_t instruction_at(const struct depend *d, uint32_t position)
{
	size_t low = 0, high = d->positions.n;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (d->positions.at[middle] < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low < d->positions.n && d->positions.at[low] == position ? (uint32_t)low : FLOW_NONE;
}

/* Finds where threads meet again. If a jump is there, how often it ran is not known. */
static bool find_joins(struct depend *d)
{
	vec_clear(&d->joined);
	if (d->code.n == 0)
		return true;
	if (!vec_extend(&d->joined, d->code.n))
		return false;
	memset(d->joined.at, 0xff, d->code.n * sizeof *d->joined.at);
	for (uint32_t i = 0; i < d->code.n; i++) {
		if (!d->code.at[i].joins_after)
			continue;
		const uint32_t next = d->positions.at[i] + SASS_BYTES,
			       at = instruction_at(d, next + d->code.at[i].joins_after);
		if (at != FLOW_NONE && d->code.at[at].operation != STRUCTURE_BRANCH)
			d->joined.at[at] = i;
	}
	return true;
}

static bool prepare(struct depend *d, const struct flow *flow, depend_bytes *bytes, void *arg)
{
	uint32_t n = flow->n_blocks;
	d->flow = flow;
	vec_clear(&d->code);
	vec_clear(&d->positions);
	vec_clear(&d->before);
	vec_clear(&d->blocks);
	vec_clear(&d->open);
	vec_clear(&d->seen);
	if (!vec_extend(&d->blocks, (size_t)n + 1) || !vec_extend(&d->seen, (size_t)n + 1))
		return false;
	memset(d->blocks.at, 0, ((size_t)n + 1) * sizeof *d->blocks.at);
	memset(d->seen.at, 0, ((size_t)n + 1) * sizeof *d->seen.at);
	d->search = 0;
	for (uint32_t b = 0; b < n; b++) {
		if (!add_instructions(d, b, bytes, arg))
			return false;
		for (unsigned i = 0; i < SASS_N_BARRIERS; i++)
			if (!list_open(d, &d->blocks.at[b], i))
				return false;
	}
	return list_predecessors(d) && depend_measure_paths(d) && depend_find_chains(d) &&
	       find_joins(d);
}

/* ---- causes of one wait ---- */

static bool is_used(const struct depend *d, const struct depend_cause *c)
{
	const struct sass_instruction *cause = &d->code.at[c->cause], *wait = &d->code.at[c->wait];
	if (c->kind == STRUCTURE_WAIT_OPERANDS)
		return sass_overlap(cause->reads, cause->n_reads, wait->writes, wait->n_writes);
	return sass_overlap(cause->writes, cause->n_writes, wait->reads, wait->n_reads) ||
	       sass_overlap(cause->writes, cause->n_writes, wait->writes, wait->n_writes);
}

void depend_add(struct depend *d, uint32_t wait, uint32_t cause, enum structure_wait_kind kind,
		uint32_t cycles, bool is_carried)
{
	for (uint32_t i = 0; i < d->n_found; i++)
		if (d->found[i].cause == cause && d->found[i].kind == kind)
			return;
	if (d->n_found == sizeof d->found / sizeof d->found[0])
		return;
	struct depend_cause *c = &d->found[d->n_found++];
	*c = (struct depend_cause){.wait = wait,
				   .cause = cause,
				   .cycles = cycles < UINT16_MAX ? cycles : UINT16_MAX,
				   .kind = (uint8_t)kind,
				   .operation = d->code.at[cause].operation,
				   .bytes = d->code.at[cause].bytes,
				   .is_carried = is_carried,
				   .is_chained = kind == STRUCTURE_WAIT_RESULT &&
						 d->is_chained.at[cause]};
	c->is_used = kind != STRUCTURE_WAIT_WARPS && is_used(d, c);
}

static int compare_causes(const void *a, const void *b)
{
	const struct depend_cause *x = a, *y = b;
	if (x->is_used != y->is_used)
		return x->is_used ? -1 : 1;
	if (x->cycles != y->cycles && x->kind == STRUCTURE_WAIT_WARPS && y->kind == x->kind)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->cycles != y->cycles)
		return x->cycles < y->cycles ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static bool emit(struct depend *d, struct depend_causes *out)
{
	uint32_t n = d->n_found < DEPEND_MAX_CAUSES ? d->n_found : DEPEND_MAX_CAUSES;
	if (d->n_found > 1)
		qsort(d->found, d->n_found, sizeof *d->found, compare_causes);
	struct depend_cause *to = n ? vec_extend(out, n) : NULL;
	if (n && !to)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		to[i] = d->found[i];
		to[i].wait = d->positions.at[d->found[i].wait];
		to[i].cause = d->positions.at[d->found[i].cause];
	}
	return true;
}

/* Drops calls if there are other causes. `first` is the first cause for one barrier. */
static void drop_calls(struct depend *d, uint32_t first)
{
	uint32_t n = first, n_calls = 0;
	for (uint32_t i = first; i < d->n_found; i++)
		n_calls += d->found[i].operation == STRUCTURE_CALL;
	if (n_calls == d->n_found - first)
		return;
	for (uint32_t i = first; i < d->n_found; i++)
		if (d->found[i].operation != STRUCTURE_CALL)
			d->found[n++] = d->found[i];
	d->n_found = n;
}

static bool find_for(struct depend *d, uint32_t block, uint32_t wait, struct depend_counts *counts)
{
	const struct sass_instruction *s = &d->code.at[wait];
	d->n_found = 0;
	for (unsigned barrier = 0; barrier < SASS_N_BARRIERS; barrier++) {
		uint32_t first = d->n_found;
		struct depend_end end = {false, false};
		if (!(s->waits & 1u << barrier))
			continue;
		if (!depend_find_holders(d, block, wait, barrier, &end))
			return false;
		drop_calls(d, first);
		counts->n_waits++;
		counts->n_explained += d->n_found > first;
		counts->n_entered += d->n_found == first && end.has_entered;
		counts->n_cut += end.was_cut;
	}
	depend_find_latency(d, block, wait);
	depend_find_paths(d, block, wait);
	if (d->joined.at[wait] != FLOW_NONE)
		depend_add(d, wait, d->joined.at[wait], STRUCTURE_WAIT_PATHS, UINT16_MAX, false);
	return true;
}

bool depend_find(struct depend *d, const struct flow *flow, depend_bytes *bytes, void *arg,
		 struct depend_causes *out, struct depend_counts *counts)
{
	struct depend_counts unused = {0};
	if (!counts)
		counts = &unused;
	if (!prepare(d, flow, bytes, arg))
		return false;
	counts->n_instructions += d->code.n;
	for (uint32_t b = 0; b < flow->n_blocks; b++)
		for (uint32_t i = d->blocks.at[b].first;
		     i < d->blocks.at[b].first + d->blocks.at[b].n; i++)
			if (!find_for(d, b, i, counts) || !emit(d, out))
				return false;
	return true;
}
