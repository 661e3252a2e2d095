/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink perfetto: trace.perfetto-trace, for ui.perfetto.dev and trace_processor. Threads and GPU
 * queues are tracks, GPU operations are slices, CPU samples are perf samples with call stacks.
 * Schema: protos/perfetto/trace of github.com/google/perfetto. doc/outputs.md explains the choices.
 * Computes nothing. Test: tests/cli/sink/sink_perfetto.sh.
 */
#include "hpcprof-lite/sink/perfetto/perfetto.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"
#include "hpcprof-lite/sink/perfetto/perfetto_sink.h"

#include <stdlib.h>

/* Times are CLOCK_REALTIME; with one clock in the snapshot readers convert nothing. */
static void write_clock(struct perfetto_writer *w)
{
	protobuf_clear(&w->sub);
	protobuf_put(&w->sub, CLOCK_ID, CLOCK_REALTIME_ID);
	protobuf_put(&w->sub, CLOCK_TIMESTAMP, w->m->start_ns);
	protobuf_put_message(&w->body, SNAPSHOT_CLOCK, &w->sub);
	protobuf_put(&w->body, SNAPSHOT_PRIMARY_CLOCK, CLOCK_REALTIME_ID);
	perfetto_begin(w, PERFETTO_EVENTS);
	perfetto_end(w, PACKET_CLOCK_SNAPSHOT, w->m->start_ns);
}

static bool prepare(struct perfetto_writer *w)
{
	w->sequences = calloc(w->m->n_metrics + PERFETTO_FIRST_METRIC, sizeof *w->sequences);
	return w->sequences && view_calls_open(w->m, &w->calls) && perfetto_number_threads(w);
}

static void write_all(struct perfetto_writer *w)
{
	const struct model *m = w->m;
	write_clock(w);
	perfetto_write_tracks(w);
	w->progress = progress_of_traces(m, w->o, "perfetto");
	for (uint32_t i = 0; i < m->n_profiles && w->out.status == STATUS_OK; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_QUEUE)
			perfetto_write_operations(w, i);
		else
			perfetto_write_samples(w, i);
	perfetto_write_nvtx(w);
	perfetto_write_energy(w);
	progress_end(&w->progress);
}

static void release(struct perfetto_writer *w)
{
	struct protobuf_message *const messages[] = {&w->packet, &w->interned, &w->body,
						     &w->sub,    &w->entry,    &w->ids};
	for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++)
		protobuf_free(messages[i]);
	for (uint32_t i = 0; w->sequences && i < w->m->n_metrics + PERFETTO_FIRST_METRIC; i++)
		free(w->sequences[i].written);
	free(w->sequences);
	free(w->pids);
	free(w->tids);
	view_calls_close(&w->calls);
}

static enum status write_perfetto(const struct model *m, const struct sink_options *o)
{
	struct perfetto_writer w = {.m = m, .o = o};
	enum status status = perfetto_out_open(&w.out, o->directory, "trace.perfetto-trace");
	if (status != STATUS_OK)
		return status;
	if (prepare(&w))
		write_all(&w);
	else
		perfetto_out_no_memory(&w.out);
	status = perfetto_out_close(&w.out);
	release(&w);
	return status;
}

const struct sink_ops sink_perfetto = {
	.name = "perfetto",
	.what = "trace for ui.perfetto.dev",
	.makes_files = true,
	.on_request = true,
	.write = write_perfetto,
};
