/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the GPU devices, contexts and queues of the part, and the operations of the queues, cut at
 * the ends of the range of time. Test: tests/unit/prof/test_filter.c.
 */
#include "hpcprof-lite/filter/filter_part.h"

#include <stdlib.h>

/* ---- devices and contexts ---- */

static bool has_process(const struct filter_part *p, uint32_t process)
{
	return process != MODEL_NONE && p->process_to[process] != MODEL_NONE;
}

static bool has_context(const struct filter_part *p, uint32_t gpu_context)
{
	return has_process(p, p->from->gpu_contexts[gpu_context].process);
}

/* A device stays if a process of the part uses it. The first of them becomes its first process. */
static void choose_devices(struct filter_part *p, uint32_t *first_process)
{
	const struct model *m = p->from;
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_gpu_devices; i++)
		first_process[i] = has_process(p, m->gpu_devices[i].first_process)
					   ? m->gpu_devices[i].first_process
					   : MODEL_NONE;
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++)
		if (has_context(p, i) &&
		    m->gpu_contexts[i].process < first_process[m->gpu_contexts[i].device])
			first_process[m->gpu_contexts[i].device] = m->gpu_contexts[i].process;
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		uint32_t process = filter_queue_process(p, i);
		if (has_process(p, process) && process < first_process[m->gpu_queues[i].device])
			first_process[m->gpu_queues[i].device] = process;
	}
	for (uint32_t i = 0; i < m->n_gpu_devices; i++)
		p->device_to[i] = first_process[i] == MODEL_NONE ? MODEL_NONE : n++;
	p->to->n_gpu_devices = n;
}

static bool make_devices(struct filter_part *p, const uint32_t *first_process)
{
	const struct model *m = p->from;
	struct model_gpu_device *to = calloc((size_t)m->n_gpu_devices + 1, sizeof *to);
	if (!model_own(p->to, to))
		return false;
	p->to->gpu_devices = to;
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		if (p->device_to[i] == MODEL_NONE)
			continue;
		*to = m->gpu_devices[i];
		if (to->process != MODEL_NONE)
			to->process = p->process_to[to->process];
		to->first_process = p->process_to[first_process[i]];
		to++;
	}
	return true;
}

/*
 * A device is idle for all its processes or for none, so the numbers stay those of the whole run.
 */
static bool make_idle(struct filter_part *p)
{
	const struct model *m = p->from;
	const struct model_gpu_idle *from = p->has_idle ? p->idle.devices : m->gpu_idle;
	struct model_gpu_idle *to = calloc((size_t)m->n_gpu_devices + 1, sizeof *to);
	if (!model_own(p->to, to))
		return false;
	for (uint32_t i = 0; i < m->n_gpu_devices; i++)
		if (p->device_to[i] != MODEL_NONE && from && (p->has_idle || !p->has_time))
			to[p->device_to[i]] = from[i];
	p->to->gpu_idle = to;
	if (!p->f->ranks && !p->f->threads && !p->f->processes && !p->f->below)
		p->to->gpu_waits = p->has_idle ? p->idle.waits : m->gpu_waits;
	return true;
}

/*
 * A meter belongs to a device, whoever uses it, so it stays like idle time. Meters of hosts stay.
 */
static bool make_meters(struct filter_part *p)
{
	const struct model *m = p->from;
	struct model_meter *to = calloc((size_t)m->n_meters + 1, sizeof *to);
	if (!model_own(p->to, to))
		return false;
	p->to->meters = p->to->private_->meters = to;
	for (uint32_t i = 0; i < m->n_meters; i++) {
		struct model_meter meter = m->meters[i];
		uint32_t process = p->process_to[meter.process];
		if (meter.device != MODEL_NONE ? p->device_to[meter.device] == MODEL_NONE
					       : process == MODEL_NONE)
			continue;
		if (meter.device != MODEL_NONE)
			meter.device = p->device_to[meter.device];
		meter.process = process != MODEL_NONE ? process : 0;
		if (p->has_time)
			meter.sum = p->has_energy ? p->energy.sums[i] : (struct model_energy){0};
		to[p->to->n_meters++] = meter;
	}
	return true;
}

/* The account is that of whole processes. */
static bool make_memory(struct filter_part *p)
{
	const struct model *m = p->from;
	struct model_gpu_memory *to = calloc((size_t)m->n_gpu_memory + 1, sizeof *to);
	if (!model_own(p->to, to))
		return false;
	p->to->gpu_memory = to;
	for (uint32_t i = 0; i < m->n_gpu_memory; i++) {
		struct model_gpu_memory row = m->gpu_memory[i];
		row.process = p->process_to[row.process];
		if (row.process == MODEL_NONE || p->has_time || p->f->threads || p->f->below)
			continue;
		if (row.device != MODEL_NONE)
			row.device = p->device_to[row.device];
		to[p->to->n_gpu_memory++] = row;
	}
	return true;
}

static bool make_contexts(struct filter_part *p)
{
	const struct model *m = p->from;
	struct model_gpu_context *to = calloc((size_t)m->n_gpu_contexts + 1, sizeof *to);
	if (!model_own(p->to, to))
		return false;
	p->to->gpu_contexts = to;
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++) {
		if (!has_context(p, i))
			continue;
		p->gpu_context_to[i] = p->to->n_gpu_contexts;
		struct model_gpu_context *c = &to[p->to->n_gpu_contexts++];
		*c = m->gpu_contexts[i];
		c->process = p->process_to[c->process];
		c->device = p->device_to[c->device];
	}
	return true;
}

/* ---- operations ---- */

