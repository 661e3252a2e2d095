/* SPDX-License-Identifier: BSD-3-Clause */
/* What would make GPU work faster, in the report. Test: tests/cli/gpu/advice_golden.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/advice/view_advice.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 6, HEAD = 28, INDENT = 17, LABEL = 7 };

static const char *fact_value(char cell[2 * TEXT_CELL], const struct view_advice_fact *f)
{
	char one[TEXT_CELL];
	if (f->unit == MODEL_SHARE)
		text_share(one, f->value, 1);
	else if (f->unit == MODEL_BYTES_PER_CYCLE)
		snprintf(one, sizeof one, "%.1f", f->value);
	else if (f->unit == MODEL_BYTES_PER_SECOND)
		text_value(one, MODEL_BYTES, f->value);
	else if (f->value < 100 && f->unit == MODEL_COUNT)
		snprintf(one, sizeof one, "%.4g", f->value);
	else
		text_value(one, f->unit, f->value);
	snprintf(cell, 2 * TEXT_CELL, "%s%s", *one ? one : "0",
		 f->unit == MODEL_CYCLES             ? " cycles"
		 : f->unit == MODEL_BYTES_PER_CYCLE  ? " B/cycle"
		 : f->unit == MODEL_BYTES_PER_SECOND ? "/s"
						     : "");
	return cell;
}

/* Words behind a label, in as many lines as they need. */
static void put_words(const struct text_style *s, const char *label, const char *words)
{
	fprintf(s->out, "%*s%-*s", INDENT - LABEL, "", LABEL, label);
	text_wrap(s->out, words, s->width > INDENT + 20 ? s->width - INDENT : 20, INDENT);
}

static void put_facts(const struct view_advice *a, const struct text_style *s)
{
	char words[1024] = "", cell[2 * TEXT_CELL];
	for (unsigned i = 0; i < a->n_facts; i++)
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s: %s",
			 i ? "; " : "", a->facts[i].what, fact_value(cell, &a->facts[i]));
	put_words(s, "why", words);
}

static void put_places(const struct model *m, const struct view_advice *a,
		       const struct text_style *s)
{
	size_t room = s->width > INDENT + 30 ? s->width - INDENT - 8 : 22;
	for (unsigned i = 0; i < a->n_places; i++) {
		const struct model_context *c = &m->contexts[a->places[i].context];
		char place[TEXT_FILE + 16] = "", function[TEXT_NAME] = "", name[TEXT_NAME],
				       share[TEXT_CELL];
		if (c->kind == MODEL_CONTEXT_LINE)
			text_place(place, sizeof place, m, c);
		if (c->function < m->n_functions)
			text_function_name(function, sizeof function, m, c->function);
		size_t taken = text_columns(place) + 4;
		text_shorten(function, room > taken + 12 ? room - taken : 12);
		snprintf(name, sizeof name, "%.300s%s%.3700s", place,
			 *place && *function ? " in " : "", function);
		fprintf(s->out, "%*s%-*s%6s  ", INDENT - LABEL, "", LABEL, i ? "" : "where",
			text_share(share, a->places[i].share, 1));
		text_cell(s->out, name, text_columns(name) < room ? text_columns(name) : room);
		putc('\n', s->out);
	}
}

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
		put_words(s, "in", name);
	}
	put_words(s, "do", view_advice_cure(a->kind));
	put_words(s, "if", view_advice_assumption(a->kind));
	put_facts(a, s);
	put_places(m, a, s);
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
