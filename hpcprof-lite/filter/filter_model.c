/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes contexts, processes and profiles of the part. Contexts without values, samples and
 * operations are removed. Modules, files and functions stay, since nothing lists them by
 * themselves. Test: tests/unit/prof/test_filter.c.
 */
#include "hpcprof-lite/filter/filter_part.h"

#include "common/format/measurement_mpi.h"

#include <stdlib.h>
#include <string.h>

/* ---- contexts ---- */

bool filter_make_contexts(struct filter_part *p)
{
	const struct model *m = p->from;
	uint32_t n = 0;
	atomic_store(&p->is_used[0], true);
	for (uint32_t i = m->n_contexts; i-- > 1;) /* a parent's id is smaller */
		if (atomic_load(&p->is_used[i]))
			atomic_store(&p->is_used[m->contexts[i].parent], true);
	for (uint32_t i = 0; i < m->n_contexts; i++)
		p->context_to[i] = atomic_load(&p->is_used[i]) ? n++ : MODEL_NONE;
	struct model_context *contexts = calloc((size_t)n + 1, sizeof *contexts);
	p->to->contexts = p->to->private_->contexts = contexts;
	if (!contexts)
		return false;
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		if (p->context_to[i] == MODEL_NONE)
			continue;
		struct model_context *c = &contexts[p->to->n_contexts++];
		*c = m->contexts[i];
		c->parent = c->parent == MODEL_NONE ? MODEL_NONE : p->context_to[c->parent];
		c->subtree_n = 1;
	}
	for (uint32_t i = n; i-- > 1;)
		contexts[contexts[i].parent].subtree_n += contexts[i].subtree_n;
	return true;
}

/* ---- processes ---- */

static uint64_t clamp(const struct filter_part *p, uint64_t ns)
{
	return ns < p->from_ns ? p->from_ns : ns < p->until_ns ? ns : p->until_ns;
}

/* What is outside of the part has no length, at the nearer end of the part. */
static void clip(const struct filter_part *p, uint64_t *start_ns, uint64_t *end_ns)
{
	if (!p->has_time)
		return;
	*start_ns = clamp(p, *start_ns);
	*end_ns = clamp(p, *end_ns);
	*end_ns = *end_ns > *start_ns ? *end_ns : *start_ns;
}

/* Keeps the measured errors of apportioning of the kernels that are in the part. */
static bool copy_yardsticks(struct filter_part *p, struct model_gpu_sampling *s)
{
	struct model_gpu_yardstick *all = calloc((size_t)s->n_yardsticks + 1, sizeof *all);
	if (!model_own(p->to, all))
		return false;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_yardsticks; i++) {
		all[n] = s->yardsticks[i];
		all[n].context = p->context_to[all[n].context];
		n += all[n].context != MODEL_NONE;
	}
	s->yardsticks = all;
	s->n_yardsticks = n;
	return true;
}

static void number_all(struct filter_part *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->from->n_profiles; i++) {
		bool is_queue = p->from->profiles[i].kind == MODEL_PROFILE_QUEUE;
		if (is_queue ? p->profiles[i].n_records : p->profile_to[i] != MODEL_NONE)
			p->profile_to[i] = n++;
	}
	p->to->n_profiles = n;
	n = 0;
	for (uint32_t i = 0; i < p->from->n_processes; i++)
		if (p->process_to[i] != MODEL_NONE)
			p->process_to[i] = n++;
	p->to->n_processes = n;
}

/* Copies the parallel regions. Their sums are those of whole processes. */
static bool copy_regions(struct filter_part *p)
{
	const struct model *m = p->from;
	if (!m->n_omp_regions || p->f->threads || p->f->time || p->f->below)
		return true;
	struct model_omp_region *all =
		model_own(p->to, calloc(m->n_omp_regions, sizeof *all));
	if (!all)
		return false;
	for (uint32_t i = 0; i < m->n_omp_regions; i++) {
		all[p->to->n_omp_regions] = m->omp_regions[i];
		all[p->to->n_omp_regions].process = p->process_to[m->omp_regions[i].process];
		p->to->n_omp_regions +=
			p->process_to[m->omp_regions[i].process] != MODEL_NONE;
	}
	p->to->omp_regions = all;
	return true;
}

