/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes interval lists from nested ranges and from rows of line tables, and overlays one list on
 * another. Pure functions. The sort takes n log n time, the rest is linear. Test:
 * tests/unit/struct/test_scope.c.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include <stdlib.h>

bool scope_append(struct scope_intervals *list, uint32_t position, uint32_t scope, uint32_t file,
		  uint32_t line)
{
	if (list->n > 0 && list->at[list->n - 1].offset == position)
		list->n--; /* it turned out to be empty */
	const struct structure_interval_record *last = list->n ? &list->at[list->n - 1] : NULL;
	bool is_gap = scope == SCOPE_NONE && file == SCOPE_NONE;
	if (last ? last->scope == scope && last->file == file && last->line == line : is_gap)
		return true;
	struct structure_interval_record *v = vec_push(list);
	if (v)
		*v = (struct structure_interval_record){position, scope, file, line};
	return v != NULL;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct scope_range *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

struct stack {
	VEC(struct scope_range);
};

/*
 * Ends the ranges on the stack that do not reach beyond `until`. Appends an interval for the
 * enclosing range after each.
 */
static bool unwind(struct stack *stack, uint32_t until, struct scope_intervals *out)
{
	while (stack->n > 0 && stack->at[stack->n - 1].end <= until) {
		uint32_t end = stack->at[--stack->n].end;
		while (stack->n > 0 && stack->at[stack->n - 1].end <= end)
			stack->n--;
		if (!scope_append(out, end, stack->n ? stack->at[stack->n - 1].scope : SCOPE_NONE,
				  SCOPE_NONE, 0))
			return false;
	}
	return true;
}

/* Returns the end of the open range of `parent`, or 0 if there is none. */
static uint32_t end_of_parent(const struct stack *stack, uint32_t parent)
{
	for (size_t i = stack->n; i-- > 0;)
		if (stack->at[i].scope == parent)
			return stack->at[i].end;
	return 0;
}

static bool is_sorted(const struct scope_ranges *r)
{
	for (size_t i = 1; i < r->n; i++)
		if (compare_ranges(&r->at[i - 1], &r->at[i]) > 0)
			return false;
	return true;
}

bool scope_flatten(struct scope_ranges *ranges, const uint32_t *parents,
		   struct scope_intervals *out)
{
	struct stack stack = {0};
	bool ok = true;
	if (ranges->n > 1 && !is_sorted(ranges))
		qsort(ranges->at, ranges->n, sizeof *ranges->at, compare_ranges);
	for (size_t i = 0; i < ranges->n && ok; i++) {
		struct scope_range r = ranges->at[i];
		ok = unwind(&stack, r.start, out);
		if (parents[r.scope] != SCOPE_NONE) {
			uint32_t limit = end_of_parent(&stack, parents[r.scope]);
			r.end = r.end < limit ? r.end : limit;
		}
		if (!ok || r.end <= r.start)
			continue;
		struct scope_range *top = stack.n ? &stack.at[stack.n - 1] : NULL;
		if (top && top->start == r.start && top->end >= r.end && top->depth == r.depth)
			continue; /* the same code claimed twice: the first wins */
		struct scope_range *slot = vec_push(&stack);
		ok = slot && scope_append(out, r.start, r.scope, SCOPE_NONE, 0);
		if (slot)
			*slot = r;
	}
	ok = ok && unwind(&stack, UINT32_MAX, out);
	vec_free(&stack);
	return ok;
}

/* A sequence of rows: from `first` to the next end. */
struct sequence {
	uint32_t start;
	size_t first;
};

static int compare_sequences(const void *a, const void *b)
{
	const struct sequence *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Appends the part of a sequence at or after *position, and moves *position to the end of the
 * sequence.
 */
static bool append_sequence(const struct image *image, const struct debug_row *rows, size_t n,
			    size_t i, uint32_t *position, struct scope_intervals *out)
{
	uint64_t region_start = rows[i].link_addr;
	uint32_t first;
	if (!image_position(image, region_start, &first))
		return true;
	uint32_t n_positions = image_n_positions(image);
	for (; i + 1 < n && !rows[i].is_end; i++) {
		uint64_t from = rows[i].link_addr - region_start,
			 to = rows[i + 1].link_addr - region_start;
		if (rows[i].link_addr < region_start ||
		    rows[i + 1].link_addr <= rows[i].link_addr || to > n_positions - first)
			continue;
		uint32_t start = first + (uint32_t)from, end = first + (uint32_t)to;
		start = start > *position ? start : *position;
		if (end <= start)
			continue;
		if (!scope_append(out, start, SCOPE_NONE, rows[i].file, rows[i].line))
			return false;
		*position = end;
	}
	return scope_append(out, *position, SCOPE_NONE, SCOPE_NONE, 0);
}

bool scope_flatten_rows(const struct image *image, const struct debug_row *rows, size_t n,
			struct scope_intervals *out)
{
	VEC(struct sequence) sequences = {0};
	bool ok = true, sorted = true, at_start = true;
	for (size_t i = 0; i < n && ok; i++) {
		uint32_t start;
		if (at_start && image_is_code(image, rows[i].link_addr) &&
		    image_position(image, rows[i].link_addr, &start)) {
			struct sequence *s = vec_push(&sequences);
			ok = s != NULL;
			if (ok)
				*s = (struct sequence){start, i};
			sorted = sorted && (sequences.n < 2 || s[-1].start <= start);
		}
		at_start = rows[i].is_end;
	}
	if (ok && !sorted)
		qsort(sequences.at, sequences.n, sizeof *sequences.at, compare_sequences);
	uint32_t position = 0;
	for (size_t i = 0; i < sequences.n && ok; i++)
		ok = append_sequence(image, rows, n, sequences.at[i].first, &position, out);
	vec_free(&sequences);
	return ok;
}

static const struct structure_interval_record gap = {0, SCOPE_NONE, SCOPE_NONE, 0};

bool scope_overlay(const struct scope_intervals *a, const struct scope_intervals *b,
		   struct scope_intervals *out)
{
	size_t i = 0, k = 0;
	const struct structure_interval_record *x = &gap, *y = &gap;
	while (i < a->n || k < b->n) {
		uint32_t next_a = i < a->n ? a->at[i].offset : UINT32_MAX,
			 next_b = k < b->n ? b->at[k].offset : UINT32_MAX;
		uint32_t position = next_a < next_b ? next_a : next_b;
		if (i < a->n && next_a == position)
			x = &a->at[i++];
		if (k < b->n && next_b == position)
			y = &b->at[k++];
		const struct structure_interval_record *by_scope =
			x->scope != SCOPE_NONE || y->scope == SCOPE_NONE ? x : y;
		const struct structure_interval_record *other = by_scope == x ? y : x;
		const struct structure_interval_record *by_line =
			by_scope->file != SCOPE_NONE ? by_scope : other;
		if (!scope_append(out, position, by_scope->scope, by_line->file, by_line->line))
			return false;
	}
	return true;
}
