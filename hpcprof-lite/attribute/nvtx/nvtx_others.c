/* SPDX-License-Identifier: BSD-3-Clause */
/* See nvtx_others.h. */
#include "hpcprof-lite/attribute/nvtx/nvtx_others.h"

#include "common/base/sorted.h"

#include <stdlib.h>
#include <string.h>

enum { OPS_AT_ONCE = 256, SEEN_MOST = 512 };
#define NONE UINT32_MAX

/* A track, with an index to find the ranges around a time quickly. */
struct searched {
	const struct model_nvtx_track *track;
	uint32_t *around; /* by event: the surrounding range, or NONE */
	size_t last;      /* where the last search ended */
};

struct others {
	struct model *m;
	struct searched *tracks;
	struct model_nvtx_range *ranges;
	bool *is_incomplete; /* by profile: some of its ranges have no event */
	bool has_operations;
};

static bool is_pushed(const struct others *o, const struct model_nvtx_event *e)
{
	return model_nvtx_is_pushed(&o->ranges[e->range]) && e->leave_ns > e->enter_ns;
}

/* Finds the surrounding range of each event. Events are sorted by enter_ns, and nest. */
static void find_around(const struct others *o, struct searched *s)
{
	uint32_t open = NONE;
	for (size_t i = 0; i < s->track->n; i++) {
		const struct model_nvtx_event *all = s->track->events;
		while (open != NONE && all[open].leave_ns <= all[i].enter_ns)
			open = s->around[open];
		s->around[i] = open;
		if (is_pushed(o, &all[i]))
			open = (uint32_t)i;
	}
}

static bool open_tracks(struct others *o)
{
	const struct model_nvtx *x = o->m->nvtx;
	o->tracks = calloc((size_t)x->n_tracks + 1, sizeof *o->tracks);
	for (uint32_t i = 0; o->tracks && i < x->n_tracks; i++) {
		struct searched *s = &o->tracks[i];
		*s = (struct searched){.track = &x->tracks[i],
				       .around = malloc(x->tracks[i].n * sizeof *s->around)};
		if (!s->around)
			return false;
		find_around(o, s);
	}
	return o->tracks;
}

/* The innermost pushed range at a time, or NONE. Launches come nearly in the order of time. */
static uint32_t find_range(const struct others *o, struct searched *s, uint64_t when_ns)
{
	const struct model_nvtx_event *all = s->track->events;
	const size_t n = s->track->n;
	if (all[s->last].enter_ns > when_ns ||
	    (s->last + 1 < n && all[s->last + 1].enter_ns <= when_ns)) {
		const size_t end = sorted_up_to(all, n, enter_ns, when_ns);
		if (!end)
			return NONE;
		s->last = end - 1;
	}
	uint32_t at = (uint32_t)s->last;
	while (at != NONE && !(is_pushed(o, &all[at]) && all[at].leave_ns > when_ns))
		at = s->around[at];
	return at;
}

static bool is_in_range(const struct others *o, uint32_t profile, uint64_t when_ns)
{
	const struct model_nvtx *x = o->m->nvtx;
	for (size_t i = sorted_below(x->tracks, x->n_tracks, profile, profile);
	     i < x->n_tracks && x->tracks[i].profile == profile; i++)
		if (find_range(o, &o->tracks[i], when_ns) != NONE)
			return true;
	return false;
}

/* Adds an operation once to each row of the ranges around its launch in other threads. */
static void add(struct others *o, const struct model_gpu_op *op)
{
	const struct model *m = o->m;
	const struct model_nvtx *x = m->nvtx;
	const uint32_t process = m->profiles[op->launcher].process;
	uint32_t seen[SEEN_MOST], n = 0;
	/* profiles are sorted by process, and tracks by profile */
	for (size_t i = sorted_prefix(x->n_tracks, t,
				      m->profiles[x->tracks[t].profile].process < process);
	     i < x->n_tracks && m->profiles[x->tracks[i].profile].process == process; i++) {
		struct searched *s = &o->tracks[i];
		for (uint32_t at = find_range(o, s, op->enter_ns); at != NONE && n < SEEN_MOST;
		     at = s->around[at]) {
			const uint32_t row = s->track->events[at].range;
			uint32_t k = 0;
			while (k < n && seen[k] != row)
				k++;
			if (k < n)
				continue;
			seen[n++] = row;
			o->ranges[row].gpu_others_ns += op->end_ns - op->start_ns;
		}
	}
}

