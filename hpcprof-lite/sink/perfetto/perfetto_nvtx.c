/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges of NVTX as slices, and marks as instants, on tracks below their thread: the thread's own
 * track cannot have them, because they need not nest with its waits. Test:
 * tests/cli/nvtx/nvtx_lines.sh.
 */
#include "common/base/vec.h"
#include "hpcprof-lite/sink/perfetto/perfetto.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t track_of(const struct perfetto_writer *w, uint32_t track)
{
	return (uint64_t)w->m->n_processes + w->m->n_profiles + 1 + track;
}

static void write_track(struct perfetto_writer *w, uint32_t i)
{
	const struct model_nvtx_track *t = &w->m->nvtx->tracks[i];
	char name[32];
	snprintf(name, sizeof name, t->lane ? "NVTX, lane %" PRIu32 : "NVTX", t->lane);
	perfetto_begin(w, PERFETTO_EVENTS);
	protobuf_put(&w->body, TRACK_UUID, track_of(w, i));
	protobuf_put(&w->body, TRACK_PARENT_UUID, perfetto_profile_track(w, t->profile));
	protobuf_put_text(&w->body, TRACK_NAME, name);
	protobuf_put(&w->body, TRACK_SIBLING_RANK, t->lane);
	perfetto_end(w, PACKET_TRACK_DESCRIPTOR, 0);
}

static void put(struct perfetto_writer *w, uint32_t track, unsigned type, uint32_t range,
		uint64_t time_ns)
{
	perfetto_begin(w, PERFETTO_EVENTS);
	protobuf_put(&w->body, EVENT_TYPE, type);
	protobuf_put(&w->body, EVENT_TRACK_UUID, track_of(w, track));
	if (type != EVENT_END) {
		protobuf_put(&w->body, EVENT_NAME, perfetto_nvtx_event(w, range));
		protobuf_put(&w->body, EVENT_CATEGORIES, perfetto_category(w, PERFETTO_NVTX));
	}
	perfetto_end(w, PACKET_TRACK_EVENT, time_ns);
}

/* The ranges that are open, by the times of their ends. */
struct open {
	VEC(uint64_t) ends;
};

static void end_until(struct perfetto_writer *w, uint32_t track, struct open *o, uint64_t time_ns)
{
	for (; o->ends.n && o->ends.at[o->ends.n - 1] <= time_ns; o->ends.n--)
		put(w, track, EVENT_END, 0, o->ends.at[o->ends.n - 1]);
}

static void write_events(struct perfetto_writer *w, uint32_t track)
{
	const struct model_nvtx_track *t = &w->m->nvtx->tracks[track];
	struct open open = {0};
	for (size_t i = 0; i < t->n && w->out.status == STATUS_OK; i++) {
		const struct model_nvtx_event *e = &t->events[i];
		const bool is_mark = e->leave_ns == e->enter_ns;
		end_until(w, track, &open, e->enter_ns);
		put(w, track, is_mark ? EVENT_INSTANT : EVENT_BEGIN, e->range, e->enter_ns);
		uint64_t *end = is_mark ? NULL : vec_push(&open.ends);
		if (end)
			*end = e->leave_ns;
		else if (!is_mark)
			perfetto_out_no_memory(&w->out);
	}
	end_until(w, track, &open, UINT64_MAX);
	vec_free(&open.ends);
}

void perfetto_write_nvtx(struct perfetto_writer *w)
{
	const uint32_t n = w->m->nvtx ? w->m->nvtx->n_tracks : 0;
	for (uint32_t i = 0; i < n; i++)
		write_track(w, i);
	for (uint32_t i = 0; i < n; i++)
		write_events(w, i);
}
