/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranges and marks of NVTX: the member "nvtx" of the section "meta" with the sums of each name, and
 * the section "nvtx" with single ones. Test: tests/cli/nvtx/nvtx_page.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include <inttypes.h>

static void put_number(struct html *h, const char *name, uint64_t value)
{
	html_put_text(&h->section, ",\"%s\":%" PRIu64, name, value);
}

static void put_range(struct html *h, const struct model_nvtx *x, uint32_t i)
{
	const struct model_nvtx_range *r = &x->ranges[i];
	html_put_text(&h->section, "%s{\"label\":%" PRIu32, i ? "," : "", html_string(h, r->label));
	put_number(h, "kind", r->kind);
	if (x->has_sums) {
		put_number(h, "n", r->n);
		put_number(h, "open", r->n_open);
		put_number(h, "ns", r->ns);
		put_number(h, "least", r->least_ns);
		put_number(h, "most", r->most_ns);
		if (x->has_cpu && model_nvtx_is_pushed(r))
			put_number(h, "cpu", r->cpu_ns);
		if (x->has_gpu && model_nvtx_is_pushed(r))
			put_number(h, "gpu", r->gpu_ns);
		if (r->has_gpu_others && r->gpu_others_ns)
			put_number(h, "others", r->gpu_others_ns);
		if (r->n_values)
			html_put_text(&h->section, ",\"values\":\"%.6g\"", r->value_sum);
	}
	html_put_text(&h->section, "}");
}

void html_put_nvtx(struct html *h)
{
	const struct model_nvtx *x = h->m->nvtx;
	if (!x)
		return;
	html_put_text(&h->section, ",\"nvtx\":{\"sums\":%d", x->has_sums);
	put_number(h, "lost", x->n_lost);
	put_number(h, "shorter", h->n_ranges_left_out);
	html_put_text(&h->section, ",\"ranges\":[");
	for (uint32_t i = 0; i < x->n_ranges; i++)
		put_range(h, x, i);
	html_put_text(&h->section, "]}");
}

/* ---- single ranges ---- */

static bool is_long(const struct model_nvtx_event *e, uint64_t shortest_ns)
{
	return e->leave_ns - e->enter_ns >= shortest_ns;
}

static size_t count_long(const struct model_nvtx_track *t, uint64_t shortest_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < t->n; i++)
		n += is_long(&t->events[i], shortest_ns);
	return n;
}

/* The shortest ranges are left out if there are more than a page carries. */
static uint64_t find_shortest(struct html *h, const struct model_nvtx *x)
{
	for (uint64_t shortest_ns = 0;; shortest_ns = shortest_ns ? shortest_ns * 2 : 100) {
		uint64_t n = 0, n_all = 0;
		for (uint32_t i = 0; i < x->n_tracks; i++) {
			n += count_long(&x->tracks[i], shortest_ns);
			n_all += x->tracks[i].n;
		}
		h->n_ranges_left_out = n_all - n;
		if (n <= HTML_MAX_RANGES || shortest_ns >> 60)
			return shortest_ns;
	}
}

static void put_track(struct html *h, const struct model_nvtx_track *t, uint64_t shortest_ns)
{
	struct html_section *s = &h->section;
	uint64_t last_ns = h->m->start_ns;
	html_put_number(s, t->profile);
	html_put_number(s, t->lane);
	html_put_number(s, count_long(t, shortest_ns));
	for (size_t i = 0; i < t->n; i++) {
		const struct model_nvtx_event *e = &t->events[i];
		if (!is_long(e, shortest_ns))
			continue;
		html_put_delta(s, (int64_t)(e->enter_ns - last_ns));
		html_put_number(s, e->leave_ns - e->enter_ns);
		html_put_number(s, e->range);
		last_ns = e->enter_ns;
	}
}

enum status html_write_nvtx(struct html *h)
{
	const struct model_nvtx *x = h->m->nvtx;
	html_section_begin(&h->section, &h->packer, "nvtx");
	html_put_number(&h->section, x ? x->n_tracks : 0);
	if (x) {
		const uint64_t shortest_ns = find_shortest(h, x);
		for (uint32_t i = 0; i < x->n_tracks; i++)
			put_track(h, &x->tracks[i], shortest_ns);
	}
	return html_section_end(&h->section);
}
