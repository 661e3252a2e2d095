/* SPDX-License-Identifier: BSD-3-Clause */
/* See live_screen.h. */
#include "hpcprof-lite/live/live_screen.h"

#include "common/base/foreign.h"
#include "hpcprof-lite/live/live_tables.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/view/findings/findings.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/view_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_ROWS = 10, USES = 5, FINDINGS = 2, PATHS = 3, KERNELS = 4, FEW_ROWS = 5 };

/* ---- the head ---- */

static size_t count_live(const struct model *m)
{
	size_t n = 0;
	for (uint32_t i = 0; i < m->n_processes; i++)
		n += m->processes[i].is_live;
	return n;
}

static const char *command(const struct model *m)
{
	const char *text = "";
	for (uint32_t i = 0; i < m->n_processes && !*text; i++)
		text = m->processes[i].command_line;
	return *text ? text : m->title;
}

/* "1 thread", "64 threads" */
static void put_number(size_t n, const char *one, const char *many, FILE *out)
{
	char a[TEXT_CELL];
	fprintf(out, "%s %s", text_count(a, n), n == 1 ? one : many);
}

/* How long the run has lasted by now. */
static double elapsed(const struct live_screen *s)
{
	return (double)s->whole->elapsed_ns / 1e9 + (count_live(s->whole) ? s->age : 0);
}

static void put_state(const struct live_screen *s, FILE *out)
{
	const struct model *m = s->whole;
	char a[TEXT_CELL], b[TEXT_CELL];
	struct view_run run;
	const size_t n_live = count_live(m);
	fprintf(out, "%s: %s; ",
		n_live         ? "running"
		: s->n_unknown ? "unknown"
			       : "ended",
		text_seconds(a, elapsed(s)));
	if (n_live && n_live < m->n_processes)
		fprintf(out, "%s of ", text_count(b, n_live));
	put_number(m->n_processes, "process", "processes", out);
	if (view_run_make(m, &run) && run.n_ranks) {
		fputs(" (", out);
		put_number(run.n_ranks, "rank)", "ranks)", out);
	}
	fputs(", ", out);
	put_number(model_count_threads(m), "thread", "threads", out);
	if (n_live && s->age >= 1)
		fprintf(out, "; the whole run as it was %.0f s ago", s->age);
	putc('\n', out);
}

static double cpu_seconds(const struct model *m)
{
	double sum = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_SAMPLED &&
		    m->metrics[i].measures == MODEL_EVENT_CPUTIME)
			sum += view_total(m, i);
	return sum;
}

static void put_processors(const struct live_screen *s, FILE *out)
{
	struct view_quota q;
	char text[VIEW_QUOTA_TEXT];
	const double whole = (double)s->whole->elapsed_ns / 1e9;
	fputs("processors in use:", out);
	if (s->last && s->last_seconds > 0)
		fprintf(out, " %.1f in the last %.0f s,", cpu_seconds(s->last) / s->last_seconds,
			s->last_seconds);
	fprintf(out, " %.1f in the whole run", whole > 0 ? cpu_seconds(s->whole) / whole : 0);
	if (view_quota_make(s->whole, &q) && q.n_allowed)
		fprintf(out, ", of %s", view_quota_text(q.n_given, text));
	putc('\n', out);
}

/* ---- the account of time ---- */

struct account {
	struct view_processors last, whole;
	bool has_last, has_whole;
};

static bool make_account(const struct live_screen *s, struct account *a)
{
	*a = (struct account){.has_last = s->last && view_processors_apply(s->last),
			      .has_whole = view_processors_apply(s->whole)};
	if (a->has_last && !view_processors_make(s->last, &a->last))
		return false;
	if (!a->has_whole || view_processors_make(s->whole, &a->whole))
		return true;
	if (a->has_last)
		view_processors_free(&a->last);
	return false;
}

static void free_account(struct account *a)
{
	if (a->has_last)
		view_processors_free(&a->last);
	if (a->has_whole)
		view_processors_free(&a->whole);
}

static double share(const struct view_processors *p, unsigned use)
{
	return p->capacity > 0 ? p->seconds[use] / p->capacity : 0;
}

/* The largest uses first, by the last seconds. Returns their number. */
static unsigned rank_uses(const struct account *a, unsigned order[VIEW_N_USES])
{
	const struct view_processors *p = a->has_last ? &a->last : &a->whole,
				     *q = a->has_whole ? &a->whole : p;
	unsigned n = 0;
	for (unsigned use = 0; use < VIEW_N_USES; use++) {
		if (share(p, use) < 0.001 && share(q, use) < 0.001)
			continue;
		unsigned at = n++;
		for (; at && share(p, order[at - 1]) < share(p, use); at--)
			order[at] = order[at - 1];
		order[at] = use;
	}
	return n;
}

