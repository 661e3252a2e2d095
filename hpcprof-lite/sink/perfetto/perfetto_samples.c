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

/* From a sample at the root to the next one, measurement was off or the thread was elsewhere. */
static void write_off(struct perfetto_writer *w, uint32_t profile, bool off, uint64_t time_ns)
{
	perfetto_begin(w, PERFETTO_EVENTS);
	perfetto_put_event(w, off ? EVENT_BEGIN : EVENT_END, profile);
	if (off) {
		protobuf_put(&w->body, EVENT_NAME, perfetto_off_event(w));
		protobuf_put(&w->body, EVENT_CATEGORIES, perfetto_category(w, PERFETTO_OFF));
	}
	perfetto_end(w, PACKET_TRACK_EVENT, time_ns);
}

/* The call stack and the time are next to each other, so that what repeats is one long match. */
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
	bool off = false;
	uint64_t last_ns = m->profiles[profile].end_ns;
	if (!samples)
		perfetto_out_no_memory(&w->out);
	for (size_t n; w->out.status == STATUS_OK &&
		       (n = model_trace_read(m, profile, &cursor, samples, CHUNK_SAMPLES));) {
		for (size_t i = 0; i < n; i++) {
			uint32_t node = w->calls.node_of[samples[i].context];
			if (off != (node == 0))
				write_off(w, profile, node == 0, samples[i].time_ns);
			off = node == 0;
			if (node)
				write_sample(w, profile, node, &samples[i]);
		}
		if (samples[n - 1].time_ns > last_ns)
			last_ns = samples[n - 1].time_ns;
		progress_add(&w->progress, n, 0);
	}
	if (off)
		write_off(w, profile, false, last_ns);
	free(samples);
}
