/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See load_records.h. Validates the call-path tree, cells and time line of each thread, and counts
 * damage. Test: tests/unit/prof/test_load.c.
 */
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>
#include <string.h>

/* The most nodes that the file can hold. Bounds what a damaged `first` may make us allocate. */
static uint64_t node_bound(const struct load_file *f)
{
	uint64_t bound = f->map.n_bytes / sizeof(struct msr_node) + 1;
	return bound < MSR_TRACE_NODE_MAX ? bound : MSR_TRACE_NODE_MAX;
}

static int compare_first(const void *a, const void *b)
{
	const struct load_part *x = a, *y = b;
	return (x->first > y->first) - (x->first < y->first);
}

static int compare_sequence(const void *a, const void *b)
{
	const struct load_part *x = a, *y = b;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/*
 * Sorts parts by index. Drops parts that overlap the previous one or exceed `bound`. Returns the
 * number of remaining records.
 */
static uint64_t order_parts(struct load_file *f, struct load_part *parts, size_t *n,
			    size_t record_bytes, uint64_t bound)
{
	uint64_t end = 0;
	size_t kept = 0;
	if (*n)
		qsort(parts, *n, sizeof *parts, compare_first);
	for (size_t i = 0; i < *n; i++) {
		uint64_t count = parts[i].n_bytes / record_bytes;
		if (parts[i].first < end || parts[i].first > bound ||
		    count > bound - parts[i].first) {
			f->bytes_damaged += parts[i].n_bytes;
			continue;
		}
		end = parts[i].first + count;
		parts[kept++] = parts[i];
	}
	*n = kept;
	return end;
}

bool load_knows_module(const struct load_file *f, uint16_t id)
{
	return id == MSR_MODULE_UNKNOWN || (id < f->modules.n && f->modules.at[id].record);
}

static bool node_is_sound(const struct load_file *f, const struct load_thread *t, uint32_t id,
			  const struct msr_node *n)
{
	if (n->parent >= id || t->node_to[n->parent] == LOAD_DAMAGED)
		return false;
	if (load_is_entry(n->addr))
		return n->parent == 0 && msr_addr_link(n->addr) != 0;
	return n->parent != 0 &&
	       (load_is_wait(n->addr) || load_is_nvtx(n->addr) || load_is_forward(n->addr) ||
		load_knows_module(f, msr_addr_module(n->addr)));
}

enum status load_check_nodes(struct load_file *f, struct load_thread *t)
{
	uint64_t n =
		order_parts(f, t->nodes.at, &t->nodes.n, sizeof(struct msr_node), node_bound(f));
	t->n_nodes = n ? (uint32_t)n : 1;
	t->node_to = malloc(t->n_nodes * sizeof *t->node_to);
	if (!t->node_to)
		return STATUS_NO_MEMORY;
	memset(t->node_to, 0xff, t->n_nodes * sizeof *t->node_to);
	t->node_to[0] = 0; /* the root is always sound, whatever the file says */
	for (size_t p = 0; p < t->nodes.n; p++) {
		const struct msr_node *nodes = (const void *)t->nodes.at[p].content;
		size_t count = t->nodes.at[p].n_bytes / sizeof *nodes;
		for (size_t i = 0; i < count; i++) {
			uint32_t id = (uint32_t)(t->nodes.at[p].first + i);
			if (!id)
				continue;
			if (!node_is_sound(f, t, id, &nodes[i])) {
				f->bytes_damaged += sizeof *nodes;
				continue;
			}
			t->node_to[id] = 0;
			f->has_unknown_code |= msr_addr_module(nodes[i].addr) == MSR_MODULE_UNKNOWN;
			f->has_forward |= load_is_forward(nodes[i].addr);
		}
	}
	return STATUS_OK;
}

static bool target_is_sound(const struct load_file *f, const struct load_thread *t, uint32_t node,
			    unsigned metric)
{
	return node < t->n_nodes && t->node_to[node] != LOAD_DAMAGED && metric < MSR_MAX_METRICS &&
	       f->metrics[metric];
}

void load_order_values(struct load_file *f, struct load_thread *t)
{
	order_parts(f, t->cells.at, &t->cells.n, sizeof(struct msr_cell), UINT32_MAX);
	if (t->trace.n)
		qsort(t->trace.at, t->trace.n, sizeof *t->trace.at, compare_sequence);
}

/* Counts damaged cells. The sums skip the same cells, by load_cell_is_sound(). */
static void check_cells(struct load_file *f, struct load_thread *t)
{
	for (size_t p = 0; p < t->cells.n; p++) {
		const struct msr_cell *cells = (const void *)t->cells.at[p].content;
		for (size_t i = 0; i < t->cells.at[p].n_bytes / sizeof *cells; i++)
			if (!load_cell_is_sound(f, t, &cells[i]))
				f->bytes_damaged += sizeof *cells;
	}
}

/* False: a part had an impossible time, which was replaced. */
static bool check_trace(struct load_file *f, struct load_thread *t)
{
	bool ok = true;
	uint64_t latest_ns = f->header.start_mono_ns + LOAD_LONGEST_NS, now_ns = 0;
	for (size_t p = 0; p < t->trace.n; p++) {
		if (t->trace.at[p].first > latest_ns) {
			t->trace.at[p].first =
				t->last_trace_ns; /* only the deltas can be trusted */
			ok = false;
		}
		/* like model_trace_read(): time never goes backwards */
		struct load_trace_step s = {
			.time_ns = t->trace.at[p].first > now_ns ? t->trace.at[p].first : now_ns,
			.latest_ns = latest_ns};
		while (load_trace_next(&t->trace.at[p], &s)) {
			if (!target_is_sound(f, t, s.node, s.metric)) {
				f->bytes_damaged += sizeof(uint64_t);
				continue;
			}
			if (!t->n_trace_records++ || s.time_ns < t->first_trace_ns)
				t->first_trace_ns = s.time_ns;
			if (s.time_ns > t->last_trace_ns)
				t->last_trace_ns = s.time_ns;
		}
		now_ns = s.time_ns;
		load_release(f, t->trace.at[p].n_bytes);
	}
	return ok;
}

bool load_check_values(struct load_file *f)
{
	const uint64_t damaged = f->bytes_damaged;
	bool ok = true;
	f->leaves_values = false;
	for (size_t i = 0; i < f->threads.n; i++) {
		check_cells(f, &f->threads.at[i]);
		ok &= check_trace(f, &f->threads.at[i]);
	}
	ok &= f->bytes_damaged == damaged;
	if (f->is_live) /* see note_live() */
		f->bytes_damaged = damaged;
	return ok;
}

bool load_cell_is_sound(const struct load_file *f, const struct load_thread *t,
			const struct msr_cell *c)
{
	return target_is_sound(f, t, c->node, c->metric) && load_cell_is_plausible(c);
}
