/* SPDX-License-Identifier: BSD-3-Clause */
/* See pieces.h. */
#include "hpcstruct-lite/scope/pieces.h"

#include "common/base/sorted.h"
#include "hpcstruct-lite/scope/scope_internal.h"

#include <stdlib.h>
#include <string.h>

bool spans_push(struct spans *s, uint32_t start, uint32_t end)
{
	uint64_t *slot = vec_push(s);
	if (slot)
		*slot = (uint64_t)start << 32 | end;
	return slot != NULL;
}

/* A radix sort, 11 bits at a time. */
bool spans_sort(struct spans *s)
{
	enum { BITS = 11, N = 1 << BITS };
	bool is_sorted = true;
	for (size_t i = 1; i < s->n && is_sorted; i++)
		is_sorted = span_start(s->at[i - 1]) <= span_start(s->at[i]);
	uint64_t *from = s->at, *to = is_sorted ? NULL : malloc(s->n * sizeof *to);
	if (is_sorted || !to)
		return is_sorted;
	size_t *first = malloc(N * sizeof *first);
	for (unsigned shift = 32; first && shift < 64; shift += BITS) {
		size_t sum = 0;
		memset(first, 0, N * sizeof *first);
		for (size_t i = 0; i < s->n; i++)
			first[from[i] >> shift & (N - 1)]++;
		for (size_t i = 0; i < N; i++) {
			size_t n = first[i];
			first[i] = sum;
			sum += n;
		}
		for (size_t i = 0; i < s->n; i++)
			to[first[from[i] >> shift & (N - 1)]++] = from[i];
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != s->at) { /* an odd number of rounds */
		memcpy(s->at, from, s->n * sizeof *from);
		to = from;
	}
	free(to);
	free(first);
	return first != NULL;
}

/* Returns where the code of a label ends, at the latest where the next symbol starts. */
static uint32_t end_of_label(const struct image *image, uint32_t position, uint32_t next)
{
	uint64_t start = image_address(image, position);
	const struct image_region *c = image_code_at(image, start);
	uint64_t end = c ? c->start + c->n_bytes : start + 1;
	if (next != UINT32_MAX && image_address(image, next) < end)
		end = image_address(image, next);
	return position + (uint32_t)(scope_unsized_end(image, start, end) - start);
}

bool spans_find_labels(const struct image *image, const struct spans *symbols, struct spans *labels)
{
	bool ok = true;
	for (size_t i = 0, n; i < symbols->n && ok; i += n) {
		uint32_t start = span_start(symbols->at[i]), end = 0;
		for (n = 0; i + n < symbols->n && span_start(symbols->at[i + n]) == start; n++)
			end |= (uint32_t)symbols->at[i + n];
		uint32_t next = i + n < symbols->n ? span_start(symbols->at[i + n]) : UINT32_MAX;
		if (end == 0)
			ok = spans_push(labels, start, end_of_label(image, start, next));
	}
	return ok;
}

static bool add_piece(struct pieces *all, uint32_t start, uint32_t end)
{
	struct piece *last = all->n ? &all->at[all->n - 1] : NULL;
	end = end > start ? end : start + 1;
	if (last && start < last->end) {
		last->end = end > last->end ? end : last->end;
		last->is_function = last->is_function && start == last->start;
		return true;
	}
	last = vec_push(all);
	if (last)
		*last = (struct piece){.start = start, .end = end, .is_function = true};
	return last != NULL;
}

bool pieces_make(struct pieces *out, const struct spans *symbols, const struct spans *labels,
		 const struct spans *others)
{
	const struct spans *lists[] = {symbols, labels, others};
	size_t at[] = {0, 0, 0};
	for (;;) {
		int first = -1;
		for (int i = 0; i < 3; i++)
			if (at[i] < lists[i]->n &&
			    (first < 0 || lists[i]->at[at[i]] < lists[first]->at[at[first]]))
				first = i;
		if (first < 0)
			return true;
		uint64_t span = lists[first]->at[at[first]++];
		if (!add_piece(out, span_start(span), (uint32_t)span))
			return false;
	}
}

struct piece *pieces_at(const struct pieces *all, uint32_t position)
{
	size_t n = sorted_up_to(all->at, all->n, start, position);
	return n && position < all->at[n - 1].end ? &all->at[n - 1] : NULL;
}
