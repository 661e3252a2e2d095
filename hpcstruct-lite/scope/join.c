/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joins the intervals of all units. Units hardly ever claim the same code. So we sort the runs of
 * intervals and append them. Only runs that overlap are overlaid, by halves, so that many of them
 * stay cheap. Test: tests/unit/struct/test_scope.c.
 */
#include "hpcstruct-lite/scope/scope_internal.h"

#include <stdlib.h>
#include <string.h>

/*
 * Intervals of one chunk without a gap between them. The interval at first + n is the gap that ends
 * the run.
 */
struct run {
	uint32_t start, end, chunk;
	size_t first, n;
};
struct runs {
	VEC(struct run);
};

static bool is_gap(const struct structure_interval_record *v)
{
	return v->scope == SCOPE_NONE && v->file == SCOPE_NONE;
}

static bool add_runs(struct runs *runs, const struct scope_chunk *chunk, uint32_t index)
{
	const struct structure_interval_record *v = chunk->intervals.at;
	for (size_t i = 0; i < chunk->intervals.n; i++) {
		size_t first = i;
		if (is_gap(&v[i]))
			continue;
		while (!is_gap(&v[i]))
			i++;
		struct run *r = vec_push(runs);
		if (!r)
			return false;
		*r = (struct run){v[first].offset, v[i].offset, index, first, i - first};
	}
	return true;
}

static int compare_by_start(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

static int compare_by_chunk(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	if (x->chunk != y->chunk)
		return x->chunk < y->chunk ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static bool append_run(struct scope_intervals *out, const struct scope_chunk *chunks,
		       const struct run *r)
{
	const struct structure_interval_record *v = chunks[r->chunk].intervals.at + r->first;
	for (size_t i = 0; i < r->n; i++)
		if (!scope_append(out, v[i].offset, v[i].scope, v[i].file, v[i].line))
			return false;
	return scope_append(out, r->end, SCOPE_NONE, SCOPE_NONE, 0);
}

/* Overlays runs that are sorted by chunk. */
static bool overlay_runs(struct scope_intervals *out, const struct scope_chunk *chunks,
			 const struct run *runs, size_t n)
{
	if (n == 1)
		return append_run(out, chunks, runs);
	struct scope_intervals a = {0}, b = {0};
	bool ok = overlay_runs(&a, chunks, runs, n / 2) &&
		  overlay_runs(&b, chunks, runs + n / 2, n - n / 2) && scope_overlay(&a, &b, out);
	vec_free(&a);
	vec_free(&b);
	return ok;
}

/* Appends runs that overlap, directly or through others. */
static bool append_group(struct scope_intervals *out, const struct scope_chunk *chunks,
			 struct run *runs, size_t n)
{
	if (n == 1)
		return append_run(out, chunks, runs);
	qsort(runs, n, sizeof *runs, compare_by_chunk);
	struct scope_intervals group = {0};
	bool ok = overlay_runs(&group, chunks, runs, n);
	for (size_t i = 0; i < group.n && ok; i++)
		ok = scope_append(out, group.at[i].offset, group.at[i].scope, group.at[i].file,
				  group.at[i].line);
	vec_free(&group);
	return ok;
}

static int compare_chunks(const void *a, const void *b)
{
	const struct scope_chunk *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

bool scope_join(struct scope_chunk *chunks, size_t n_chunks, struct scope_intervals *out)
{
	struct runs runs = {0};
	bool ok = true;
	size_t total = 0;
	if (n_chunks > 1)
		qsort(chunks, n_chunks, sizeof *chunks, compare_chunks);
	for (size_t i = 0; i < n_chunks && ok; i++) {
		ok = add_runs(&runs, &chunks[i], (uint32_t)i);
		total += chunks[i].intervals.n;
	}
	ok = ok && (total == 0 || vec_reserve(out, total));
	if (ok && runs.n > 1)
		qsort(runs.at, runs.n, sizeof *runs.at, compare_by_start);
	for (size_t i = 0; i < runs.n && ok;) {
		size_t n = 1;
		for (uint32_t end = runs.at[i].end; i + n < runs.n && runs.at[i + n].start < end;
		     n++)
			end = runs.at[i + n].end > end ? runs.at[i + n].end : end;
		ok = append_group(out, chunks, &runs.at[i], n);
		i += n;
	}
	vec_free(&runs);
	return ok;
}
