/* SPDX-License-Identifier: BSD-3-Clause */
/* See text_evidence.h. Test: tests/cli/parallel/findings.sh. */
#include "hpcprof-lite/sink/text/text_evidence.h"

#include "hpcprof-lite/sink/text/text_print.h"

enum { INDENT = 17, LABEL = 7, FACT = 48 };

/* "82.0%", "1.20 s", "190 cycles", "2.0 TiB/s". Returns `cell`. */
static const char *say_fact(char cell[FACT], enum model_unit unit, double value)
{
	char one[TEXT_CELL];
	if (unit == MODEL_SHARE)
		text_share(one, value, 1);
	else if (unit == MODEL_BYTES_PER_CYCLE)
		snprintf(one, sizeof one, "%.1f", value);
	else if (unit == MODEL_BYTES_PER_SECOND)
		text_value(one, MODEL_BYTES, value);
	else if (value < 100 && unit == MODEL_COUNT)
		snprintf(one, sizeof one, "%.4g", value);
	else
		text_value(one, unit, value);
	snprintf(cell, FACT, "%s%s", *one ? one : "0",
		 unit == MODEL_CYCLES             ? " cycles"
		 : unit == MODEL_BYTES_PER_CYCLE  ? " B/cycle"
		 : unit == MODEL_BYTES_PER_SECOND ? "/s"
						  : "");
	return cell;
}

void text_labelled(const struct text_style *s, const char *label, const char *words)
{
	fprintf(s->out, "%*s%-*s", INDENT - LABEL, "", LABEL, label);
	text_wrap(s->out, words, s->width > INDENT + 20 ? s->width - INDENT : 20, INDENT);
}

void text_why(const struct view_fact *facts, unsigned n_facts, const struct text_style *s)
{
	char words[1024] = "", cell[FACT];
	size_t n = 0;
	for (unsigned i = 0; i < n_facts && n < sizeof words - 200; i++)
		n += (size_t)snprintf(words + n, sizeof words - n, "%s%s: %s", i ? "; " : "",
				      facts[i].what, say_fact(cell, facts[i].unit, facts[i].value));
	if (n)
		text_labelled(s, "why", words);
}

static void put_place(const struct model *m, const struct view_place *p, bool is_first,
		      const struct text_style *s)
{
	const struct model_context *c = &m->contexts[p->context];
	const size_t room = s->width > INDENT + 30 ? s->width - INDENT - 8 : 22;
	char place[TEXT_FILE + 16] = "", function[TEXT_NAME] = "", name[TEXT_NAME],
			       share[TEXT_CELL];
	if (c->kind == MODEL_CONTEXT_LINE)
		text_place(place, sizeof place, m, c);
	if (c->function < m->n_functions)
		text_function_name(function, sizeof function, m, c->function);
	const size_t taken = text_columns(place) + 4;
	text_shorten(function, room > taken + 12 ? room - taken : 12);
	snprintf(name, sizeof name, "%.300s%s%.3700s", place, *place && *function ? " in " : "",
		 function);
	fprintf(s->out, "%*s%-*s%6s  ", INDENT - LABEL, "", LABEL, is_first ? "where" : "",
		text_share(share, p->share, 1));
	text_cell(s->out, name, text_columns(name) < room ? text_columns(name) : room);
	putc('\n', s->out);
}

void text_where(const struct model *m, const struct view_place *places, unsigned n,
		const struct text_style *s)
{
	for (unsigned i = 0; i < n; i++)
		put_place(m, &places[i], i == 0, s);
}
