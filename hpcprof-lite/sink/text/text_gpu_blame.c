/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the waiting lines of a kernel wait for, in the report. Test:
 * tests/unit/prof_gpu/test_blame_text.c.
 */
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"

#include <stdio.h>
#include <string.h>

enum {
	MOST_PAIRS = 6,
	WIDE = 130, /* room for a pair in one row */
	REASON = 6, /* columns */
	INDENT = 13 /* of what follows the share */
};

/*
 * "tracers.cu:26 in velocity, inlined at tracers.cu:40, loop at tracers.cu:24". The function is
 * left out if it is that of the waiting line, the call if there is no room for it.
 */
static void name_cause(const struct model *m, const struct view_blame_pair *p, size_t room,
		       char *to, size_t n_bytes)
{
	char around[TEXT_FILE + 32] = "";
	const struct model_context *cause = &m->contexts[p->cause];
	uint32_t loop = view_blame_loop(m, p);
	if (loop != MODEL_NONE && m->contexts[loop].line != cause->line) {
		strcpy(around, ", loop at ");
		text_place(around + strlen(around), sizeof around - strlen(around), m,
			   &m->contexts[loop]);
	}
	size_t taken = text_columns(around);
	room = room > taken + 20 ? room - taken : 20;
	if (cause->function == m->contexts[p->waiting].function)
		text_place(to, n_bytes, m, cause);
	else
		text_gpu_line(m, p->cause, room, to, n_bytes);
	char *call = text_columns(to) > room ? strstr(to, ", inlined at ") : NULL;
	if (call)
		*call = 0;
	snprintf(to + strlen(to), n_bytes - strlen(to), "%s", around);
}

/* The reason of the stall, "GMEM", and what the line waits for; from column `at` on. */
static void put_cause(const struct model *m, const struct view_blame_pair *p, size_t at,
		      size_t room, const struct text_style *s)
{
	char words[128], name[TEXT_NAME] = "", line[TEXT_NAME + 256];
	snprintf(line, sizeof line, "%s", m->metrics[p->metric].reason);
	for (char *c = line; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	view_blame_words(p, words, sizeof words);
	size_t taken = text_columns(line) + text_columns(words) + 3;
	if (!p->is_same_line)
		name_cause(m, p, room > taken + 20 ? room - taken : 20, name, sizeof name);
	snprintf(line + strlen(line), sizeof line - strlen(line), ": %s%s%s", words,
		 *name ? " " : "", name);
	text_wrap(s->out, line, room, at);
}

static void put_pair(const struct model *m, const struct view_blame_pair *p, double whole,
		     const struct text_style *s)
{
	char a[TEXT_CELL], name[TEXT_NAME];
	bool is_wide = s->width >= WIDE;
	size_t room = s->width > INDENT + 40 ? s->width - INDENT : 40,
	       columns = is_wide ? room / 20 * 9 : room;
	text_gpu_line(m, p->waiting, columns, name, sizeof name);
	text_emphasise(s, p->samples / whole);
	fprintf(s->out, "%11s", text_share(a, p->samples, whole));
	text_plain(s);
	fputs("  ", s->out);
	if (is_wide) {
		text_cell(s->out, name, columns);
		fputs("  ", s->out);
		put_cause(m, p, INDENT + columns + 2, room - columns - 2, s);
		return;
	}
	size_t n = text_columns(name);
	text_cell(s->out, name, n < columns ? n : columns);
	fprintf(s->out, "\n%*s", INDENT + 2, "");
	put_cause(m, p, INDENT + 2, room - 2, s);
}

void text_report_gpu_blame(const struct model *m, const struct view_blame *b, uint32_t kernel,
			   double samples, const struct text_style *s)
{
	char a[TEXT_CELL];
	size_t n, n_shown = 0, n_hidden = 0, first = view_blame_find(b, kernel, &n);
	double hidden = 0, before = 0, unblamed = view_blame_unblamed(b, kernel);
	if (!n)
		return;
	fputs("    which lines waited for which (derived from dependencies in the code)\n", s->out);
	for (size_t i = 0; i < n; i++) {
		const struct view_blame_pair *p = &b->pairs.at[first + i];
		if (p->is_before && p->is_same_line) {
			before += p->samples;
		} else if (n_shown < MOST_PAIRS && p->samples >= s->threshold * samples) {
			put_pair(m, p, samples, s);
			n_shown++;
		} else {
			hidden += p->samples;
			n_hidden++;
		}
	}
	if (n_hidden)
		fprintf(s->out, "%11s  %zu more\n", text_share(a, hidden, samples), n_hidden);
	if (before >= s->threshold * samples)
		fprintf(s->out, "%11s  each for the instruction before, in the same line\n",
			text_share(a, before, samples));
	if (unblamed >= s->threshold * samples)
		fprintf(s->out, "%11s  no cause is known\n", text_share(a, unblamed, samples));
}
