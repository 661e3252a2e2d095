/* SPDX-License-Identifier: BSD-3-Clause */
/* See nvtx_events.h. */
#include "hpcprof-lite/attribute/nvtx/nvtx_events.h"

#include "hpcprof-lite/attribute/activity/phases.h"

#include <stdlib.h>

/* A range or mark before its lane is known. */
struct item {
	struct model_nvtx_event event;
	uint32_t lane;
	bool is_outermost; /* it is pushed, and outermost */
	uint32_t node;
};

/* The ends of the ranges that are open in a lane, outermost first. */
struct lane {
	VEC(uint64_t) open;
};

struct collecting {
	const struct load_job *job;
	const struct topic_where *where;
	struct model *m;
	struct lane lanes[NVTX_LANES_MOST];
	VEC(struct item) items; /* items of one thread */
	VEC(struct model_nvtx_track) tracks;
	VEC(struct model_range) ranges; /* of outermost ranges; `phase` is the row */
	uint32_t *context_of;           /* by row: context where it began first */
	uint64_t *ns;                   /* by row: length of its outermost ranges */
	bool *is_incomplete;            /* by row: some outermost ranges have no event */
};

/* ---- tracks ---- */

static int compare_items(const void *pa, const void *pb)
{
	const struct model_nvtx_event *a = &((const struct item *)pa)->event,
				      *b = &((const struct item *)pb)->event;
	if (a->enter_ns != b->enter_ns)
		return a->enter_ns < b->enter_ns ? -1 : 1;
	if (a->leave_ns != b->leave_ns)
		return a->leave_ns > b->leave_ns ? -1 : 1;
	return (a->range > b->range) - (a->range < b->range);
}

static bool collect_items(struct collecting *c, const struct load_file *f,
			  const struct load_thread *t)
{
	const uint64_t to_real = f->header.start_real_ns - f->header.start_mono_ns;
	c->items.n = 0;
	for (size_t k = 0; k < t->nvtx_events.n; k++) {
		const struct load_part *p = &t->nvtx_events.at[k];
		const struct msr_nvtx_event *events = (const void *)p->content;
		for (size_t i = 0; i < p->n_bytes / sizeof *events; i++) {
			const struct msr_nvtx_event *e = &events[i];
			struct item *new;
			if (!load_nvtx_event_is_sound(t, e))
				continue;
			const struct load_nvtx_range *r = &t->ranges.at[e->range];
			new = vec_push(&c->items);
			if (!new)
				return false;
			*new = (struct item){
				.event = {e->enter_ns + to_real, e->leave_ns + to_real, r->row},
				.is_outermost = r->is_outermost && r->kind == MSR_NVTX_PUSHED,
				.node = r->node};
		}
	}
	if (c->items.n > 1)
		qsort(c->items.at, c->items.n, sizeof *c->items.at, compare_items);
	return true;
}

/* Closes ranges that have ended by then. True if the event is inside of the remaining ones. */
static bool fits(struct lane *l, const struct model_nvtx_event *e)
{
	while (l->open.n && l->open.at[l->open.n - 1] <= e->enter_ns)
		l->open.n--;
	return !l->open.n || e->leave_ns <= l->open.at[l->open.n - 1];
}

/*
 * Chooses a lane for the item. A mark never blocks a range. Lane NVTX_LANES_MOST: there is no room.
 */
static bool choose_lane(struct collecting *c, struct item *item, uint32_t *n_lanes)
{
	const struct model_nvtx_event *e = &item->event;
	if (e->enter_ns == e->leave_ns)
		return true;
	while (item->lane < NVTX_LANES_MOST && !fits(&c->lanes[item->lane], e))
		item->lane++;
	if (item->lane == NVTX_LANES_MOST)
		return true;
	uint64_t *open = vec_push(&c->lanes[item->lane].open);
	if (!open)
		return false;
	*open = e->leave_ns;
	if (item->lane >= *n_lanes)
		*n_lanes = item->lane + 1;
	return true;
}

static bool make_track(struct collecting *c, uint32_t profile, uint32_t lane)
{
	size_t n = 0;
	for (size_t i = 0; i < c->items.n; i++)
		n += c->items.at[i].lane == lane;
	struct model_nvtx_event *events = model_own(c->m, calloc(n + 1, sizeof *events));
	struct model_nvtx_track *t = events && n ? vec_push(&c->tracks) : NULL;
	if (!t)
		return events && !n;
	*t = (struct model_nvtx_track){profile, lane, events, 0};
	for (size_t i = 0; i < c->items.n; i++)
		if (c->items.at[i].lane == lane)
			events[t->n++] = c->items.at[i].event;
	return true;
}

static bool make_tracks(struct collecting *c, uint32_t profile)
{
	uint32_t n_lanes = 1;
	bool ok = true;
	for (unsigned i = 0; i < NVTX_LANES_MOST; i++)
		c->lanes[i].open.n = 0;
	for (size_t i = 0; ok && i < c->items.n; i++)
		ok = choose_lane(c, &c->items.at[i], &n_lanes);
	for (uint32_t lane = 0; ok && lane < n_lanes; lane++)
		ok = make_track(c, profile, lane);
	return ok;
}

static int compare_tracks(const void *pa, const void *pb)
{
	const struct model_nvtx_track *a = pa, *b = pb;
	if (a->profile != b->profile)
		return a->profile < b->profile ? -1 : 1;
	return (a->lane > b->lane) - (a->lane < b->lane);
}

/* ---- phases: outermost ranges of main threads ---- */

