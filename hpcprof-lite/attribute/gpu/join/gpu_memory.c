/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_memory.h. Test: tests/unit/prof_gpu/test_gpu_memory.c. */
#include "hpcprof-lite/attribute/gpu/join/gpu_memory.h"

#include "common/base/capped.h"
#include "common/base/map.h"

#include <stdlib.h>

/* ---- what the records say ---- */

bool gpu_memory_allocate(struct gpu_memory *m, const struct gpu_allocation *a)
{
	struct gpu_allocation *to = vec_push(&m->allocations);
	if (to)
		*to = *a;
	return to != NULL;
}

bool gpu_memory_free(struct gpu_memory *m, uint32_t id_low, uint64_t free_ns)
{
	struct gpu_release *to = vec_push(&m->releases);
	if (to)
		*to = (struct gpu_release){free_ns, id_low};
	return to != NULL;
}

bool gpu_memory_refused(struct gpu_memory *m, uint32_t context, uint64_t bytes)
{
	struct gpu_memory_refusal *to = vec_push(&m->refusals);
	if (to)
		*to = (struct gpu_memory_refusal){bytes, context};
	return to != NULL;
}

/* Damaged records may free something twice, or before it was allocated: the first one counts. */
static void end(struct gpu_allocation *a, uint64_t free_ns)
{
	if (a->free_ns == UINT64_MAX)
		a->free_ns = free_ns > a->alloc_ns ? free_ns : a->alloc_ns;
}

bool gpu_memory_match(struct gpu_memory *m)
{
	struct map by_id = {0};
	bool ok = true;
	for (size_t i = 0; ok && m->releases.n && i < m->allocations.n; i++)
		ok = map_put(&by_id, m->allocations.at[i].id_low, 0, i) != MAP_NONE;
	for (size_t i = 0; ok && i < m->releases.n; i++) {
		const struct gpu_release *r = &m->releases.at[i];
		const uint64_t at = map_get(&by_id, r->id_low, 0);
		if (at != MAP_NONE)
			end(&m->allocations.at[at], r->free_ns);
	}
	map_free(&by_id);
	vec_free(&m->releases);
	return ok;
}

void gpu_memory_close(struct gpu_memory *m)
{
	vec_free(&m->allocations);
	vec_free(&m->releases);
	vec_free(&m->refusals);
}

/* ---- the account ---- */

struct change {
	uint64_t time_ns, bytes;
	bool is_free;
};

/* At the same time frees come first. */
static int compare_changes(const void *pa, const void *pb)
{
	const struct change *a = pa, *b = pb;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return b->is_free - a->is_free;
}

static void find_peak(const struct change *changes, size_t n, struct gpu_memory_account *to)
{
	uint64_t live = 0;
	for (size_t i = 0; i < n; i++) {
		const struct change *c = &changes[i];
		live = c->is_free ? live - (c->bytes < live ? c->bytes : live)
				  : capped_add(live, c->bytes);
		if (live > to->peak) {
			to->peak = live;
			to->peak_ns = c->time_ns;
		}
	}
}

bool gpu_memory_account(const struct gpu_allocation *all, size_t n, struct gpu_memory_account *to)
{
	struct change *changes = malloc((2 * n + 1) * sizeof *changes);
	size_t n_changes = 0;
	*to = (struct gpu_memory_account){.n = n};
	if (!changes)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct gpu_allocation *a = &all[i];
		const bool is_freed = a->free_ns != UINT64_MAX;
		changes[n_changes++] = (struct change){a->alloc_ns, a->bytes, false};
		if (is_freed)
			changes[n_changes++] = (struct change){a->free_ns, a->bytes, true};
		to->n_freed += is_freed;
		capped_grow(&to->bytes, a->bytes);
		capped_grow(&to->end, is_freed ? 0 : a->bytes);
	}
	qsort(changes, n_changes, sizeof *changes, compare_changes);
	find_peak(changes, n_changes, to);
	free(changes);
	return true;
}
