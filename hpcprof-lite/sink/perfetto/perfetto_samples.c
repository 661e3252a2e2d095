/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU samples as PerfSample packets. Readers show them below their thread, with a flame graph of
 * the selected range, and keep them in the table perf_sample. StreamingProfilePacket is smaller but
 * rounds to microseconds and knows neither metric nor unit. Test: tests/cli/sink/sink_perfetto.sh.
 */
#include "hpcprof-lite/sink/perfetto/perfetto.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"

#include <stdlib.h>

enum { CHUNK_SAMPLES = 8192 };

void perfetto_put_event(struct perfetto_writer *w, unsigned type, uint32_t profile)
{
	protobuf_put(&w->body, EVENT_TYPE, type);
	protobuf_put(&w->body, EVENT_TRACK_UUID, perfetto_profile_track(w, profile));
}

/* What is drawn as a slice: no measurement, or a wait. */
struct slice {
	enum { NOTHING, OFF, WAIT } what;
	uint32_t context; /* of a wait */
};

static void end_slice(struct perfetto_writer *w, uint32_t profile, struct slice *s,
		      uint64_t time_ns)
{
	if (s->what == NOTHING)
		return;
	perfetto_begin(w, PERFETTO_EVENTS);
	perfetto_put_event(w, EVENT_END, profile);
	perfetto_end(w, PACKET_TRACK_EVENT, time_ns);
	s->what = NOTHING;
}

static void begin_slice(struct perfetto_writer *w, uint32_t profile, const struct slice *s,
			uint64_t time_ns)
{
	const bool off = s->what == OFF;
	perfetto_begin(w, PERFETTO_EVENTS);
	perfetto_put_event(w, EVENT_BEGIN, profile);
	protobuf_put(&w->body, EVENT_NAME,
		     off ? perfetto_off_event(w)
			 : perfetto_function_event(w, w->m->contexts[s->context].function));
	protobuf_put(&w->body, EVENT_CATEGORIES,
		     perfetto_category(w, off ? PERFETTO_OFF : PERFETTO_WAIT));
	perfetto_end(w, PACKET_TRACK_EVENT, time_ns);
}

/*
 * From a sample at the root to the next one, measurement was off or the thread was outside of the
 * part.
 */
static void step_slice(struct perfetto_writer *w, uint32_t profile, uint32_t node, struct slice *s,
		       const struct model_sample *sample)
{
	const struct slice old = *s;
	const bool waits = node && model_is_wait(w->m, sample);
	if (node ? old.what == WAIT && !model_ends_wait(w->m, sample) : old.what == OFF)
		return;
	end_slice(w, profile, s, sample->time_ns);
	if (node && (!waits || (old.what == WAIT && old.context == sample->shown)))
		return;
	*s = (struct slice){node ? WAIT : OFF, sample->shown};
	begin_slice(w, profile, s, sample->time_ns);
}

/*
 * The call stack and the time are next to each other, so that zlib finds one long match in
 * repetitions.
 */
static void write_sample(struct perfetto_writer *w, uint32_t profile, uint32_t node,
	const struct model_sample *s)
{
	perfetto_begin(w, PERFETTO_FIRST_METRIC + s->metric);
	protobuf_put(&w->body, PERF_SAMPLE_PID, w->pids[w->m->profiles[profile].process]);
	protobuf_put(&w->body, PERF_SAMPLE_TID, w->tids[profile]);
	protobuf_put(&w->body, PERF_SAMPLE_CALLSTACK, perfetto_callstack(w, node));
	perfetto_end(w, PACKET_PERF_SAMPLE, s->time_ns);
}

void perfetto_write_samples(struct perfetto_writer *w, uint32_t profile)
{
	const struct model *m = w->m;
	struct model_trace_cursor cursor = {0};
	struct model_sample *samples = malloc(CHUNK_SAMPLES * sizeof *samples);
	struct slice slice = {NOTHING, 0};
	uint64_t last_ns = m->profiles[profile].end_ns;
	if (!samples)
		perfetto_out_no_memory(&w->out);
	for (size_t n; w->out.status == STATUS_OK &&
		       (n = model_trace_read(m, profile, &cursor, samples, CHUNK_SAMPLES));) {
		for (size_t i = 0; i < n; i++) {
			uint32_t node = w->calls.node_of[samples[i].shown];
			step_slice(w, profile, node, &slice, &samples[i]);
			if (node)
				write_sample(w, profile, node, &samples[i]);
		}
		if (samples[n - 1].time_ns > last_ns)
			last_ns = samples[n - 1].time_ns;
		progress_add(&w->progress, n, 0);
	}
	end_slice(w, profile, &slice, last_ns);
	free(samples);
}
