/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of NVTX: each track is a location of its own, next to its thread, with a region for each
 * name. The thread's own location has its samples, and ranges need not nest with samples. A mark is
 * entered and left at once. Test: tests/cli/nvtx/nvtx_lines.sh.
 */
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <inttypes.h>
#include <stdio.h>

static OTF2_RegionRef region_of(const struct otf2_writer *w, uint32_t range)
{
	return (OTF2_RegionRef)w->tree.regions.n + range;
}

/* ---- definitions ---- */

void otf2_nvtx_clock(const struct model *m, uint64_t *first_ns, uint64_t *last_ns)
{
	for (uint32_t i = 0; m->nvtx && i < m->nvtx->n_tracks; i++) {
		const struct model_nvtx_track *t = &m->nvtx->tracks[i];
		if (t->events[0].enter_ns < *first_ns)
			*first_ns = t->events[0].enter_ns;
		for (size_t k = 0; k < t->n; k++)
			if (t->events[k].leave_ns > *last_ns)
				*last_ns = t->events[k].leave_ns;
	}
}

static void location(struct otf2_defs *d, uint32_t i)
{
	const struct model *m = d->w->m;
	const struct model_nvtx_track *t = &m->nvtx->tracks[i];
	const struct model_profile *p = &m->profiles[t->profile];
	char name[64];
	snprintf(name, sizeof name,
		 t->lane ? "Thread %" PRIu32 ": NVTX, lane %" PRIu32 : "Thread %" PRIu32 ": NVTX",
		 p->thread, t->lane);
	const OTF2_StringRef name_ref = otf2_string(d, name);
	const OTF2_LocationRef self = (OTF2_LocationRef)m->n_profiles + i;
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocation(
					  d->out, self, name_ref, OTF2_LOCATION_TYPE_CPU_THREAD,
					  d->w->n_events[self], p->process));
}

void otf2_nvtx_locations(struct otf2_defs *d)
{
	const struct model_nvtx *x = d->w->m->nvtx;
	for (uint32_t i = 0; x && i < x->n_tracks; i++)
		location(d, i);
}

void otf2_nvtx_regions(struct otf2_defs *d)
{
	const struct model_nvtx *x = d->w->m->nvtx;
	for (uint32_t i = 0; x && x->n_tracks && i < x->n_ranges; i++) {
		const OTF2_StringRef name = otf2_string(d, x->ranges[i].label),
				     about = otf2_string(d, "range of NVTX"),
				     file = otf2_string(d, "");
		if (d->out)
			otf2_check_def(d, OTF2_GlobalDefWriter_WriteRegion(
						  d->out, region_of(d->w, i), name, name, about,
						  OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER,
						  OTF2_REGION_FLAG_NONE, file, 0, 0));
	}
}

/* ---- events ---- */

/* A range that is open. */
struct open {
	uint64_t end_ns;
	uint32_t range;
};
typedef VEC(struct open) stack;

static void leave_until(struct otf2_line *l, stack *open, uint64_t time_ns)
{
	for (; open->n && open->at[open->n - 1].end_ns <= time_ns && !otf2_has_failed(l->w);
	     open->n--) {
		const struct open *o = &open->at[open->n - 1];
		otf2_check(l->w,
			   OTF2_EvtWriter_Leave(l->out, NULL, o->end_ns, region_of(l->w, o->range)),
			   "leave");
	}
}

void otf2_write_nvtx(struct otf2_line *l, uint32_t track)
{
	const struct model_nvtx_track *t = &l->w->m->nvtx->tracks[track];
	stack open = {0};
	for (size_t i = 0; i < t->n && !otf2_has_failed(l->w); i++) {
		const struct model_nvtx_event *e = &t->events[i];
		leave_until(l, &open, e->enter_ns);
		struct open *new = vec_push(&open);
		if (!new) {
			otf2_check(l->w, OTF2_ERROR_MEM_ALLOC_FAILED, "ranges");
			break;
		}
		*new = (struct open){e->leave_ns, e->range};
		if (!otf2_has_failed(l->w))
			otf2_check(l->w,
				   OTF2_EvtWriter_Enter(l->out, NULL, e->enter_ns,
							region_of(l->w, e->range)),
				   "enter");
	}
	leave_until(l, &open, UINT64_MAX);
	vec_free(&open);
}
