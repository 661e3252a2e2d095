/* SPDX-License-Identifier: BSD-3-Clause */
/* What matters most: the member "findings" of the section "meta". Test:
 * tests/cli/parallel/findings.sh. */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/findings/findings.h"

#include <inttypes.h>

void html_put_evidence(struct html *h, const struct view_fact *facts, unsigned n_facts,
		       const struct view_place *places, unsigned n_places)
{
	const char *comma = "";
	html_put_text(&h->section, ",\"facts\":[");
	for (unsigned i = 0; i < n_facts; i++)
		html_put_text(&h->section,
			      "%s{\"what\":%" PRIu32 ",\"unit\":%" PRIu32 ",\"value\":%.9g}",
			      i ? "," : "", html_string(h, facts[i].what),
			      html_string(h, model_unit_name(facts[i].unit)), facts[i].value);
	html_put_text(&h->section, "],\"places\":[");
	for (unsigned i = 0; i < n_places; i++) {
		const uint32_t context = places[i].context;
		if (!h->tree.is_kept[context])
			continue;
		html_put_text(&h->section, "%s{\"context\":%" PRIu32 ",\"share\":%.4f}", comma,
			      h->tree.kept[context], places[i].share);
		comma = ",";
	}
	html_put_text(&h->section, "]");
}

static void put_finding(struct html *h, const struct finding *f)
{
	html_put_text(&h->section,
		      "{\"key\":\"%s\",\"title\":%" PRIu32 ",\"subject\":%" PRIu32
		      ",\"cure\":%" PRIu32
		      ",\"cost\":%.9g,\"low\":%.9g,\"likely\":%.9g,\"high\":%.9g",
		      f->key, html_string(h, f->title), html_string(h, f->subject),
		      html_string(h, f->cure), f->cost, f->low, f->likely, f->high);
	html_put_text(&h->section, ",\"process\":%" PRId64 ",\"function\":%" PRId64,
		      f->process == MODEL_NONE ? -1 : (int64_t)f->process,
		      f->function == MODEL_NONE ? -1 : (int64_t)f->function);
	html_put_evidence(h, f->facts, f->n_facts, f->places, f->n_places);
	html_put_text(&h->section, "}");
}

void html_put_findings(struct html *h)
{
	struct findings f;
	if (html_is_comparison(h))
		return;
	if (!findings_make(h->m, &f)) {
		h->failed = true;
		return;
	}
	html_put_text(&h->section, ",\"findings\":[");
	for (size_t i = 0; i < f.list.n; i++) {
		html_put_text(&h->section, i ? "," : "");
		put_finding(h, &f.list.at[i]);
	}
	html_put_text(&h->section, "]");
	findings_free(&f);
}
