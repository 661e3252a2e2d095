/* SPDX-License-Identifier: BSD-3-Clause */
/* The flat tables of the report for people: functions, lines, modules, operators. Test:
 * tests/cli/prof/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_run.h"
#include "hpcprof-lite/view/view_start.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CALLERS = 10, /* rows that are shown only for their total */
	GUESSED_COLUMNS = 8,
	NUMBERS_COLUMNS = 40, /* "   self        self   total   samples  " and room at the end */
	NARROW_COLUMNS = 25,  /* "  self      self  total  ": where names need the room */
	NARROW_VALUE = 10,    /* the part of it for the time itself, which lines do without */
	NARROW_GUESSED = 7,
	NARROW_WHERE = 16,
	NARROW_LINE = 24
};

struct table {
	const struct model *m;
	const struct view_values *t;
	const struct text_style *s;
	enum view_by by;
	struct view_rows rows;
	size_t room, where_room; /* columns of the name and of the place behind it */
};

/* Columns in front of the names. */
static size_t numbers_columns(const struct table *t)
{
	if (text_is_narrow(t->s))
		return NARROW_COLUMNS - (t->by == VIEW_BY_LINE ? NARROW_VALUE : 0)
			+ (t->rows.has_guesses ? NARROW_GUESSED : 0);
	return NUMBERS_COLUMNS + (t->rows.has_guesses ? GUESSED_COLUMNS : 0);
}

static void share_room(struct table *t)
{
	size_t numbers = numbers_columns(t),
	       all = t->s->width > numbers + 16 ? t->s->width - numbers : 16;
	t->where_room = 0;
	if (t->by == VIEW_BY_FUNCTION)
		t->where_room = text_is_narrow(t->s)
					? (all > 3 * NARROW_WHERE ? NARROW_WHERE : all / 3)
				: all > 48 ? 24
					   : all / 2;
	else if (t->by == VIEW_BY_LINE)
		t->where_room = text_is_narrow(t->s) && all > 2 * NARROW_LINE
					? all - NARROW_LINE - 2
					: all / 2;
	t->room = all - (t->where_room ? t->where_room + 2 : 0);
}

static void describe_row(const struct model *m, const struct view_row *r, enum view_by by,
			 char *name, size_t n_bytes, char *where, size_t where_bytes)
{
	const struct model_context *c = &m->contexts[r->context];
	const struct model_function *f =
		c->function != MODEL_NONE ? &m->functions[c->function] : NULL;
	char file[TEXT_FILE];
	where[0] = 0;
	if (c->kind == MODEL_CONTEXT_ENTRY) {
		text_name(name, n_bytes, m, c);
	} else if (by == VIEW_BY_MODULE) {
		const struct model_module *module = &m->modules[c->module];
		snprintf(name, n_bytes, "%s",
			 module->is_gpu ? text_file(file, module->path) : module->path);
	} else if (by >= VIEW_BY_OPERATOR) {
		text_function_name(name, n_bytes, m, c->function);
	} else if (by == VIEW_BY_FUNCTION) {
		text_function_name(name, n_bytes, m, c->function);
		if (f->file != MODEL_NONE && f->line)
			snprintf(where, where_bytes, "%s:%" PRIu32,
				 text_file(file, m->files[f->file].path), f->line);
		else if (f->file != MODEL_NONE) /* Go has no lines of definitions */
			snprintf(where, where_bytes, "%s",
				 text_file(file, m->files[f->file].path));
		else
			snprintf(where, where_bytes, "%s",
				 text_file(file, text_module_path(m, f->module)));
	} else {
		if (c->kind == MODEL_CONTEXT_LINE)
			text_place(name, n_bytes, m, c);
		else
			snprintf(name, n_bytes, "<no line>");
		if (f)
			text_function_name(where, where_bytes, m, c->function);
	}
}

static void put_heading(const struct table *t)
{
	static const char *const titles[] = {"Functions", "Lines", "Modules",
					     "Operators of PyTorch", "Modules of PyTorch"},
				 *const columns[] = {"function", "line", "module", "operator",
						     "module"},
				 *const wheres[] = {"defined at", "function", "", "", ""};
	const struct model_metric *metric = &t->m->metrics[t->t->metric];
	const char *more = metric->kind == MODEL_METRIC_GPU_MEAN ? ", summed over launches"
			   : t->t->spread                        ? "; in kernels by PC samples"
								 : "";
	if (t->s->by_total)
		text_heading(t->s, "%s by total %s%s", titles[t->by], metric->name, more);
	else
		text_heading(t->s, "%s by their own %s%s%s", titles[t->by], metric->name,
			     t->by == VIEW_BY_LINE ? "" : ", then by total", more);
	if (t->by >= VIEW_BY_OPERATOR)
		fprintf(t->s->out, "  self: without the %ss that it calls\n", columns[t->by]);
	if (t->rows.has_guesses)
		fputs("  ?: a guessed frame; guessed: the total's share that rests on one.\n",
		      t->s->out);
	if (text_is_narrow(t->s))
		fprintf(t->s->out, "%6s%s %6s%s", "self", t->by == VIEW_BY_LINE ? "" : "      self",
			"total", t->rows.has_guesses ? "  guess" : "");
	else
		fprintf(t->s->out, "%7s %11s %7s%s %9s", "self", "self", "total",
			t->rows.has_guesses ? " guessed" : "",
			metric->kind == MODEL_METRIC_SAMPLED ? "samples" : "counted");
	fprintf(t->s->out, "  %-*s%s%s\n",
		t->where_room ? (int)t->room : 0, columns[t->by], t->where_room ? "  " : "",
		wheres[t->by]);
}