static bool put_account(const struct live_screen *s, FILE *out)
{
	struct account a;
	unsigned order[VIEW_N_USES];
	char x[TEXT_CELL], y[TEXT_CELL];
	if (!make_account(s, &a))
		return false;
	const unsigned n = a.has_last || a.has_whole ? rank_uses(&a, order) : 0;
	const struct view_processors *p = a.has_whole ? &a.whole : &a.last;
	if (n)
		fprintf(out, "\n%7s %7s  where the time of %" PRIu32 " thread%s went\n",
			a.has_last ? "last" : "", "whole", p->n_threads,
			p->n_threads == 1 ? "" : "s");
	for (unsigned i = 0; i < n && i < USES; i++)
		fprintf(out, "%7s %7s  %s\n",
			a.has_last ? text_share(x, share(&a.last, order[i]), 1) : "",
			a.has_whole ? text_share(y, share(&a.whole, order[i]), 1) : "",
			view_use_name(p, order[i]));
	free_account(&a);
	return true;
}

/* ---- findings ---- */

static bool put_findings(const struct model *m, const char *of, FILE *out)
{
	struct findings f;
	char a[TEXT_CELL], b[TEXT_CELL];
	unsigned n = 0;
	if (!m)
		return true;
	if (!findings_make(m, &f))
		return false;
	for (size_t i = 0; i < f.list.n && n < FINDINGS; i++) {
		const struct finding *x = &f.list.at[i];
		if (x->high <= 0)
			continue;
		n++;
		foreign_printf(out, "%7s %7s  %s: %s%s%s\n", text_seconds(a, x->likely),
			       text_share(b, x->likely, f.elapsed), of, x->title,
			       *x->subject ? ": " : "", x->subject);
	}
	findings_free(&f);
	return true;
}

static bool put_all_findings(const struct live_screen *s, FILE *out)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);
	if (!to)
		return false;
	bool ok = put_findings(s->last, "last", to) && put_findings(s->whole, "whole", to);
	ok = fclose(to) == 0 && ok;
	if (ok && n)
		fprintf(out, "\n%7s %7s  what matters most: time that a cure could give back\n%s",
			"likely", "share", text);
	free(text);
	return ok;
}

/* ---- the whole screen ---- */

/* Everything, in lines of any length. `n_functions`: rows of that table. */
static bool compose(const struct live_screen *s, size_t n_functions, FILE *out)
{
	foreign_printf(out, "%s\n", command(s->whole));
	put_state(s, out);
	put_processors(s, out);
	if (s->n_unknown) {
		fputs("on other hosts, and perhaps running: ", out);
		put_number(s->n_unknown, "process\n", "processes\n", out);
	}
	if (s->n_by_symbols && s->last)
		fprintf(out, "names by symbols alone in %zu binaries: no lines, no inlined calls\n",
			s->n_by_symbols);
	return put_account(s, out) && live_tables_functions(s, n_functions, out) &&
	       live_tables_kernels(s, KERNELS, out) && live_tables_paths(s, PATHS, out) &&
	       put_all_findings(s, out);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;
	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static char *compose_text(const struct live_screen *s, size_t n_functions)
{
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);
	const bool ok = to && compose(s, n_functions, to);
	if (to && fclose(to) == 0 && ok)
		return text;
	free(text);
	return NULL;
}

/* A line without figures behind an empty one is a heading, as is the first line. */
static void put_line(const struct live_screen *s, const char *line, bool is_heading, FILE *out)
{
	const size_t n = text_columns(line);
	fputs(is_heading && s->colour ? "\033[1m" : "", out);
	if (n)
		text_cell(out, line, n > s->width ? s->width : n);
	fputs(is_heading && s->colour ? "\033[0m\n" : "\n", out);
}

bool live_screen_write(const struct live_screen *s, FILE *out)
{
	const size_t most = s->n_rows > LEAST_ROWS ? s->n_rows : LEAST_ROWS;
	char *text = compose_text(s, FEW_ROWS);
	const size_t n = text ? count_lines(text) : 0;
	if (text && n < most) { /* the table of functions gets what is left */
		free(text);
		text = compose_text(s, FEW_ROWS + (most - n));
	}
	if (!text)
		return false;
	bool is_heading = true;
	size_t row = 0;
	for (char *at = text, *end; row < most && (end = strchr(at, '\n')); at = end + 1, row++) {
		*end = 0;
		put_line(s, at, is_heading, out);
		is_heading = end == at;
	}
	free(text);
	return true;
}

bool live_screen_line(const struct live_screen *s, FILE *out)
{
	const struct model *m = s->last ? s->last : s->whole;
	const double seconds = s->last ? s->last_seconds : (double)m->elapsed_ns / 1e9;
	unsigned order[VIEW_N_USES];
	char a[TEXT_CELL];
	struct account account;
	if (!make_account(s, &account))
		return false;
	const struct view_processors *p = account.has_last ? &account.last : &account.whole;
	const unsigned n = account.has_last || account.has_whole ? rank_uses(&account, order) : 0;
	fprintf(out, "%9s  ", text_seconds(a, elapsed(s)));
	put_number(m->n_processes, "process", "processes", out);
	fputs(", ", out);
	put_number(model_count_threads(m), "thread", "threads", out);
	fprintf(out, ", %.1f processors", seconds > 0 ? cpu_seconds(m) / seconds : 0);
	for (unsigned i = 0; i < n && i < 2; i++)
		fprintf(out, "%s%s %s", i ? ", " : "; ", text_share(a, share(p, order[i]), 1),
			view_use_name(p, order[i]));
	free_account(&account);
	return live_tables_line(m, out) && putc('\n', out) != EOF;
}
