/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_line.h. Test: tests/unit/prof_gpu/test_gpu_time.c. */
#include "hpcprof-lite/attribute/gpu/join/gpu_line.h"

#include <stdlib.h>
#include <string.h>

/* A total order. Equal records keep the order of the file. */
static int compare_items(const void *pa, const void *pb)
{
	const struct model_gpu_item *a = pa, *b = pb;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	uint64_t x = msr_gpu_op_id(a->record), y = msr_gpu_op_id(b->record);
	if (x != y)
		return x < y ? -1 : 1;
	return (a->record > b->record) - (a->record < b->record);
}

/* The first items of the sorted runs, then the end of the last run. */
struct runs {
	VEC(uint64_t) starts;
};

/*
 * Records come nearly in the order in which operations ran. If threads share a queue, there are
 * several sorted runs. An item that is slightly late is moved to its place; an item that is later
 * than that begins a new run.
 */
static bool find_runs(struct model_gpu_item *items, uint64_t n, struct runs *r)
{
	enum { WINDOW = 64 };
	uint64_t *first = vec_push(&r->starts), run = 0;
	for (uint64_t i = 1; first && i < n; i++) {
		uint64_t to = i, lowest = i - run > WINDOW ? i - WINDOW : run;
		while (to > lowest && compare_items(&items[to - 1], &items[i]) > 0)
			to--;
		if (to == i)
			continue;
		if (to == lowest && to > run) {
			uint64_t *start = vec_push(&r->starts);
			if (!start)
				return false;
			*start = run = i;
			continue;
		}
		struct model_gpu_item item = items[i];
		memmove(&items[to + 1], &items[to], (i - to) * sizeof *items);
		items[to] = item;
	}
	uint64_t *end = first ? vec_push(&r->starts) : NULL;
	if (end)
		*end = n;
	return end != NULL;
}

static void merge(const struct model_gpu_item *a, uint64_t n_a, const struct model_gpu_item *b,
		  uint64_t n_b, struct model_gpu_item *out)
{
	while (n_a && n_b) {
		if (compare_items(a, b) <= 0) {
			*out++ = *a++;
			n_a--;
		} else {
			*out++ = *b++;
			n_b--;
		}
	}
	memcpy(out, n_a ? a : b, (n_a ? n_a : n_b) * sizeof *out);
}

/* Merges neighbouring runs from one array into the other until one is left. */
static bool merge_runs(struct model_gpu_item *items, uint64_t n, struct runs *r)
{
	struct space other;
	if (!space_get(&other, n * sizeof *items))
		return false;
	struct model_gpu_item *from = items, *to = other.at;
	uint64_t *starts = r->starts.at;
	size_t n_runs = r->starts.n - 1;
	while (n_runs > 1) {
		size_t kept = 0;
		for (size_t i = 0; i < n_runs; i += 2) {
			uint64_t a = starts[i], b = starts[i + 1],
				 end = i + 1 < n_runs ? starts[i + 2] : b;
			merge(from + a, b - a, from + b, end - b, to + a);
			starts[kept++] = a;
		}
		starts[kept] = n;
		n_runs = kept;
		struct model_gpu_item *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, n * sizeof *items);
	space_free(&other);
	return true;
}

static bool sort_items(struct model_gpu_item *items, uint64_t n)
{
	struct runs r = {0};
	bool ok = find_runs(items, n, &r) && (r.starts.n == 2 || merge_runs(items, n, &r));
	vec_free(&r.starts);
	return ok;
}

struct lanes {
	uint64_t end_ns[GPU_LINE_LANES], n[GPU_LINE_LANES];
	uint32_t count;
};

/*
 * The first free lane; if none is free, a new one; if there are too many, the lane that becomes
 * free first.
 */
static uint32_t choose_lane(struct lanes *l, const struct model_gpu_item *item)
{
	uint32_t soonest = 0;
	for (uint32_t i = 0; i < l->count; i++) {
		if (l->end_ns[i] <= item->start_ns)
			return i;
		if (l->end_ns[i] < l->end_ns[soonest])
			soonest = i;
	}
	return l->count < GPU_LINE_LANES ? l->count++ : soonest;
}

static void assign_lanes(struct gpu_line *line, struct lanes *l)
{
	uint64_t busy_until_ns = 0;
	line->first_ns = line->n ? line->items[0].start_ns : 0;
	for (uint64_t i = 0; i < line->n; i++) {
		struct model_gpu_item *item = &line->items[i];
		uint64_t from_ns = item->start_ns > busy_until_ns ? item->start_ns : busy_until_ns;
		if (item->end_ns > from_ns) {
			line->busy_ns += item->end_ns - from_ns;
			busy_until_ns = item->end_ns;
		}
		uint32_t lane = choose_lane(l, item);
		if (l->end_ns[lane] > item->start_ns) {
			line->n_clipped++;
			item->start_ns = l->end_ns[lane];
			item->end_ns =
				item->end_ns > item->start_ns ? item->end_ns : item->start_ns;
		}
		item->lane = (uint16_t)lane;
		l->end_ns[lane] = item->end_ns;
		l->n[lane]++;
		line->last_ns = item->end_ns > line->last_ns ? item->end_ns : line->last_ns;
	}
}

bool gpu_line_finish(struct gpu_line *line)
{
	struct lanes l = {.count = 0};
	if (!sort_items(line->items, line->n))
		return false;
	assign_lanes(line, &l);
	line->n_lanes = l.count;
	line->lane_n = malloc((l.count ? l.count : 1) * sizeof *line->lane_n);
	if (line->lane_n)
		memcpy(line->lane_n, l.n, l.count * sizeof *l.n);
	return line->lane_n != NULL;
}
