/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What devices deliver beside operations: clock pairs, PC samples and what their sampling lost, counter values, nodes of graphs. Written as they come. Test: tests/unit/test_gpu_core.c.
 */
#include "hpcrun-lite/gpu/core_internal.h"

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
		if (!append(&gpu_core.pcs, &r, sizeof r))
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
