/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of the sink perfetto: their sequence, and the interned data that they use first.
 * Test: tests/cli/sink/sink_perfetto.sh.
 */
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/perfetto/perfetto.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"

#include <stdlib.h>
#include <string.h>

/* What the samples of one metric count. */
static void put_timebase(struct perfetto_writer *w, const struct model_metric *metric)
{
	char *name = names_metric(metric);
	protobuf_clear(&w->entry);
	if (metric->period)
		protobuf_put(&w->entry, TIMEBASE_PERIOD, metric->period);
	if (metric->unit == MODEL_SECONDS)
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
