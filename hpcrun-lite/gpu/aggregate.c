/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Aggregates: after the limit on records, operations are summed up in place, so that the file stays
 * small however long the run is. Finding a row needs no lock; making one does. Test:
 * tests/unit/gpu/test_gpu_core.c.
 */
#include "hpcrun-lite/gpu/hash128.h"
#include "hpcrun-lite/gpu/core_internal.h"

static bool same(const void *value, const void *key)
{
	const struct msr_gpu_aggregate *a = value;
	const struct aggregate_key *k = key;
	return a->thread == k->thread && a->node == k->node && a->queue == k->queue &&
	       a->shape == k->shape && a->kind == k->kind && a->detail == k->detail;
}

static struct msr_gpu_aggregate *make(struct gpu_backend *b, const struct aggregate_key *k,
				      uint64_t hash, enum msr_gpu_loss *cause)
{
	struct writer *w;
	struct msr_gpu_aggregate *a =
		stream_begin(&b->aggregates, gpu_number_of(b), sizeof *a, &w, cause);
	if (!a)
		return NULL;
	/* another thread may have added it meanwhile */
	struct msr_gpu_aggregate *known = index_find(&b->aggregate_index, hash, same, k);
	if (!known) {
		a->thread = k->thread;
		a->node = k->node;
		a->queue = k->queue;
		a->shape = k->shape;
		a->kind = k->kind;
		a->detail = k->detail;
		a->backend = gpu_number_of(b);
		if (index_add(&b->aggregate_index, hash, a)) {
			extent_publish(w->extent, sizeof *a);
			known = a;
		} else { /* give up, or each call would make another row */
			*a = (struct msr_gpu_aggregate){0};
			*cause = MSR_GPU_LOSS_NO_MEMORY;
		}
	}
	stream_end(w, 0);
	return known;
}

struct msr_gpu_aggregate *aggregate_find(struct gpu_backend *b, const struct aggregate_key *k,
					 enum msr_gpu_loss *cause)
{
	uint64_t hash[2];
	if (gpu_is_closed()) {
		*cause = MSR_GPU_LOSS_STOPPED;
		return NULL;
	}
	hash128(k, sizeof *k, 0, hash);
	struct msr_gpu_aggregate *a = index_find(&b->aggregate_index, hash[0], same, k);
	return a ? a : make(b, k, hash[0], cause);
}
