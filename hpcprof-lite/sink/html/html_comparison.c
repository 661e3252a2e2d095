/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the page of a comparison needs to judge what is noise: the member "comparison" of "meta",
 * and the section "runs". Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"
#include "hpcprof-lite/sink/html/html_sink.h"

#include <inttypes.h>
#include <math.h>

/* Variances have this many more digits than values. */
static const double variance_scale = 1e3;

static const struct sink_html_comparison *comparison_of(const struct html *h)
{
	const struct sink_html_settings *settings = h->o->settings;
	return settings ? settings->comparison : NULL;
}

static void put_run(struct html *h, const struct sink_html_run *run)
{
	html_put_text(&h->section,
		      "{\"side\":%" PRIu32 ",\"path\":%" PRIu32 ",\"command\":%" PRIu32
		      ",\"elapsed\":%" PRIu64 ",\"processes\":%" PRIu32 ",\"threads\":%" PRIu32
		      ",\"ranks\":%" PRIu32 ",\"closes\":%d,\"named\":%d}",
		      run->side, html_string(h, run->path), html_string(h, run->command),
		      run->elapsed_ns / 1000, run->n_processes, run->n_threads, run->n_ranks,
		      run->is_complete, !run->lacks_names);
}

void html_put_comparison(struct html *h)
{
	const struct sink_html_comparison *c = comparison_of(h);
	if (!c) {
		html_put_text(&h->section, ",\"comparison\":0");
		return;
	}
	html_put_text(&h->section, ",\"comparison\":{\"metric\":%" PRIu32 ",\"runs\":[", c->metric);
	for (uint32_t i = 0; i < c->n_runs; i++) {
		html_put_text(&h->section, i ? "," : "");
		put_run(h, &c->runs[i]);
	}
	html_put_text(&h->section, "],\"noise\":[");
	for (uint32_t i = 0; i < c->n_noise; i++)
		html_put_text(&h->section,
			      "%s{\"excess\":%.12g,\"measured\":%d,\"sum\":%d,\"weights\":"
			      "[%.12g,%.12g]}",
			      i ? "," : "", c->noise[i].excess, c->noise[i].is_excess_measured,
			      c->noise[i].is_sum, c->noise[i].weights[0], c->noise[i].weights[1]);
	html_put_text(&h->section, "]}");
}

static uint64_t rounded(double x)
{
	return x > 0 ? (uint64_t)llround(x) : 0;
}

/* A variance is written as a part of its value, so that it is no larger than that. */
static void put_amount(struct html *h, const struct sink_html_amount *a, uint32_t *last)
{
	struct html_section *s = &h->section;
	const uint32_t context = h->tree.kept[a->context];
	const double scale = html_scale(h, &h->m->metrics[a->metric]);
	html_put_delta(s, (int64_t)context + 1 - *last);
	html_put_number(s, a->metric);
	html_put_number(s, rounded(a->value * scale));
	html_put_number(s, a->value > 0 ? rounded(a->variance / a->value * scale * variance_scale)
					: 0);
	html_put_number(s, a->n_samples);
	*last = context + 1;
}

enum status html_write_runs(struct html *h)
{
	const struct sink_html_comparison *c = comparison_of(h);
	struct html_section *s = &h->section;
	if (!c)
		return STATUS_OK;
	html_section_begin(s, &h->packer, "runs");
	for (uint32_t run = 0; run < c->n_runs; run++) {
		struct sink_html_amount a;
		uint32_t last = 0;
		for (size_t at = 0; c->next(c->arg, run, &at, &a);)
			put_amount(h, &a, &last);
		html_put_delta(s, -(int64_t)last); /* context + 1 is 0 at the end */
	}
	return html_section_end(s);
}
