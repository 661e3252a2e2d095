/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Power as counter tracks: how fast a meter of energy grew between two changes, by time. Test:
 * tests/cli/gpu/energy.sh.
 */
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/perfetto/perfetto.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Meters come after the tracks of processes, profiles and NVTX. */
static uint64_t track_of(const struct perfetto_writer *w, uint32_t meter)
{
	const struct model *m = w->m;
	return (uint64_t)m->n_processes + m->n_profiles +
	       (m->nvtx ? (uint64_t)m->nvtx->n_tracks : 0) + meter + 1;
}

static void write_track(struct perfetto_writer *w, uint32_t i)
{
	const struct model_meter *meter = &w->m->meters[i];
	char name[256];
	if (meter->device != MODEL_NONE) {
		const struct model_gpu_device *d = &w->m->gpu_devices[meter->device];
		snprintf(name, sizeof name, "power of %s %" PRIu32 ": %s", names_device_type(d),
			 d->ordinal, d->name);
	} else {
		snprintf(name, sizeof name, "power by %s", meter->name);
	}
	perfetto_begin(w, PERFETTO_EVENTS);
	protobuf_clear(&w->sub);
	protobuf_put_text(&w->sub, COUNTER_UNIT_NAME, "W");
	protobuf_put(&w->body, TRACK_UUID, track_of(w, i));
	protobuf_put(&w->body, TRACK_PARENT_UUID, perfetto_process_track(meter->process));
	protobuf_put_text(&w->body, TRACK_NAME, name);
	protobuf_put_message(&w->body, TRACK_COUNTER, &w->sub);
	perfetto_end(w, PACKET_TRACK_DESCRIPTOR, 0);
}

static void write_value(struct perfetto_writer *w, uint32_t i, uint64_t time_ns, double watts)
{
	uint64_t bits;
	memcpy(&bits, &watts, sizeof bits);
	perfetto_begin(w, PERFETTO_EVENTS);
	protobuf_put(&w->body, EVENT_TYPE, EVENT_COUNTER);
	protobuf_put(&w->body, EVENT_TRACK_UUID, track_of(w, i));
	protobuf_put_fixed64(&w->body, EVENT_DOUBLE_COUNTER_VALUE, bits);
	perfetto_end(w, PACKET_TRACK_EVENT, time_ns);
}

void perfetto_write_energy(struct perfetto_writer *w)
{
	for (uint32_t i = 0; i < w->m->n_meters; i++) {
		const struct model_meter *meter = &w->m->meters[i];
		if (meter->n_changes < 2)
			continue;
		write_track(w, i);
		for (size_t k = 0; k < meter->n_changes; k++) {
			const struct model_energy_change *a = &meter->changes[k], *b = a + 1;
			bool is_end = k + 1 == meter->n_changes || b->begins;
			write_value(w, i, a->time_ns,
				    is_end ? 0
					   : (double)(b->energy_uj - a->energy_uj) * 1e3 /
						     (double)(b->time_ns - a->time_ns));
		}
	}
}
