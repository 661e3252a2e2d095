/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What would make GPU work faster: the member "advice" of the section "meta". Test:
 * tests/cli/gpu/advice_golden.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/advice/view_advice.h"

#include <inttypes.h>

enum { MOST_ROWS = 20 };

static void put_row(struct html *h, const struct view_advice *a)
{
	html_put_text(&h->section,
		      "{\"function\":%" PRId64 ",\"device\":%" PRId64 ",\"saves\":%.4f"
		      ",\"low\":%.2f,\"likely\":%.2f,\"high\":%.2f,\"title\":%" PRIu32
		      ",\"cure\":%" PRIu32 ",\"assumption\":%" PRIu32,
		      a->function == MODEL_NONE ? -1 : (int64_t)a->function,
		      a->device == MODEL_NONE ? -1 : (int64_t)a->device,
		      a->whole > 0 ? view_advice_saved(a) / a->whole : 0, a->factor.low,
		      a->factor.likely, a->factor.high, html_string(h, view_advice_title(a->kind)),
		      html_string(h, view_advice_cure(a->kind)),
		      html_string(h, view_advice_assumption(a->kind)));
	html_put_evidence(h, a->facts, a->n_facts, a->places, a->n_places);
	html_put_text(&h->section, "}");
}

static bool make_advice(const struct model *m, struct view_advices *a)
{
	struct view_gpu g;
	if (!view_gpu_open(m, &g))
		return false;
	bool ok = view_advice_make(m, &g, a);
	view_gpu_close(&g);
	return ok;
}

void html_put_advice(struct html *h)
{
	struct view_advices a;
	if (!h->m->has_gpu || html_is_comparison(h))
		return;
	if (!make_advice(h->m, &a)) {
		h->failed = true;
		return;
	}
	if (a.rows.n) {
		html_put_text(&h->section, ",\"advice\":[");
		for (size_t i = 0; i < a.rows.n && i < MOST_ROWS; i++) {
			html_put_text(&h->section, i ? "," : "");
			put_row(h, &a.rows.at[i]);
		}
		html_put_text(&h->section, "],\"adviceRows\":%zu", a.rows.n);
	}
	view_advice_free(&a);
}