static void put_numbers(const struct table *t, const struct view_row *r)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL] = "";
	FILE *out = t->s->out;
	const char *self = text_share(a, r->self, t->t->whole),
		   *total = text_share(b, r->total, t->t->whole),
		   *guessed = t->rows.has_guesses ? text_share(c, r->guessed, r->total) : NULL;
	if (r->self > 0)
		text_value(d, t->m->metrics[t->t->metric].unit, r->self);
	if (text_is_narrow(t->s)) {
		fprintf(out, t->by == VIEW_BY_LINE ? "%6s%.0s %6s" : "%6s %9s %6s", self, d, total);
		if (guessed)
			fprintf(out, " %6s", guessed);
		fputs("  ", out);
		return;
	}
	fprintf(out, "%7s %11s %7s", self, d, total);
	if (guessed)
		fprintf(out, " %7s", guessed);
	fprintf(out, " %9s  ",
		r->n_samples ? text_value(a, MODEL_COUNT, (double)r->n_samples)
			     : ""); /* in nine columns, however many */
}

static void put_row(const struct table *t, const struct view_row *r)
{
	char name[TEXT_NAME], where[TEXT_NAME];
	FILE *out = t->s->out;
	double whole = t->t->whole;
	describe_row(t->m, r, t->by, name, sizeof name, where, sizeof where);
	text_emphasise(t->s, whole > 0 ? (t->s->by_total ? r->total : r->self) / whole : 0);
	put_numbers(t, r);
	text_plain(t->s);
	text_shorten(name, t->room);
	text_shorten(where, t->where_room);
	size_t columns = text_columns(name);
	text_cell(out, name, *where ? t->room : columns > t->room ? t->room : columns);
	if (*where) {
		columns = text_columns(where);
		fputs("  ", out);
		text_cell(out, where, columns > t->where_room ? t->where_room : columns);
	}
	putc('\n', out);
}

static void put_hidden(const struct table *t, size_t n, const char *why)
{
	size_t columns = numbers_columns(t) - (text_is_narrow(t->s) ? 0 : 1);
	if (n)
		fprintf(t->s->out, "%*s%zu more %s\n", (int)columns, "", n, why);
}

/* The smallest value that is shown. */
static double least(const struct table *t)
{
	const double threshold = t->s->threshold * t->t->whole;
	return threshold > t->t->least ? threshold : t->t->least;
}

static bool is_much(const struct table *t, double value)
{
	return value > 0 && value >= least(t);
}

/* True if the total is to be shown. All paths lead through the frames above main. */
static bool is_caller(const struct table *t, const struct view_row *r)
{
	const struct model_context *c = &t->m->contexts[r->context];
	return is_much(t, r->total) && (t->by == VIEW_BY_MODULE || c->kind == MODEL_CONTEXT_ENTRY ||
					!view_is_start(t->m, c->function));
}

/* The rows that the table may have; the others are counted. */
static size_t most_rows(const struct table *t)
{
	return t->by == VIEW_BY_FUNCTION && t->s->n_functions ? t->s->n_functions : SIZE_MAX;
}

static void put_cut(const struct table *t, size_t n)
{
	put_hidden(t, n, "with --by function");
}

/* Rows with enough own value, then rows with enough total. */
static void put_by_self(struct table *t, const char *below)
{
	const size_t most = most_rows(t);
	size_t n = 0, n_callers = 0, n_below = 0, room = CALLERS;
	struct view_row *rest = t->rows.at;
	while (n < t->rows.n && is_much(t, t->rows.at[n].self)) {
		if (n < most)
			put_row(t, &t->rows.at[n]);
		n++;
	}
	rest += n;
	room = n >= most ? 0 : most - n < room ? most - n : room;
	view_rows_sort_by_total(rest, t->rows.n - n);
	for (size_t i = 0; n + i < t->rows.n; i++)
		if (t->by == VIEW_BY_LINE || !is_caller(t, &rest[i]))
			n_below += rest[i].self > 0;
		else if (n_callers++ < room)
			put_row(t, &rest[i]);
	n_callers -= n_callers < room ? n_callers : room;
	if (most < SIZE_MAX)
		put_cut(t, n_callers + (n > most ? n - most : 0));
	else
		put_hidden(t, n_callers,
			   text_is_narrow(t->s) ? "by what they call: see --sort total"
						: "by what they call; --sort total shows them");
	put_hidden(t, n_below, below);
}

