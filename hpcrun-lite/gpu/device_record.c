/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What devices deliver beside operations: clock pairs, PC samples and what their sampling lost, counter values, nodes of graphs. Written as they come, but for samples of which the launch is not known:
 * they are summed up in place, so that a run of any length has as many records as there are instructions with a reason. Test: tests/unit/test_gpu_core.c.
 */
#include "hpcrun-lite/gpu/core_internal.h"
#include "hpcrun-lite/gpu/hash128.h"

#include <string.h>

/* False: not written. */
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

/* What samples of no known launch have in common that are one record. */
struct pc_key {
	uint64_t offset;
	uint32_t function;
	uint16_t stall, queue_low;
};

static bool is_same_pc(const void *value, const void *key)
{
	const struct msr_gpu_pc *p = value;
	const struct pc_key *k = key;
	return p->offset == k->offset && p->function == k->function && p->stall == k->stall && p->queue_low == k->queue_low;
}

/* Under the lock of the stream's only writer. Without memory for the index there are several records, which is as good. */
static bool sum_up(const struct msr_gpu_pc *r)
{
	struct writer *w;
	enum msr_gpu_loss cause;
	uint64_t hash[2];
	const struct pc_key key = {r->offset, r->function, r->stall, r->queue_low};
	struct msr_gpu_pc *at = stream_begin(&gpu_core.pcs, 0, sizeof *at, &w, &cause);
	if (!at)
		return false;
	hash128(&key, sizeof key, 0, hash);
	struct msr_gpu_pc *known = index_find(&gpu_core.pc_index, hash[0], is_same_pc, &key);
	if (known) {
		__atomic_fetch_add(&known->count, r->count, __ATOMIC_RELAXED); /* the file may be read at any moment */
	} else {
		*at = *r;
		index_add(&gpu_core.pc_index, hash[0], at);
	}
	stream_end(w, known ? 0 : sizeof *at);
	return true;
}

void device_pc_samples(struct gpu_backend *b, const struct gpu_pc_sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct msr_gpu_pc r = {
			.offset = s[i].offset,
			.id = s[i].id ? gpu_full_id(b, s[i].id) : 0,
			.count = s[i].count,
			.function = s[i].function,
			.stall = (uint16_t)(s[i].stall + 1),
			.queue_low = s[i].queue <= UINT16_MAX ? (uint16_t)s[i].queue : 0,
		};
		if (r.id ? !append(&gpu_core.pcs, &r, sizeof r) : !sum_up(&r))
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
