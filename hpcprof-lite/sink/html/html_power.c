/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section "power": the mean power between readings of each meter of energy. Test:
 * tests/cli/gpu/energy_golden.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

enum { MOST_READINGS = 2000 }; /* of a meter: more than a screen has columns */

static uint64_t since_start(const struct html *h, uint64_t time_ns)
{
	return time_ns > h->m->start_ns ? time_ns - h->m->start_ns : 0;
}

/* The last change of a stretch of at most n + 1 from `i` that is not interrupted. */
static size_t end_of_stretch(const struct model_meter *meter, size_t i, size_t n)
{
	while (n-- && i + 1 < meter->n_changes && !meter->changes[i + 1].begins)
		i++;
	return i;
}

static void put_changes(struct html *h, const struct model_meter *meter, size_t n_together)
{
	struct html_section *s = &h->section;
	uint64_t last_ns = 0;
	for (size_t i = 0, end; i < meter->n_changes; i = end) {
		const struct model_energy_change *a = &meter->changes[i];
		end = end_of_stretch(meter, i, n_together);
		const struct model_energy_change *b = &meter->changes[end];
		const uint64_t from_ns = since_start(h, a->time_ns),
			       took_ns = b->time_ns - a->time_ns;
		html_put_number(s, (from_ns > last_ns ? from_ns - last_ns : 0) + 1);
		last_ns = from_ns > last_ns ? from_ns : last_ns;
		/* uJ/ns = kW */
		html_put_number(s, took_ns ? (uint64_t)((double)(b->energy_uj - a->energy_uj) *
							1e6 / (double)took_ns)
					   : 0);
		end += end == i;
	}
	html_put_number(s, 0);
}

enum status html_write_power(struct html *h)
{
	html_section_begin(&h->section, &h->packer, "power");
	html_put_number(&h->section, h->m->n_meters);
	for (uint32_t i = 0; i < h->m->n_meters; i++) {
		const struct model_meter *meter = &h->m->meters[i];
		html_put_number(&h->section, html_string(h, meter->name));
		html_put_number(&h->section,
				meter->device == MODEL_NONE ? 0 : (uint64_t)meter->device + 1);
		html_put_number(&h->section, meter->process);
		put_changes(h, meter, (meter->n_changes + MOST_READINGS - 1) / MOST_READINGS);
	}
	return html_section_end(&h->section);
}