static void put_by_total(struct table *t, const char *below)
{
	const size_t most = most_rows(t);
	size_t n_below = 0, n = 0;
	view_rows_sort_by_total(t->rows.at, t->rows.n);
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct view_row *r = &t->rows.at[i];
		if (!is_caller(t, r) && !is_much(t, r->self))
			n_below += !is_much(t, r->total) || r->self > 0;
		else if (n++ < most)
			put_row(t, r);
	}
	put_cut(t, n > most ? n - most : 0);
	put_hidden(t, n_below, below);
}

/* True for a table of CPU lines if no row has a line: it would repeat the table of functions. */
static bool lacks_lines(const struct table *t)
{
	size_t n = 0;
	if (t->by != VIEW_BY_LINE || t->m->metrics[t->t->metric].kind != MODEL_METRIC_SAMPLED)
		return false;
	for (size_t i = 0; i < t->rows.n; i++) {
		const struct view_row *r = &t->rows.at[i];
		if (!is_much(t, t->s->by_total ? r->total : r->self))
			continue;
		n++;
		if (t->m->contexts[r->context].kind == MODEL_CONTEXT_LINE)
			return false;
	}
	return n > 0;
}

static void put_table(struct table *t)
{
	char limit[32], text[128];
	if (t->t->least > 0 && least(t) == t->t->least)
		snprintf(limit, sizeof limit, "%d samples", TEXT_LEAST_SAMPLES);
	else
		snprintf(limit, sizeof limit, "%g%%", t->s->threshold * 100);
	if (lacks_lines(t)) {
		text_heading(t->s, "Lines");
		snprintf(text, sizeof text,
			 "of code with %s or more, none is known: compile with -g, or install "
			 "debug symbols",
			 limit);
		fputs("  ", t->s->out);
		text_wrap(t->s->out, text, t->s->width - 4, 4);
	} else {
		snprintf(text, sizeof text, "below %s", limit);
		share_room(t);
		put_heading(t);
		(t->s->by_total ? put_by_total : put_by_self)(t, text);
	}
	putc('\n', t->s->out);
}

bool text_report_table(const struct model *m, const struct view_values *metric, enum view_by by,
		       const struct text_style *s)
{
	struct table t = {.m = m, .t = metric, .s = s, .by = by};
	if (!view_rows_make(m, metric, by, &t.rows))
		return false;
	if (by == VIEW_BY_FUNCTION && !view_rows_add_entries(m, metric, &t.rows)) {
		view_rows_free(&t.rows);
		return false;
	}
	bool anywhere = t.rows.n && t.rows.at[0].self > 0;
	/* values of whole GPU operations belong to no line */
	if (by >= VIEW_BY_OPERATOR
		    ? t.rows.n > 0
		    : anywhere || m->metrics[metric->metric].kind == MODEL_METRIC_SAMPLED)
		put_table(&t);
	view_rows_free(&t.rows);
	return true;
}

/* MODEL_NONE: nothing was sampled, or one sample may be a long wait. */
static uint32_t find_ticks(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_SAMPLED &&
		    m->metrics[i].measures != MODEL_EVENT_OFFCPU &&
		    m->metrics[i].measures != MODEL_EVENT_BLAME &&
		    m->metrics[i].measures != MODEL_EVENT_MEMORY && view_count_samples(m, i))
			return i;
	return MODEL_NONE;
}

bool text_report_certainty(const struct model *m, uint32_t metric, const struct text_style *s)
{
	struct view_values v;
	struct view_rows rows;
	char name[TEXT_NAME], a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	if (metric != find_ticks(m))
		return true;
	if (!view_values_open(m, metric, &v))
		return false;
	const bool ok = view_rows_make(m, &v, VIEW_BY_FUNCTION, &rows);
	if (ok && rows.n && v.whole > 0) {
		const uint64_t n = view_count_samples(m, metric);
		const double share = rows.at[0].self / v.whole,
			     error = 2 * sqrt(share * (1 - share) / (double)n);
		text_function_name(name, sizeof name, m, m->contexts[rows.at[0].context].function);
		text_shorten(name, s->width > 60 ? s->width - 60 : 0);
		fprintf(s->out, "  of %s samples %s +-%s are in ", text_count(a, n),
			text_share(b, share, 1), error > 0 ? text_share(c, error, 1) : "0%");
		text_cell(s->out, name, 0);
		fputs(" (95% certain)\n", s->out);
	}
	if (ok)
		view_rows_free(&rows);
	view_values_close(&v);
	return ok;
}
