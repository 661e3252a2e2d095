/* SPDX-License-Identifier: BSD-3-Clause */
/* What would make GPU work faster, in the report. Test: tests/cli/gpu/advice_golden.sh. */
#include "hpcprof-lite/sink/text/text_evidence.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/advice/view_advice.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 6, HEAD = 28, INDENT = 17 };

/* "GPU 0", or the kernel. */
static void name_subject(const struct model *m, const struct view_advice *a, size_t room,
			 char name[TEXT_NAME])
{
	if (a->function < m->n_functions)
		text_function_name(name, TEXT_NAME, m, a->function);
	else
		snprintf(name, TEXT_NAME, "GPU %u", m->gpu_devices[a->device].ordinal);
	text_shorten(name, room);
}

static void put_row(const struct model *m, const struct view_advice *a, const struct text_style *s)
{
	char share[TEXT_CELL], likely[TEXT_CELL], between[2 * TEXT_CELL], name[TEXT_NAME];
	const char *title = view_advice_title(a->kind);
	size_t room = s->width > HEAD + 20 ? s->width - HEAD : 20,
	       of_name = room > strlen(title) + 14 ? room - strlen(title) - 2 : 12;
	double saved = view_advice_saved(a);
	name_subject(m, a, of_name, name);
	bool fits = text_columns(name) <= of_name;
	snprintf(likely, sizeof likely, "%.*fx", a->factor.likely < 10 ? 2 : 1, a->factor.likely);
	snprintf(between, sizeof between, "%.*f-%.*f", a->factor.low < 10 ? 2 : 1, a->factor.low,
		 a->factor.high < 10 ? 2 : 1, a->factor.high);
	text_emphasise(s, saved / a->whole);
	fprintf(s->out, "%7s %7s %-11s", text_share(share, saved, a->whole), likely, between);
	text_plain(s);
	putc(' ', s->out);
	if (fits)
		text_cell(s->out, name, 0);
	fprintf(s->out, "%s%s\n", fits ? ": " : "", title);
	if (!fits) {
		name_subject(m, a, s->width > INDENT + 20 ? s->width - INDENT : 20, name);
		text_labelled(s, "in", name);
	}
	text_labelled(s, "do", view_advice_cure(a->kind));
	text_labelled(s, "if", view_advice_assumption(a->kind));
	text_why(a->facts, a->n_facts, s);
	text_where(m, a->places, a->n_places, s);
}

bool text_report_advice(const struct model *m, const struct view_gpu *g, const struct text_style *s)
{
	struct view_advices a;
	size_t n = 0;
	if (!view_advice_make(m, g, &a))
		return false;
	while (n < a.rows.n && n < MOST_ROWS &&
	       view_advice_saved(&a.rows.at[n]) >= s->threshold * a.whole)
		n++;
	if (n) {
		text_heading(s, "What would make it faster: estimates, each by itself");
		fprintf(s->out, "%7s %7s %s\n", "saves", "faster", "between");
	}
	for (size_t i = 0; i < n; i++)
		put_row(m, &a.rows.at[i], s);
	if (n && n < a.rows.n)
		fprintf(s->out, "%*s%zu more\n", INDENT, "", a.rows.n - n);
	if (n)
		putc('\n', s->out);
	view_advice_free(&a);
	return true;
}
