/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "What matters most": the first findings, with the time that they cost and could give back. Test:
 * tests/cli/parallel/findings.sh.
 */
#include "hpcprof-lite/sink/text/text_evidence.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/findings/findings.h"

#include <stdlib.h>

/* " 5.07 s  41.2%  title", or "note": findings about the measurement have no gain. */
static void put_title(const struct findings *all, const struct finding *f,
		      const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	text_emphasise(s, all->elapsed > 0 ? f->likely / all->elapsed : 0);
	if (f->high > 0)
		fprintf(s->out, "%9s %6s  ", text_seconds(a, f->likely),
			text_share(b, f->likely, all->elapsed));
	else
		fprintf(s->out, "%9s %6s  ", "note", "");
	text_plain(s);
	text_cell(s->out, f->title, 0);
	putc('\n', s->out);
}

/* The section about GPUs says more about advice, if it is shown and has this row. */
static bool is_below(const struct findings *all, const struct finding *f, bool has_advice,
		     const struct text_style *s)
{
	return has_advice && f->is_advice && f->likely >= s->threshold * all->elapsed;
}

static void put_finding(const struct model *m, const struct findings *all, const struct finding *f,
			bool has_advice, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], gain[3 * TEXT_CELL];
	put_title(all, f, s);
	if (*f->subject)
		text_labelled(s, "which", f->subject);
	snprintf(gain, sizeof gain, "%s to %s", f->low > 0 ? text_seconds(a, f->low) : "0",
		 text_seconds(b, f->high));
	if (f->high > 0)
		text_labelled(s, "gain", gain);
	if (is_below(all, f, has_advice, s)) {
		text_labelled(s, "do", "see \"What would make it faster\" below");
		return;
	}
	text_why(f->facts, f->n_facts, s);
	text_labelled(s, "do", f->cure);
	text_where(m, f->places, f->n_places, s);
}

bool text_report_findings(const struct model *m, bool has_advice, const struct text_style *s)
{
	struct findings f;
	if (!findings_make(m, &f))
		return false;
	const size_t n = f.list.n < FINDINGS_HEAD ? f.list.n : FINDINGS_HEAD;
	bool has_gain = false;
	for (size_t i = 0; i < n; i++)
		has_gain |= f.list.at[i].high > 0;
	if (has_gain)
		text_heading(s, "What matters most: elapsed time that a cure could give back");
	else if (n)
		text_heading(s, "What matters most");
	if (has_gain)
		fprintf(s->out, "%9s %6s\n", "likely", "share");
	for (size_t i = 0; i < n; i++)
		put_finding(m, &f, &f.list.at[i], has_advice, s);
	if (n < f.list.n)
		fprintf(s->out, "%10s%zu more: --to brief has them all\n", "", f.list.n - n);
	if (n)
		putc('\n', s->out);
	findings_free(&f);
	return true;
}