/* Copies the phases. Those that are not in the part keep their number and have no ranges. */
static bool copy_phases(struct filter_part *p)
{
	const struct model *m = p->from;
	if (!m->n_phases)
		return true;
	struct model_phase *phases = model_own(p->to, calloc(m->n_phases, sizeof *phases));
	struct model_range *ranges = model_own(p->to, calloc(m->n_ranges + 1, sizeof *ranges));
	if (!phases || !ranges)
		return false;
	for (uint32_t i = 0; i < m->n_phases; i++) {
		const uint32_t context = p->context_to[m->phases[i].context];
		phases[i] = m->phases[i];
		phases[i].context = context == MODEL_NONE ? 0 : context;
	}
	for (size_t i = 0; i < m->n_ranges; i++) {
		struct model_range r = m->ranges[i];
		r.process = p->process_to[r.process];
		r.profile = r.profile == MODEL_NONE ? MODEL_NONE : p->profile_to[r.profile];
		clip(p, &r.enter_ns, &r.leave_ns);
		if (p->has_time)
			r.mpi_ns = UINT64_MAX;
		if (r.process != MODEL_NONE && r.enter_ns < r.leave_ns &&
		    (r.profile != MODEL_NONE || m->ranges[i].profile == MODEL_NONE))
			ranges[p->to->n_ranges++] = r;
	}
	p->to->phases = phases;
	p->to->n_phases = m->n_phases;
	p->to->ranges = ranges;
	return true;
}

static void clip_track(const struct filter_part *p, const struct model_nvtx_track *from,
		       struct model_nvtx_track *to, struct model_nvtx_event *events)
{
	*to = *from;
	to->profile = p->profile_to[from->profile];
	to->events = events;
	to->n = 0;
	for (size_t i = 0; i < from->n; i++) {
		struct model_nvtx_event e = from->events[i];
		const bool is_mark = e.enter_ns == e.leave_ns;
		if (is_mark && p->has_time &&
		    (e.enter_ns < p->from_ns || e.enter_ns >= p->until_ns))
			continue;
		clip(p, &e.enter_ns, &e.leave_ns);
		if (is_mark || e.enter_ns < e.leave_ns)
			events[to->n++] = e;
	}
}

/* Copies the names and single ranges of NVTX, but no sums, which are those of the whole run. */
static bool copy_nvtx(struct filter_part *p)
{
	const struct model_nvtx *from = p->from->nvtx;
	if (!from)
		return true;
	struct model_nvtx *x = model_own(p->to, calloc(1, sizeof *x));
	struct model_nvtx_track *tracks =
		model_own(p->to, calloc((size_t)from->n_tracks + 1, sizeof *tracks));
	if (!x || !tracks)
		return false;
	*x = (struct model_nvtx){
		.ranges = from->ranges, .n_ranges = from->n_ranges, .tracks = tracks};
	for (uint32_t i = 0; i < from->n_tracks; i++) {
		if (p->profile_to[from->tracks[i].profile] == MODEL_NONE)
			continue;
		struct model_nvtx_event *events =
			model_own(p->to, calloc(from->tracks[i].n, sizeof *events));
		if (!events)
			return false;
		clip_track(p, &from->tracks[i], &tracks[x->n_tracks], events);
		x->n_tracks += tracks[x->n_tracks].n != 0;
	}
	p->to->nvtx = x;
	return true;
}

/* Of whole processes; a part of one has no peak of its own. */
static bool copy_memory(struct filter_part *p)
{
	const struct model *m = p->from;
	if (!m->n_memory || p->f->threads || p->f->time || p->f->below)
		return true;
	struct model_memory *all = model_own(p->to, calloc(m->n_memory, sizeof *all));
	if (!all)
		return false;
	for (uint32_t i = 0; i < m->n_memory; i++) {
		if (p->process_to[m->memory[i].process] == MODEL_NONE)
			continue;
		all[p->to->n_memory] = m->memory[i];
		all[p->to->n_memory++].process = p->process_to[m->memory[i].process];
	}
	p->to->memory = all;
	return true;
}

