/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes records of what instructions wait for, function by function. Only GPU code has them. See
 * gpu_waits.h. Test: tests/cli/struct/struct_depend.sh.
 */
#include "hpcstruct-lite/scope/gpu_waits.h"

#include "common/base/log.h"
#include "common/base/sorted.h"

#include <stdlib.h>
#include <strings.h>

/* The causes of one wait. */
struct group {
	uint32_t wait, batch;
	size_t first, n;
};
struct groups {
	VEC(struct group);
};

static const uint8_t *bytes_at(void *arg, uint32_t position)
{
	return code_bytes_at(arg, position);
}

bool waits_find(const struct code *c, const struct flow *flow, struct depend *d, struct waits *out)
{
	return depend_find(d, flow, bytes_at, (void *)(uintptr_t)c, &out->causes, &out->counts);
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	if (x->wait != y->wait)
		return x->wait < y->wait ? -1 : 1;
	return x->batch < y->batch ? -1 : x->batch > y->batch;
}

static bool list_groups(const struct waits *by_batch, size_t n_batches, struct groups *groups)
{
	for (size_t b = 0; b < n_batches; b++) {
		const struct depend_causes *v = &by_batch[b].causes;
		for (size_t i = 0; i < v->n;) {
			struct group *g = vec_push(groups);
			if (!g)
				return false;
			*g = (struct group){v->at[i].wait, (uint32_t)b, i, 0};
			for (; i < v->n && v->at[i].wait == g->wait; i++)
				g->n++;
		}
	}
	if (groups->n > 1)
		qsort(groups->at, groups->n, sizeof *groups->at, compare_groups);
	return true;
}

/* Returns false if the address does not fit into the file's format. */
static bool link_address(const struct image *image, uint32_t position, uint32_t *link_addr)
{
	const struct image_region *regions = image->regions.at;
	size_t n = sorted_up_to(regions, image->regions.n, position, position);
	uint64_t address =
		n ? regions[n - 1].start + (position - regions[n - 1].position) : UINT64_MAX;
	*link_addr = (uint32_t)address;
	return address <= UINT32_MAX;
}

static bool add_cause(struct scope_map *map, const struct depend_cause *c)
{
	struct structure_cause_record r = {
		.cycles = (uint16_t)c->cycles,
		.operation =
			(uint8_t)(c->operation | (c->is_chained ? STRUCTURE_CAUSE_CHAINED : 0)),
		.flags = (uint8_t)(c->kind | (c->is_used ? STRUCTURE_CAUSE_USED : 0) |
				   (c->is_carried ? STRUCTURE_CAUSE_CARRIED : 0) |
				   ffs(c->bytes) << STRUCTURE_CAUSE_BYTES),
	};
	if (!link_address(map->image, c->cause, &r.link_addr))
		return true;
	struct structure_cause_record *slot = vec_push(&map->causes);
	if (slot)
		*slot = r;
	return slot != NULL;
}

static bool add_wait(struct scope_map *map, uint32_t position, const struct depend_cause *causes,
		     size_t n)
{
	uint32_t link_addr, first = (uint32_t)map->causes.n;
	if (!link_address(map->image, position, &link_addr) || map->causes.n >= STRUCTURE_NONE - n)
		return true;
	for (size_t i = 0; i < n; i++)
		if (!add_cause(map, &causes[i]))
			return false;
	if (map->causes.n == first)
		return true;
	struct structure_wait_record *w = vec_push(&map->waits);
	if (w)
		*w = (struct structure_wait_record){link_addr, first};
	return w != NULL;
}

static void note_counts(const struct scope_map *map, const struct waits *by_batch, size_t n)
{
	struct depend_counts all = {0};
	for (size_t i = 0; i < n; i++) {
		all.n_instructions += by_batch[i].counts.n_instructions;
		all.n_waits += by_batch[i].counts.n_waits;
		all.n_explained += by_batch[i].counts.n_explained;
		all.n_entered += by_batch[i].counts.n_entered;
		all.n_cut += by_batch[i].counts.n_cut;
	}
	if (all.n_waits > 0)
		log_detail(map->image->path,
			   "%llu instructions, %llu waits for a barrier: %llu with a cause, %llu "
			   "perhaps for a caller, %llu searches cut short",
			   (unsigned long long)all.n_instructions, (unsigned long long)all.n_waits,
			   (unsigned long long)all.n_explained, (unsigned long long)all.n_entered,
			   (unsigned long long)all.n_cut);
}

bool waits_keep(struct scope_map *map, const struct waits *by_batch, size_t n_batches)
{
	struct groups groups = {0};
	bool ok = list_groups(by_batch, n_batches, &groups);
	note_counts(map, by_batch, n_batches);
	for (size_t i = 0; i < groups.n && ok; i++) {
		const struct group *g = &groups.at[i];
		if (i == 0 || g->wait != groups.at[i - 1].wait)
			ok = add_wait(map, g->wait, by_batch[g->batch].causes.at + g->first, g->n);
	}
	vec_free(&groups);
	return ok;
}
