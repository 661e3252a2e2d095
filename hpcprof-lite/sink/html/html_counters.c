/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hardware counters say about each kernel: the member "counters" of the section "meta". Test:
 * tests/cli/gpu/counters.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/counters/view_counters.h"

#include <inttypes.h>

enum { MOST_ROWS = 200 };

static void put_number(struct html *h, const char *key, double v)
{
	html_put_text(&h->section, ",\"%s\":%.9g", key, v);
}

static void put_row(struct html *h, const struct view_counters *c,
		    const struct view_counters_row *r)
{
	struct view_bounds b = view_counters_bounds(c, r);
	html_put_text(&h->section, "{\"function\":%" PRIu32, r->function);
	put_number(h, "launches", r->launches);
	put_number(h, "counted", r->counted);
	put_number(h, "seconds", r->seconds);
	put_number(h, "bytes", r->bytes_read + r->bytes_written);
	put_number(h, "hits", r->hits);
	put_number(h, "misses", r->misses);
	put_number(h, "operations", r->operations);
	put_number(h, "least", b.seconds);
	html_put_text(&h->section, ",\"by\":%" PRIu32 "}",
		      html_string(h, b.seconds <= 0              ? ""
				     : b.by == VIEW_BOUND_MEMORY ? "memory"
								 : view_work_name(b.work)));
}

/* Only the roofs that some kernel could reach. */
static void put_roofs(struct html *h, const struct view_counters *c)
{
	const char *comma = "";
	html_put_text(&h->section, ",\"roofs\":[");
	for (unsigned w = 0; w < VIEW_N_WORKS; w++) {
		double done = 0;
		for (size_t i = 0; i < c->n; i++)
			done += c->at[i].work[w];
		if (done <= 0 || c->roofs.operations[w] <= 0)
			continue;
		html_put_text(&h->section, "%s{\"name\":%" PRIu32 ",\"rate\":%.9g}", comma,
			      html_string(h, view_work_name((enum view_work)w)),
			      c->roofs.operations[w]);
		comma = ",";
	}
	html_put_text(&h->section, "]");
}

void html_put_counters(struct html *h)
{
	struct view_counters c;
	if (!h->m->has_gpu || html_is_comparison(h))
		return;
	if (!view_counters_make(h->m, &c)) {
		h->failed = true;
		return;
	}
	if (c.n) {
		html_put_text(&h->section, ",\"counters\":{\"hasBytes\":%d,\"hasHits\":%d",
			      c.has_bytes, c.has_hits);
		html_put_text(&h->section, ",\"hasWork\":%d", c.has_work || c.has_tensor);
		put_number(h, "launches", c.launches);
		put_number(h, "counted", c.counted);
		put_number(h, "memory", c.roofs.bytes);
		put_roofs(h, &c);
		html_put_text(&h->section, ",\"rows\":[");
		for (size_t i = 0; i < c.n && i < MOST_ROWS; i++) {
			html_put_text(&h->section, i ? "," : "");
			put_row(h, &c, &c.at[i]);
		}
		html_put_text(&h->section, "],\"more\":%zu}",
			      c.n > MOST_ROWS ? c.n - MOST_ROWS : 0);
	}
	view_counters_free(&c);
}
