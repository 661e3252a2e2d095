/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink perfetto: trace.perfetto-trace, for ui.perfetto.dev and trace_processor. Threads and GPU
 * queues are tracks, GPU operations are slices, CPU samples are perf samples with call stacks.
 * Schema: protos/perfetto/trace of github.com/google/perfetto. doc/outputs.md explains the choices.
 * Computes nothing. Test: tests/cli/sink/sink_perfetto.sh.
 */
#include "hpcprof-lite/sink/perfetto/perfetto.h"

#include "common/base/log.h"
#include "hpcprof-lite/sink/names.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"
#include "hpcprof-lite/sink/perfetto/perfetto_sink.h"

#include <stdlib.h>
#include <string.h>

/* ---- packets ---- */

/* What the samples of one metric count. */
static void put_timebase(struct perfetto_writer *w, const struct model_metric *metric)
{
	char *name = names_metric(metric);
	protobuf_clear(&w->entry);
	if (metric->period)
		protobuf_put(&w->entry, TIMEBASE_PERIOD, metric->period);
	if (strcmp(metric->unit, "sec") == 0)
		protobuf_put(&w->entry, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
	if (name)
		protobuf_put_bytes(&w->entry, TIMEBASE_NAME, name, strlen(name));
	w->entry.failed |= !name;
	free(name);
	protobuf_clear(&w->ids);
	protobuf_put_message(&w->ids, PERF_DEFAULTS_TIMEBASE, &w->entry);
	protobuf_put_message(&w->sub, DEFAULTS_PERF_SAMPLE, &w->ids);
}

static void begin_sequence(struct perfetto_writer *w, uint32_t index)
{
	w->sequence->written = calloc(perfetto_n_interned(w) / 8 + 1, 1);
	if (!w->sequence->written)
		perfetto_out_no_memory(&w->out);
	protobuf_clear(&w->sub);
	protobuf_put(&w->sub, DEFAULTS_CLOCK_ID, CLOCK_REALTIME_ID);
	if (index >= PERFETTO_FIRST_METRIC)
		put_timebase(w, &w->m->metrics[index - PERFETTO_FIRST_METRIC]);
	protobuf_put(&w->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED | SEQUENCE_NEEDS_STATE);
	protobuf_put(&w->packet, PACKET_FIRST_ON_SEQUENCE, true);
	protobuf_put_message(&w->packet, PACKET_DEFAULTS, &w->sub);
}

void perfetto_begin(struct perfetto_writer *w, uint32_t sequence)
{
	w->sequence = &w->sequences[sequence];
	w->sequence->id = sequence + 1;
	protobuf_put(&w->packet, PACKET_SEQUENCE_ID, w->sequence->id);
	if (w->sequence->written)
		protobuf_put(&w->packet, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	else
		begin_sequence(w, sequence);
}

void perfetto_end(struct perfetto_writer *w, unsigned field, uint64_t time_ns)
{
	if (w->interned.bytes.n)
		protobuf_put_message(&w->packet, PACKET_INTERNED_DATA, &w->interned);
	protobuf_clear(&w->interned);
	protobuf_put_message(&w->packet, field, &w->body);
	protobuf_clear(&w->body);
	if (time_ns)
		protobuf_put(&w->packet, PACKET_TIMESTAMP, time_ns);
	perfetto_out_put(&w->out, &w->packet);
}

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

/* ---- the sink ---- */

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