static bool copy_mpi_calls(struct filter_part *p, struct model_mpi_comm *comms,
			   struct model_mpi *to)
{
	const struct model_mpi *from = p->from->mpi;
	struct model_mpi_call *calls = model_own(p->to, calloc(from->n_calls + 1, sizeof *calls));
	if (!calls)
		return false;
	for (size_t i = 0; i < from->n_calls; i++) {
		struct model_mpi_call c = from->calls[i];
		c.profile = p->profile_to[c.profile];
		if (c.profile == MODEL_NONE || !filter_has_context(p, c.context) ||
		    p->context_to[c.context] == MODEL_NONE)
			continue;
		c.context = p->context_to[c.context];
		if (c.comm != MODEL_NONE) {
			comms[c.comm].n_calls += c.n_calls;
			comms[c.comm].seconds += (double)c.ns / 1e9;
		}
		to->n_all_peers += c.peer == MSR_MPI_ALL_PEERS ? c.n_calls : 0;
		calls[to->n_calls++] = c;
	}
	to->calls = calls;
	return true;
}

/* Processes count the calls that they lost for all their threads together. */
static uint64_t lost_mpi_calls(const struct model *m)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < m->n_processes; i++)
		n += m->processes[i].ledger.losses[MSR_LOSS_MPI];
	return n;
}

/* Copies the calls of MPI, but not who came late: that is known of all ranks together. */
static bool copy_mpi(struct filter_part *p)
{
	const struct model_mpi *from = p->from->mpi;
	if (!from || p->has_time)
		return true;
	struct model_mpi *to = model_own(p->to, calloc(1, sizeof *to));
	struct model_mpi_comm *comms =
		model_own(p->to, calloc((size_t)from->n_comms + 1, sizeof *comms));
	if (!to || !comms)
		return false;
	for (uint32_t i = 0; i < from->n_comms; i++) {
		comms[i] = from->comms[i];
		comms[i].n_calls = 0;
		comms[i].seconds = 0;
	}
	*to = (struct model_mpi){.comms = comms,
				 .n_comms = from->n_comms,
				 .n_matched = UINT64_MAX,
				 .n_unmatched = UINT64_MAX,
				 .n_lost = lost_mpi_calls(p->to),
				 .clock_error_ns = from->clock_error_ns};
	p->to->mpi = to;
	return copy_mpi_calls(p, comms, to);
}

/* Copies what warps waited for, if both contexts are in the part. PC samples have no times. */
static bool copy_blames(struct filter_part *p)
{
	const struct model *m = p->from;
	if (!m->n_gpu_blames || p->has_time)
		return true;
	struct model_gpu_blame *all = model_own(p->to, calloc(m->n_gpu_blames, sizeof *all));
	if (!all)
		return false;
	for (size_t i = 0; i < m->n_gpu_blames; i++) {
		struct model_gpu_blame b = m->gpu_blames[i];
		if (!filter_has_context(p, b.waiting) || !filter_has_context(p, b.cause))
			continue;
		b.profile = p->profile_to[b.profile];
		b.waiting = p->context_to[b.waiting];
		b.cause = p->context_to[b.cause];
		b.metric = p->metric_to[b.metric];
		if (b.profile != MODEL_NONE && b.waiting != MODEL_NONE && b.cause != MODEL_NONE &&
		    b.metric != MODEL_NONE)
			all[p->to->n_gpu_blames++] = b;
	}
	p->to->gpu_blames = all;
	return true;
}

/*
 * A lower bound: it is known how long measurement was off in all, but not when. Assumes that it was
 * off outside of the part as long as possible.
 */
static uint64_t least_off_ns(const struct model_process *whole, const struct model_process *part)
{
	const uint64_t outside_ns =
		whole->end_ns - whole->start_ns - (part->end_ns - part->start_ns);
	return whole->off_ns > outside_ns ? whole->off_ns - outside_ns : 0;
}

bool filter_make_processes(struct filter_part *p)
{
	number_all(p);
	struct model_process *to = calloc((size_t)p->to->n_processes + 1, sizeof *to);
	p->to->processes = p->to->private_->processes = to;
	if (!to)
		return false;
	for (uint32_t i = 0; i < p->from->n_processes; i++) {
		if (p->process_to[i] == MODEL_NONE)
			continue;
		*to = p->from->processes[i];
		clip(p, &to->start_ns, &to->end_ns);
		to->off_ns = least_off_ns(&p->from->processes[i], to);
		to->part_threads = p->threads_of ? p->threads_of[i] : 0;
		if (to->gpu_sampling.n_yardsticks && !copy_yardsticks(p, &to->gpu_sampling))
			return false;
		to++;
	}
	return copy_regions(p) && copy_phases(p) && copy_nvtx(p) && copy_mpi(p) && copy_memory(p) &&
	       copy_blames(p);
}

