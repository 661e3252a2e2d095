/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Power by meters of energy: each meter is a location of its own, with a metric of the mean power
 * between two changes. Test: tests/cli/gpu/energy.sh.
 */
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/otf2/otf2.h"

#include <inttypes.h>
#include <stdio.h>

static OTF2_LocationRef location_of(const struct model *m, uint32_t meter)
{
	return otf2_n_locations(m) - m->n_meters + meter;
}

/* The class and its only member come after those of PC sampling, if there are any. */
static OTF2_MetricRef class_of(const struct model *m)
{
	return sampling_is_there(&m->gpu_sampling) ? otf2_instance_gpu_sampling(m, m->n_processes)
						   : otf2_class_gpu_sampling(m);
}

static OTF2_MetricMemberRef member_of(const struct model *m)
{
	return m->n_metrics + OTF2_LEDGER_MEMBERS + OTF2_GPU_LEDGER_MEMBERS +
	       (sampling_is_there(&m->gpu_sampling) ? SAMPLING_FACTS : 0);
}

/* ---- definitions ---- */

void otf2_energy_clock(const struct model *m, uint64_t *first_ns, uint64_t *last_ns)
{
	for (uint32_t i = 0; i < m->n_meters; i++) {
		const struct model_meter *meter = &m->meters[i];
		if (!meter->n_changes)
			continue;
		if (meter->changes[0].time_ns < *first_ns)
			*first_ns = meter->changes[0].time_ns;
		if (meter->changes[meter->n_changes - 1].time_ns > *last_ns)
			*last_ns = meter->changes[meter->n_changes - 1].time_ns;
	}
}

void otf2_energy_locations(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	for (uint32_t i = 0; i < m->n_meters; i++) {
		const struct model_meter *meter = &m->meters[i];
		const OTF2_LocationRef self = location_of(m, i);
		char name[256];
		if (meter->device != MODEL_NONE)
			snprintf(name, sizeof name, "Power of %s %" PRIu32 ": %s",
				 names_device_type(&m->gpu_devices[meter->device]),
				 m->gpu_devices[meter->device].ordinal,
				 m->gpu_devices[meter->device].name);
		else
			snprintf(name, sizeof name, "Power by %s", meter->name);
		const OTF2_StringRef name_ref = otf2_string(d, name);
		if (d->out)
			otf2_check_def(d, OTF2_GlobalDefWriter_WriteLocation(
						  d->out, self, name_ref, OTF2_LOCATION_TYPE_METRIC,
						  d->w->n_events[self], meter->process));
	}
}

void otf2_energy_metrics(struct otf2_defs *d)
{
	const struct model *m = d->w->m;
	const OTF2_MetricMemberRef member = member_of(m);
	if (!m->n_meters)
		return;
	otf2_member(d, member, "power", "mean power between two changes of the meter",
		    OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_NEXT, OTF2_TYPE_DOUBLE, "W");
	if (d->out)
		otf2_check_def(d, OTF2_GlobalDefWriter_WriteMetricClass(
					  d->out, class_of(m), 1, &member, OTF2_METRIC_ASYNCHRONOUS,
					  OTF2_RECORDER_KIND_UNKNOWN));
}

/* ---- events ---- */

void otf2_write_energy(struct otf2_line *l, uint32_t i)
{
	const struct model *m = l->w->m;
	const struct model_meter *meter = &m->meters[i];
	const OTF2_Type type = OTF2_TYPE_DOUBLE;
	for (size_t k = 0; k < meter->n_changes && !otf2_has_failed(l->w); k++) {
		const struct model_energy_change *a = &meter->changes[k], *b = a + 1;
		bool is_end = k + 1 == meter->n_changes || b->begins;
		const OTF2_MetricValue watts = {
			.floating_point = is_end ? 0
						 : (double)(b->energy_uj - a->energy_uj) * 1e3 /
							   (double)(b->time_ns - a->time_ns)};
		otf2_check(l->w,
			   OTF2_EvtWriter_Metric(l->out, NULL, a->time_ns, class_of(m), 1, &type,
						 &watts),
			   "power");
	}
}
