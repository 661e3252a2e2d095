/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_line.h. Test: tests/unit/test_gpu_line.c. */
#include "hpcprof-lite/attribute/gpu_line.h"

#include <stdlib.h>
#include <string.h>

enum { MOVES_EACH = 8 }; /* insertion sort gives up beyond so many moves for each operation */

/* A total order that does not depend on where the records lie in memory: of equal ones the file's order decides. */
static int compare_items(const void *pa, const void *pb)
{
	const struct model_gpu_item *a = pa, *b = pb;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns ? -1 : 1;
	uint64_t x = a->record->id_kind & MSR_GPU_ID_MAX, y = b->record->id_kind & MSR_GPU_ID_MAX;
	if (x != y)
		return x < y ? -1 : 1;
	return (a->record > b->record) - (a->record < b->record);
}

/* Operations are noticed nearly in the order in which they ran: mostly there is nothing or little to do. */
static void sort_items(struct model_gpu_item *items, uint64_t n)
{
	uint64_t budget = n < UINT64_MAX / MOVES_EACH ? n * MOVES_EACH : UINT64_MAX;
	for (uint64_t i = 1; i < n; i++) {
		uint64_t to = i;
		while (to && compare_items(&items[to - 1], &items[i]) > 0)
			to--;
		if (to == i)
			continue;
		if (i - to > budget) {
			qsort(items, n, sizeof *items, compare_items);
			return;
		}
		budget -= i - to;
		struct model_gpu_item item = items[i];
		memmove(&items[to + 1], &items[to], (i - to) * sizeof *items);
		items[to] = item;
	}
}

struct lanes {
	uint64_t end_ns[GPU_LINE_LANES], n[GPU_LINE_LANES];
	uint32_t count;
};

/* The first lane that is free, else a new one, else the one that is free soonest. */
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
			item->end_ns = item->end_ns > item->start_ns ? item->end_ns : item->start_ns;
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
	sort_items(line->items, line->n);
	assign_lanes(line, &l);
	line->n_lanes = l.count;
	line->lane_n = malloc((l.count ? l.count : 1) * sizeof *line->lane_n);
	if (line->lane_n)
		memcpy(line->lane_n, l.n, l.count * sizeof *l.n);
	return line->lane_n != NULL;
}