static bool collect_ranges(struct collecting *c, uint32_t file, uint32_t thread)
{
	const struct load_thread *t = &c->job->files.at[file].threads.at[thread];
	for (size_t i = 0; i < t->ranges.n; i++) {
		const struct load_nvtx_range *r = &t->ranges.at[i];
		if (r->kind && r->is_outermost && r->n_events < r->n)
			c->is_incomplete[r->row] = true;
	}
	for (size_t i = 0; i < c->items.n; i++) {
		const struct item *item = &c->items.at[i];
		const struct model_nvtx_event *e = &item->event;
		if (!item->is_outermost || e->enter_ns == e->leave_ns)
			continue;
		struct model_range *r = vec_push(&c->ranges);
		if (!r)
			return false;
		*r = (struct model_range){.phase = e->range,
					  .process = file,
					  .profile = MODEL_NONE,
					  .enter_ns = e->enter_ns,
					  .leave_ns = e->leave_ns,
					  .mpi_ns = UINT64_MAX};
		if (!c->ns[e->range])
			c->context_of[e->range] =
				c->where->context(c->where->arg, file, thread, item->node);
		c->ns[e->range] += e->leave_ns - e->enter_ns;
	}
	return true;
}

struct candidate {
	uint32_t row;
	uint64_t ns;
};

static int compare_candidates(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static bool give_phases(struct collecting *c, const struct candidate *rows, uint32_t n)
{
	struct model *m = c->m;
	struct model_phase *phases = model_own(m, calloc((size_t)n + 1, sizeof *phases));
	uint32_t *phase_of = calloc((size_t)m->nvtx->n_ranges + 1, sizeof *phase_of);
	size_t n_ranges = 0;
	if (!phases || !phase_of) {
		free(phase_of);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t context = c->context_of[rows[i].row];
		phases[i] = (struct model_phase){m->nvtx->ranges[rows[i].row].label,
						 context == MODEL_NONE ? 0 : context};
		phase_of[rows[i].row] = i + 1;
	}
	for (size_t i = 0; i < c->ranges.n; i++) {
		struct model_range r = c->ranges.at[i];
		if (!phase_of[r.phase])
			continue;
		r.phase = phase_of[r.phase] - 1;
		c->ranges.at[n_ranges++] = r;
	}
	free(phase_of);
	phases_sort(c->ranges.at, n_ranges);
	m->phases = phases;
	m->n_phases = n;
	m->n_ranges = n_ranges;
	m->ranges = model_own(m, c->ranges.at);
	c->ranges.at = NULL;
	return m->ranges;
}

static bool make_phases(struct collecting *c)
{
	const uint32_t n_rows = c->m->nvtx->n_ranges;
	struct candidate *rows = calloc((size_t)n_rows + 1, sizeof *rows);
	uint32_t n = 0;
	bool ok = rows;
	for (uint32_t i = 0; ok && i < n_rows; i++)
		if (c->ns[i] && !c->is_incomplete[i])
			rows[n++] = (struct candidate){i, c->ns[i]};
	if (n) {
		qsort(rows, n, sizeof *rows, compare_candidates);
		ok = give_phases(c, rows, n < NVTX_PHASES_MOST ? n : NVTX_PHASES_MOST);
	}
	free(rows);
	return ok;
}

/* ---- the whole ---- */

static bool collect(struct collecting *c)
{
	for (uint32_t i = 0; i < c->job->files.n; i++) {
		const struct load_file *f = &c->job->files.at[i];
		for (uint32_t k = 0; k < f->threads.n; k++) {
			const struct load_thread *t = &f->threads.at[k];
			if (!t->nvtx_events.n)
				continue;
			if (!collect_items(c, f, t) ||
			    (t->number == 0 && !collect_ranges(c, i, k)) ||
			    !make_tracks(c, c->where->profile(c->where->arg, i, k)))
				return false;
		}
	}
	return true;
}

static bool give_tracks(struct collecting *c)
{
	struct model_nvtx *x = model_own(c->m, calloc(1, sizeof *x));
	if (!x)
		return false;
	*x = *c->m->nvtx;
	c->m->nvtx = x;
	if (!c->tracks.n)
		return true;
	if (c->tracks.n > 1)
		qsort(c->tracks.at, c->tracks.n, sizeof *c->tracks.at, compare_tracks);
	x->n_tracks = (uint32_t)c->tracks.n;
	x->tracks = model_own(c->m, c->tracks.at);
	c->tracks.at = NULL;
	return x->tracks;
}

bool nvtx_events_attribute(const struct load_job *job, const struct topic_where *where,
			   struct model *m)
{
	if (!m->nvtx)
		return true;
	const size_t n = (size_t)m->nvtx->n_ranges + 1;
	struct collecting c = {.job = job,
			       .where = where,
			       .m = m,
			       .context_of = calloc(n, sizeof *c.context_of),
			       .ns = calloc(n, sizeof *c.ns),
			       .is_incomplete = calloc(n, sizeof *c.is_incomplete)};
	bool ok = c.context_of && c.ns && c.is_incomplete && collect(&c) && give_tracks(&c) &&
		  (m->n_phases || make_phases(&c));
	for (unsigned i = 0; i < NVTX_LANES_MOST; i++)
		vec_free(&c.lanes[i].open);
	vec_free(&c.items);
	vec_free(&c.tracks);
	vec_free(&c.ranges);
	free(c.context_of);
	free(c.ns);
	free(c.is_incomplete);
	return ok;
}