static bool is_work(const struct model_gpu_op *op)
{
	return op->kind == MSR_GPU_KERNEL || op->kind == MSR_GPU_COPY || op->kind == MSR_GPU_SET;
}

static void add_queue(struct others *o, uint32_t profile)
{
	struct model_gpu_cursor cursor = {0};
	struct model_gpu_op ops[OPS_AT_ONCE];
	size_t n;
	while ((n = model_gpu_read(o->m, profile, &cursor, ops, OPS_AT_ONCE))) {
		o->has_operations = true;
		for (size_t i = 0; i < n; i++)
			if (is_work(&ops[i]) && ops[i].launcher != MODEL_NONE && ops[i].enter_ns &&
			    !o->is_incomplete[ops[i].launcher] &&
			    !is_in_range(o, ops[i].launcher, ops[i].enter_ns))
				add(o, &ops[i]);
	}
}

/* Finds rows without a sum: some of their single ranges are not known. */
static void find_incomplete(struct others *o, const struct load_job *job,
			    const struct topic_where *where)
{
	for (uint32_t i = 0; i < o->m->nvtx->n_ranges; i++)
		o->ranges[i].has_gpu_others = model_nvtx_is_pushed(&o->ranges[i]);
	for (uint32_t i = 0; i < job->files.n; i++)
		for (uint32_t k = 0; k < job->files.at[i].threads.n; k++) {
			const struct load_thread *t = &job->files.at[i].threads.at[k];
			for (size_t n = 0; n < t->ranges.n; n++) {
				const struct load_nvtx_range *r = &t->ranges.at[n];
				if (r->kind != MSR_NVTX_PUSHED || r->n_events >= r->n)
					continue;
				o->ranges[r->row].has_gpu_others = false;
				o->is_incomplete[where->profile(where->arg, i, k)] = true;
			}
		}
}

static bool give(struct others *o)
{
	struct model_nvtx *x = model_own(o->m, malloc(sizeof *x));
	if (!model_own(o->m, o->ranges) || !x)
		return false;
	*x = *o->m->nvtx;
	x->ranges = o->ranges;
	o->m->nvtx = x;
	return true;
}

/* True if operations have times. Operations that were summed up in the run have none. */
static bool has_times(const struct model *m)
{
	uint64_t n = 0;
	for (size_t i = 0; i < sizeof m->gpu_ledger.aggregated / sizeof n; i++)
		n |= m->gpu_ledger.aggregated[i];
	return !n;
}

bool nvtx_others_attribute(const struct load_job *job, const struct topic_where *where,
			   struct model *m)
{
	if (!m->nvtx || !m->nvtx->has_gpu || !m->nvtx->n_tracks || !has_times(m))
		return true;
	const size_t n = m->nvtx->n_ranges;
	struct others o = {.m = m,
			   .ranges = malloc((n + 1) * sizeof *o.ranges),
			   .is_incomplete = calloc((size_t)m->n_profiles + 1, sizeof(bool))};
	bool ok = o.ranges && o.is_incomplete;
	if (ok) {
		memcpy(o.ranges, m->nvtx->ranges, n * sizeof *o.ranges);
		find_incomplete(&o, job, where);
		ok = open_tracks(&o);
	}
	for (uint32_t i = 0; ok && i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_QUEUE)
			add_queue(&o, i);
	for (uint32_t i = 0; o.tracks && i < m->nvtx->n_tracks; i++)
		free(o.tracks[i].around);
	free(o.tracks);
	free(o.is_incomplete);
	if (ok && o.has_operations)
		return give(&o);
	free(o.ranges);
	return ok;
}
