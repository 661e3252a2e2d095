/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of ranks that behave alike. Test: tests/cli/prof/prof_scale.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/parallel/view_ranks.h"

#include <inttypes.h>
#include <string.h>

enum {
	LIST = 120, /* bytes of a list */
	NAME = 28,  /* columns of a name */
	TAKEN = 70, /* before a list */
	INDENT = 20 /* of a list on a line of its own, in a narrow report */
};

/* "0-122,124-599": as many ranks of a group as there is room for. */
static void list_ranks(const struct model *m, const uint32_t *processes, uint32_t n, size_t room,
		       char to[LIST])
{
	char one[32];
	size_t used = 0;
	to[0] = 0;
	for (uint32_t i = 0, end; i < n; i = end) {
		const int32_t first = m->processes[processes[i]].rank;
		int32_t last = first;
		for (end = i + 1; end < n && m->processes[processes[end]].rank <= last + 1; end++)
			last = m->processes[processes[end]].rank;
		if (first == last)
			snprintf(one, sizeof one, "%s%" PRId32, i ? "," : "", first);
		else
			snprintf(one, sizeof one, "%s%" PRId32 "-%" PRId32, i ? "," : "", first,
				 last);
		if (used + strlen(one) + sizeof ",..." > room) {
			strcpy(to + used, ",...");
			return;
		}
		strcpy(to + used, one);
		used += strlen(one);
	}
}

static void put_group(const struct model *m, const struct view_values *v,
		      const struct view_ranks *r, const struct view_rank_group *g,
		      const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], list[LIST], name[TEXT_NAME] = "";
	const enum model_unit unit = m->metrics[v->metric].unit;
	const size_t taken = text_is_narrow(s) ? INDENT : TAKEN,
		     width = s->width > taken + 40 ? s->width - taken : 40,
		     room = width < LIST ? width : LIST;
	list_ranks(m, r->processes + g->first, g->n, room, list);
	fprintf(s->out, "%7s %10s  ", text_count(a, g->n), text_value(b, unit, g->mean));
	if (g->is_mixed)
		snprintf(name, sizeof name, "(like none of these)");
	else if (g->function != MODEL_NONE)
		snprintf(name, sizeof name, "%s", m->functions[g->function].name);
	text_shorten(name, NAME);
	text_cell(s->out, name, NAME);
	if (g->function != MODEL_NONE && !g->is_mixed)
		fprintf(s->out, " %8s %8s", text_value(a, unit, g->here),
			text_value(b, unit, g->there));
	else
		fprintf(s->out, " %8s %8s", "", "");
	if (TAKEN - 2 + strlen(list) > s->width && text_is_narrow(s))
		fprintf(s->out, "\n%*s%s\n", INDENT, "", list);
	else
		fprintf(s->out, "  %s\n", list);
}

bool text_report_ranks(const struct model *m, const struct view_values *v,
		       const struct text_style *s)
{
	struct view_ranks r;
	char a[TEXT_CELL];
	if (!view_ranks_make(m, v, &r))
		return false;
	if (r.n_groups) {
		text_heading(s, "Ranks that behave alike, by %s: %u %s of %s ranks",
			     m->metrics[v->metric].name, r.n_groups,
			     r.n_groups == 1 ? "group" : "groups", text_count(a, r.n));
		fprintf(s->out, "%7s %10s  %-*s %8s %8s  %s\n", "ranks", "mean", NAME,
			"differs most in", "by rank", "largest", "which");
		for (uint32_t i = 0; i < r.n_groups; i++)
			put_group(m, v, &r, &r.groups[i], s);
		putc('\n', s->out);
	}
	view_ranks_free(&r);
	return true;
}
