/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What devices deliver besides operations: clock pairs, PC samples and their losses, counter
 * values, energy, nodes of graphs. Test: tests/unit/gpu/test_gpu_core.c.
 *
 * Records are written as they arrive, except samples whose launch is unknown. These are summed up
 * in place, so that a run of any length has at most one record per instruction and reason. After
 * the limit on records, samples of launches are summed up in the same way for each launching place.
 */
#include "hpcrun-lite/gpu/core_internal.h"
#include "hpcrun-lite/gpu/hash128.h"

#include <string.h>

/* Returns false if the record was not written. */
static bool append(struct stream *s, const void *record, size_t n)
{
	struct writer *w;
	enum msr_gpu_loss cause;
	void *at = stream_begin(s, 0, n, &w, &cause);
	if (!at)
		return false;
	memcpy(at, record, n);
	stream_end(w, n);
	return true;
}

void device_clock_pair(struct gpu_backend *b, const struct msr_gpu_clock *pair)
{
	if (!append(&gpu_core.clocks, pair, sizeof *pair))
		gpu_count(&gpu_tally_of(b)->n_lost_values, 1);
}

/* The key of a record of samples. If the launch is unknown, thread and node are 0. */
struct pc_key {
	uint64_t offset;
	uint32_t function;
	uint16_t stall, queue_low;
	uint32_t thread, node;
};

static bool is_same_instruction(const struct msr_gpu_pc *p, const struct pc_key *k)
{
	return p->offset == k->offset && p->function == k->function && p->stall == k->stall &&
	       p->queue_low == k->queue_low;
}

static bool is_same_pc(const void *value, const void *key)
{
	return is_same_instruction(value, key);
}

static bool is_same_pc_at(const void *value, const void *key)
{
	const struct msr_gpu_pc_at *p = value;
	const struct pc_key *k = key;
	return p->thread == k->thread && p->node == k->node && is_same_instruction(&p->pc, k);
}

/*
 * The caller holds the lock of the stream's only writer. If the index has no memory, a key gets
 * several records, which is harmless. Both kinds of record begin with a struct msr_gpu_pc.
 */
static bool sum_up(struct stream *to, struct index *x, const struct msr_gpu_pc_at *r,
		   bool has_place)
{
	struct writer *w;
	enum msr_gpu_loss cause;
	uint64_t hash[2];
	const struct pc_key key = {r->pc.offset,
				   r->pc.function,
				   r->pc.stall,
				   r->pc.queue_low,
				   has_place ? r->thread : 0,
				   has_place ? r->node : 0};
	const size_t n = has_place ? sizeof *r : sizeof r->pc;
	struct msr_gpu_pc *at = stream_begin(to, 0, n, &w, &cause);
	if (!at)
		return false;
	hash128(&key, sizeof key, 0, hash);
	struct msr_gpu_pc *known =
		index_find(x, hash[0], has_place ? is_same_pc_at : is_same_pc, &key);
	if (known) {
		/* atomic, because the file may be read at any moment */
		__atomic_fetch_add(&known->count, r->pc.count, __ATOMIC_RELAXED);
	} else {
		memcpy(at, r, n);
		index_add(x, hash[0], at);
	}
	stream_end(w, known ? 0 : n);
	return true;
}

/*
 * Samples of a launch: single records up to the limit, then sums at the place of the launch. Half a
 * million launches are remembered; the place of older ones is unknown.
 */
static bool add_launched(struct gpu_backend *b, struct msr_gpu_pc_at *r)
{
	struct pending_launch l = {.id = 0};
	bool is_bounded = atomic_load_explicit(&gpu_core.aggregating, memory_order_acquire);
	switch (is_bounded ? pending_look(&b->pending, r->pc.id, &l) : PENDING_RECORDED) {
	case PENDING_RECORDED:
		return append(&b->launch_pcs, &r->pc, sizeof r->pc);
	case PENDING_FOUND:
		r->pc.id = 0;
		r->thread = l.thread;
		r->node = l.node;
		return sum_up(&b->place_pcs, &b->place_pc_index, r, true);
	case PENDING_GONE:
		r->pc.id = 0;
		return sum_up(&gpu_core.pcs, &gpu_core.pc_index, r, false);
	case PENDING_BUSY:
		break;
	}
	return false;
}

void device_pc_samples(struct gpu_backend *b, const struct gpu_pc_sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct msr_gpu_pc_at r = {.pc = {
			.offset = s[i].offset,
			.id = s[i].id ? gpu_full_id(b, s[i].id) : 0,
			.count = s[i].count,
			.function = s[i].function,
			.stall = (uint16_t)(s[i].stall + 1),
			.queue_low = s[i].queue <= UINT16_MAX ? (uint16_t)s[i].queue : 0,
		}};
		if (r.pc.id ? !add_launched(b, &r)
			    : !sum_up(&gpu_core.pcs, &gpu_core.pc_index, &r, false))
			gpu_count(&gpu_tally_of(b)->n_lost_pc, s[i].count);
	}
}

void device_pc_range(struct gpu_backend *b, const struct msr_gpu_pc_range *r)
{
	if (!append(&gpu_core.pc_ranges, r, sizeof *r))
		gpu_count(&gpu_tally_of(b)->n_lost_values, 1);
}

void device_graph_node(struct gpu_backend *b, const struct msr_gpu_graph_node *n)
{
	if (!append(&gpu_core.graph_nodes, n, sizeof *n))
		gpu_count(&gpu_tally_of(b)->n_lost_values, 1);
}

void device_value(struct gpu_backend *b, const struct msr_gpu_value *v)
{
	if (!append(&gpu_core.values, v, sizeof *v))
		gpu_count(&gpu_tally_of(b)->n_lost_values, 1);
}

void device_energy(struct gpu_backend *b, const struct msr_gpu_energy *e)
{
	if (!append(&gpu_core.energies, e, sizeof *e))
		gpu_count(&gpu_tally_of(b)->n_lost_values, 1);
}
