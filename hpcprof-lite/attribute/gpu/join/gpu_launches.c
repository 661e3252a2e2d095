/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_launches.h. Test: tests/unit/prof_gpu/test_gpu_join.c. */
#include "hpcprof-lite/attribute/gpu/join/gpu_launches.h"

#include "common/base/sorted.h"

#include <stdlib.h>
#include <string.h>

enum { DENSE = 8 }; /* use a table if there are at most this many ids for each launch */

struct range {
	uint64_t low, high, n;
};

static bool number_parts(struct gpu_launches *l, struct range *ranges)
{
	const struct load_gpu *g = l->gpu;
	uint64_t n = 0;
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++)
		ranges[b] = (struct range){UINT64_MAX, 0, 0};
	l->starts = calloc(g->launches.n + 1, sizeof *l->starts);
	if (!l->starts)
		return false;
	for (size_t k = 0; k < g->launches.n; k++) {
		const struct load_gpu_part *p = &g->launches.at[k];
		l->starts[k] = n;
		n += p->n;
		for (uint64_t i = 0; i < p->n; i++) {
			uint64_t id = load_gpu_launch_id(p, load_gpu_at(p, i));
			struct range *r = &ranges[load_gpu_backend(id)];
			r->low = id < r->low ? id : r->low;
			r->high = id > r->high ? id : r->high;
			r->n++;
		}
	}
	l->starts[g->launches.n] = n;
	if (n >= GPU_LAUNCH_NONE)
		return false; /* 64 GiB of launches, too many for this reader */
	l->n = (uint32_t)n;
	l->state = calloc(n + 1, 1);
	return l->state != NULL;
}

static bool make_tables(struct gpu_launches *l, const struct range *ranges)
{
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++) {
		const struct range *r = &ranges[b];
		struct gpu_launch_table *t = &l->tables[b];
		if (!r->n)
			continue;
		t->low = r->low;
		if ((r->high - r->low) / DENSE < r->n + 1024) {
			t->n = r->high - r->low + 1;
			t->dense = calloc(t->n, sizeof *t->dense);
		} else {
			t->sorted = malloc(r->n * sizeof *t->sorted);
		}
		if (!t->dense && !t->sorted)
			return false;
	}
	return true;
}

static void add(struct gpu_launches *l, uint64_t id, uint32_t number)
{
	struct gpu_launch_table *t = &l->tables[load_gpu_backend(id)];
	if (t->sorted)
		t->sorted[t->n++] = (struct gpu_launch_entry){id, number};
	else if (t->dense[id - t->low])
		l->state[number] = GPU_LAUNCH_UNSOUND;
	else
		t->dense[id - t->low] = number + 1;
}

static int compare_entries(const void *pa, const void *pb)
{
	const struct gpu_launch_entry *a = pa, *b = pb;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void sort_table(struct gpu_launches *l, struct gpu_launch_table *t)
{
	uint64_t kept = 0;
	if (t->n)
		qsort(t->sorted, t->n, sizeof *t->sorted, compare_entries);
	for (uint64_t i = 0; i < t->n; i++) {
		if (kept && t->sorted[kept - 1].id == t->sorted[i].id)
			l->state[t->sorted[i].number] = GPU_LAUNCH_UNSOUND;
		else
			t->sorted[kept++] = t->sorted[i];
	}
	t->n = kept;
}

bool gpu_launches_index(struct gpu_launches *l, const struct load_gpu *g)
{
	struct range ranges[LOAD_GPU_BACKENDS];
	*l = (struct gpu_launches){.gpu = g};
	if (!number_parts(l, ranges) || !make_tables(l, ranges))
		return false;
	uint32_t number = 0;
	for (size_t k = 0; k < g->launches.n; k++) {
		const struct load_gpu_part *p = &g->launches.at[k];
		for (uint64_t i = 0; i < p->n; i++, number++) {
			const struct msr_gpu_launch *launch = load_gpu_at(p, i);
			if (load_gpu_kind_is_sound(msr_gpu_launch_kind(launch)))
				add(l, load_gpu_launch_id(p, launch), number);
			else
				l->state[number] = GPU_LAUNCH_UNSOUND;
		}
	}
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++)
		if (l->tables[b].sorted)
			sort_table(l, &l->tables[b]);
	return true;
}

uint32_t gpu_launches_find(const struct gpu_launches *l, uint64_t id)
{
	const struct gpu_launch_table *t = &l->tables[load_gpu_backend(id)];
	if (id < t->low || !t->n)
		return GPU_LAUNCH_NONE;
	if (t->dense)
		return id - t->low < t->n ? t->dense[id - t->low] - 1
					  : GPU_LAUNCH_NONE; /* 0 - 1 is GPU_LAUNCH_NONE */
	size_t n = sorted_up_to(t->sorted, t->n, id, id);
	return n && t->sorted[n - 1].id == id ? t->sorted[n - 1].number : GPU_LAUNCH_NONE;
}

const struct msr_gpu_launch *gpu_launches_get(struct gpu_launches *l, uint32_t number,
					      const struct load_gpu_part **part)
{
	size_t low = l->last_part;
	if (number < l->starts[low] || number >= l->starts[low + 1]) {
		low = 0;
		for (size_t high = l->gpu->launches.n; high - low > 1;) {
			size_t middle = low + (high - low) / 2;
			if (l->starts[middle] <= number)
				low = middle;
			else
				high = middle;
		}
		l->last_part = low;
	}
	*part = &l->gpu->launches.at[low];
	return load_gpu_at(*part, number - l->starts[low]);
}

void gpu_launches_free(struct gpu_launches *l)
{
	free(l->starts);
	free(l->state);
	for (unsigned b = 0; b < LOAD_GPU_BACKENDS; b++) {
		free(l->tables[b].dense);
		free(l->tables[b].sorted);
	}
	*l = (struct gpu_launches){0};
}