/* Times outside the range become unknown, so that nothing on a time line is outside it. */
static void cut(const struct filter_part *p, struct model_gpu_item *item)
{
	if (!p->has_time)
		return;
	uint64_t earliest_ns = item->start_ns;
	if (item->has_waits) {
		uint32_t queued = item->record->queued_before_ns,
			 submitted = item->record->submitted_before_ns;
		uint32_t most = queued == UINT32_MAX ? 0 : queued;
		most = submitted != UINT32_MAX && submitted > most ? submitted : most;
		earliest_ns -= most < earliest_ns ? most : earliest_ns;
	}
	if (earliest_ns < p->from_ns)
		item->has_waits = 0;
	if (item->enter_ns < p->from_ns || item->enter_ns >= p->until_ns)
		item->enter_ns = 0;
	item->start_ns = item->start_ns > p->from_ns ? item->start_ns : p->from_ns;
	item->end_ns = item->end_ns < p->until_ns ? item->end_ns : p->until_ns;
}

static bool copy_cells(struct filter_part *p, const struct model_gpu_line *from, size_t n,
		       struct model_gpu_line *to)
{
	struct model_gpu_cell *cells = calloc(n + 1, sizeof *cells);
	if (!model_own(p->to, cells))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct model_gpu_cell *c = &from->cells[i];
		cells[i].context =
			c->context == MODEL_NONE ? MODEL_NONE : p->context_to[c->context];
		cells[i].launcher =
			c->launcher == MODEL_NONE ? MODEL_NONE : p->profile_to[c->launcher];
	}
	to->cells = cells;
	return true;
}

/* Time with at least one operation. */
static uint64_t busy_ns(const struct model_gpu_line *line)
{
	uint64_t busy = 0, until = 0;
	for (uint64_t i = 0; i < line->n; i++) {
		const struct model_gpu_item *item = &line->items[i];
		uint64_t from = item->start_ns > until ? item->start_ns : until;
		if (item->end_ns <= from)
			continue;
		busy += item->end_ns - from;
		until = item->end_ns;
	}
	return busy;
}

static uint64_t count_records(const struct filter_part *p, uint32_t queue)
{
	uint64_t n = 0;
	for (uint32_t lane = 0; lane < p->from->gpu_queues[queue].n_lanes; lane++)
		n += p->profiles[p->first_lane[queue] + lane].n_records;
	return n;
}

static bool copy_line(struct filter_part *p, uint32_t queue, uint32_t process,
		      struct model_gpu_line *to)
{
	const struct model_gpu_line *from = &p->from->private_->gpu_lines[queue];
	uint32_t n_lanes = p->from->gpu_queues[queue].n_lanes, n_new = 0;
	uint16_t *lane_to = calloc((size_t)n_lanes + 1, sizeof *lane_to);
	struct space *space = vec_push(&p->to->private_->spaces);
	size_t n_cells = 0;
	if (!lane_to || !space ||
	    !space_get(space, (count_records(p, queue) + 1) * sizeof(struct model_gpu_item))) {
		free(lane_to);
		return false;
	}
	struct model_gpu_item *items = space->at;
	*to = *from;
	to->items = items;
	to->n = 0;
	for (uint32_t lane = 0; lane < n_lanes; lane++)
		if (p->profile_to[p->first_lane[queue] + lane] != MODEL_NONE)
			lane_to[lane] = (uint16_t)n_new++;
	for (uint64_t i = 0; i < from->n; i++) {
		const struct model_gpu_item *item = &from->items[i];
		if (!filter_has_op(p, from, item, process))
			continue;
		struct model_gpu_item *new = &items[to->n++];
		*new = *item;
		new->lane = lane_to[item->lane];
		cut(p, new);
		n_cells = item->cell >= n_cells ? item->cell + (size_t)1 : n_cells;
	}
	free(lane_to);
	return copy_cells(p, from, n_cells, to);
}

static uint32_t count_lanes(const struct filter_part *p, uint32_t queue)
{
	uint32_t n = 0;
	for (uint32_t lane = 0; lane < p->from->gpu_queues[queue].n_lanes; lane++)
		n += p->profiles[p->first_lane[queue] + lane].n_records != 0;
	return n;
}

static bool make_queues(struct filter_part *p)
{
	const struct model *m = p->from;
	struct model_gpu_queue *to = calloc((size_t)m->n_gpu_queues + 1, sizeof *to);
	struct model_gpu_line *lines = calloc((size_t)m->n_gpu_queues + 1, sizeof *lines);
	p->to->private_->gpu_lines = lines;
	if (!model_own(p->to, to) || !lines)
		return false;
	p->to->gpu_queues = to;
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		uint32_t process = filter_queue_process(p, i), at = p->to->n_gpu_queues;
		if (!has_process(p, process))
			continue;
		p->queue_to[i] = p->to->n_gpu_queues++;
		to[at] = m->gpu_queues[i];
		to[at].context = p->gpu_context_to[to[at].context];
		to[at].device = p->device_to[to[at].device];
		to[at].n_lanes = count_lanes(p, i);
		to[at].busy_ns = 0;
		if (!to[at].n_lanes)
			continue;
		if (!copy_line(p, i, process, &lines[at]))
			return false;
		to[at].busy_ns = busy_ns(&lines[at]);
	}
	return true;
}

bool filter_make_queues(struct filter_part *p)
{
	uint32_t *first_process =
		malloc(((size_t)p->from->n_gpu_devices + 1) * sizeof *first_process);
	if (!first_process)
		return false;
	choose_devices(p, first_process);
	bool ok = make_devices(p, first_process) && make_idle(p) && make_meters(p) &&
		  make_memory(p) && make_contexts(p) && make_queues(p);
	free(first_process);
	return ok;
}