/* ---- profiles ---- */

/*
 * If the path on the thread's stack is not in the part, shows the context where the sample counts.
 */
static bool copy_shown(const struct filter_part *p, const struct model_timeline *from,
		       struct model_timeline *to)
{
	to->shown_of = calloc((size_t)from->n_nodes + 1, sizeof *to->shown_of);
	for (uint32_t i = 0; to->shown_of && i < from->n_nodes; i++) {
		const uint32_t c = from->shown_of[i];
		const bool has = to->context_of[i] && c != MODEL_NONE && filter_has_context(p, c) &&
				 p->context_to[c] != MODEL_NONE;
		to->shown_of[i] = has ? p->context_to[c] : to->context_of[i];
	}
	return to->shown_of != NULL;
}

static bool copy_timeline(const struct filter_part *p, const struct model_timeline *from,
			  struct model_timeline *to)
{
	*to = *from;
	to->parts = calloc(from->n_parts + 1, sizeof *to->parts);
	to->context_of = calloc((size_t)from->n_nodes + 1, sizeof *to->context_of);
	to->shown_of = NULL;
	if (!to->parts || !to->context_of)
		return false;
	if (from->n_parts)
		memcpy(to->parts, from->parts, from->n_parts * sizeof *to->parts);
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		uint32_t c = from->context_of[i];
		to->context_of[i] = c == MODEL_NONE             ? MODEL_NONE
				    : filter_has_context(p, c) ? p->context_to[c]
							       : 0; /* ends the sample before it */
	}
	if (from->shown_of && !copy_shown(p, from, to))
		return false;
	for (unsigned i = 0; i < sizeof to->metric_of / sizeof *to->metric_of; i++)
		to->metric_of[i] = from->metric_of[i] == MODEL_NONE
					   ? MODEL_NONE
					   : p->metric_to[from->metric_of[i]];
	if (p->has_time) {
		to->from_ns = p->from_ns > from->from_ns ? p->from_ns : from->from_ns;
		to->until_ns = from->until_ns && from->until_ns < p->until_ns ? from->until_ns
									      : p->until_ns;
	}
	return true;
}

/* Renumbers the lanes of a queue, because lanes without operations in the part are removed. */
static uint32_t next_lane(const struct model_profile *first, const struct model_profile *p)
{
	return p > first && p[-1].queue == p->queue && p[-1].kind == MODEL_PROFILE_QUEUE
		       ? p[-1].lane + 1
		       : 0;
}

bool filter_make_profiles(struct filter_part *p)
{
	struct model_private *own = p->to->private_;
	uint32_t n = p->to->n_profiles;
	own->profiles = calloc((size_t)n + 1, sizeof *own->profiles);
	own->timelines = calloc((size_t)n + 1, sizeof *own->timelines);
	p->to->profiles = own->profiles;
	if (!own->profiles || !own->timelines)
		return false;
	for (uint32_t i = 0; i < p->from->n_profiles; i++) {
		uint32_t at = p->profile_to[i];
		if (at == MODEL_NONE)
			continue;
		struct model_profile *to = &own->profiles[at];
		*to = p->from->profiles[i];
		to->values = NULL;
		to->n_values = 0;
		to->process = p->process_to[to->process];
		to->n_trace_records = p->profiles[i].n_records;
		clip(p, &to->start_ns, &to->end_ns);
		if (p->has_time || p->below) { /* known only for the whole thread */
			to->counts = p->counts[i];
			to->cpu_ns = 0;
			to->source_use = (struct model_source_use){0};
		}
		if (to->kind == MODEL_PROFILE_QUEUE) {
			to->queue = p->queue_to[to->queue];
			to->lane = next_lane(own->profiles, to);
		} else if (!copy_timeline(p, &p->from->private_->timelines[i],
					  &own->timelines[at])) {
			return false;
		}
	}
	return true;
}
