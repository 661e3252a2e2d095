/* SPDX-License-Identifier: BSD-3-Clause */
/* See gpu_memory_rows.h. Test: tests/gpu/ways.sh. */
#include "hpcprof-lite/attribute/gpu/gpu_memory_rows.h"

#include "common/base/capped.h"

#include <stdlib.h>

/* ---- groups: one device, one kind of memory ---- */

/* Arrays are on the device like other memory. */
static uint8_t kind_of(uint8_t memory)
{
	return memory == MSR_GPU_MEMORY_MANAGED || memory == MSR_GPU_MEMORY_HOST
		       ? memory
		       : (uint8_t)MSR_GPU_MEMORY_DEVICE;
}

static uint32_t device_of(const struct load_gpu *g, uint32_t context, uint8_t memory)
{
	const struct load_gpu_context *c = load_gpu_find(&g->contexts, context);
	return c && memory != MSR_GPU_MEMORY_HOST ? c->record->device : 0;
}

/* `context` becomes the id of the device. */
static void set_devices(const struct load_gpu *g, struct gpu_memory *m)
{
	for (size_t i = 0; i < m->allocations.n; i++) {
		struct gpu_allocation *a = &m->allocations.at[i];
		a->memory = kind_of(a->memory);
		a->context = device_of(g, a->context, a->memory);
	}
}

static int compare_groups(const struct gpu_allocation *a, const struct gpu_allocation *b)
{
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->memory > b->memory) - (a->memory < b->memory);
}

static int compare_places(const void *pa, const void *pb)
{
	const struct gpu_allocation *a = pa, *b = pb;
	const int groups = compare_groups(a, b);
	return groups ? groups : (a->cell > b->cell) - (a->cell < b->cell);
}

/* ---- values ---- */

struct adding {
	const struct gpu_join *join;
	const uint32_t *context_of;
	struct gpu_metrics *metrics;
	gpu_extras *extras;
};

static bool add_value(const struct adding *to, uint32_t cell, uint32_t metric, uint64_t n,
		      uint64_t bytes)
{
	return !n || gpu_metrics_add(to->metrics, to->extras,
				     &(struct sum_extra){.thread = to->join->cells.at[cell].thread,
							 .context = to->context_of[cell],
							 .metric = metric,
							 .n_samples = n,
							 .sum = bytes});
}

/* n allocations of one cell. */
static bool add_cell(const struct adding *to, const struct gpu_allocation *all, size_t n,
		     uint64_t peak_ns)
{
	uint64_t n_live = 0, live = 0, n_end = 0, end = 0;
	for (size_t i = 0; i < n; i++) {
		const bool is_live = gpu_allocation_is_live(&all[i], peak_ns),
			   is_last = all[i].free_ns == UINT64_MAX;
		n_live += is_live;
		n_end += is_last;
		capped_grow(&live, is_live ? all[i].bytes : 0);
		capped_grow(&end, is_last ? all[i].bytes : 0);
	}
	return add_value(to, all->cell, GPU_LIVE_PEAK, n_live, live) &&
	       add_value(to, all->cell, GPU_LIVE_END, n_end, end);
}

static bool add_cells(const struct adding *to, const struct gpu_allocation *all, size_t n,
		      uint64_t peak_ns)
{
	bool ok = true;
	for (size_t i = 0, end; ok && i < n; i = end) {
		for (end = i + 1; end < n && all[end].cell == all[i].cell;)
			end++;
		ok = add_cell(to, &all[i], end - i, peak_ns);
	}
	return ok;
}

/* ---- rows ---- */

static struct gpu_memory_row *row_of(gpu_memory_rows *rows, uint32_t file, uint32_t device,
				     uint32_t memory)
{
	for (size_t i = rows->n; i-- > 0 && rows->at[i].file == file;)
		if (rows->at[i].device == device && rows->at[i].memory == memory)
			return &rows->at[i];
	struct gpu_memory_row *to = vec_push(rows);
	if (to)
		*to = (struct gpu_memory_row){.file = file, .device = device, .memory = memory};
	return to;
}

/* The record of a refused allocation does not say of which kind: CUDA has one error for all. */
static bool add_refusals(gpu_memory_rows *rows, uint32_t file, const struct load_gpu *g,
			 const struct gpu_memory *m)
{
	for (size_t i = 0; i < m->refusals.n; i++) {
		const struct gpu_memory_refusal *r = &m->refusals.at[i];
		struct gpu_memory_row *row =
			row_of(rows, file, device_of(g, r->context, MSR_GPU_MEMORY_DEVICE),
			       MSR_GPU_MEMORY_DEVICE);
		if (!row)
			return false;
		row->n_refused++;
		row->refused_most = r->bytes > row->refused_most ? r->bytes : row->refused_most;
	}
	return true;
}

bool gpu_memory_add(gpu_memory_rows *rows, uint32_t file, struct gpu_join *j,
		    const uint32_t *context_of, struct gpu_metrics *metrics, gpu_extras *extras)
{
	const struct adding to = {j, context_of, metrics, extras};
	const struct load_gpu *g = &j->file->gpu;
	const size_t n = j->memory.allocations.n;
	set_devices(g, &j->memory);
	if (n)
		qsort(j->memory.allocations.at, n, sizeof *j->memory.allocations.at,
		      compare_places);
	const struct gpu_allocation *all = j->memory.allocations.at;
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !compare_groups(&all[i], &all[end]);)
			end++;
		struct gpu_memory_row *row = row_of(rows, file, all[i].context, all[i].memory);
		if (!row || !gpu_memory_account(&all[i], end - i, &row->account))
			return false;
		if (all[i].memory != MSR_GPU_MEMORY_HOST &&
		    !add_cells(&to, &all[i], end - i, row->account.peak_ns))
			return false;
	}
	return add_refusals(rows, file, g, &j->memory);
}
