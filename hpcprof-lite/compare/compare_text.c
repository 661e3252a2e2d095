/* SPDX-License-Identifier: BSD-3-Clause */
/* See compare_text.h. Test: tests/cli/compare/compare.sh. */
#include "hpcprof-lite/compare/compare_text.h"

#include "common/base/foreign.h"
#include "common/base/log.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_style.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
	CELL = 32,
	NOISE_ROWS = 3, /* shown below the line */
	NUMBERS = 42,   /* columns of the numbers that every table has */
	MORE = 26       /* of those that a wide one adds */
};

struct text {
	const struct compare_report *r;
	const struct compare_text *o;
	struct text_style style;
};

static bool is_wide(const struct text *t)
{
	return !text_is_narrow(&t->style);
}

/* ---- numbers ---- */

static void put_column_names(const struct text *t, const char *more, const char *name)
{
	fprintf(t->style.out, "%12s %11s %8s %7s  ", "change", "sd", "share", "factor");
	if (is_wide(t))
		fprintf(t->style.out, "%11s %11s   ", "base", "new");
	fprintf(t->style.out, "%s%s\n", more, name);
}

static void put_numbers(const struct text *t, const struct compare_estimate *e,
			enum model_unit unit, double whole)
{
	char a[CELL], b[TEXT_CELL], c[CELL], d[CELL];
	FILE *out = t->style.out;
	double change = e->new - e->base;
	fprintf(out, "%12s %11s %8s %7s  ", compare_change(a, unit, change),
		text_value(b, unit, compare_deviation(e)), compare_share(c, change, whole),
		compare_factor(d, e));
	if (!is_wide(t))
		return;
	fprintf(out, "%11s ", text_value(b, unit, e->base));
	fprintf(out, "%11s   ", text_value(b, unit, e->new));
}

/* ---- the head ---- */

static void put_run(const struct text *t, const struct compare_run *run)
{
	char elapsed[TEXT_CELL];
	foreign_printf(t->style.out, "    %s: %u process%s, ", compare_string(t->r->c, run->path),
		       run->n_processes, run->n_processes == 1 ? "" : "es");
	if (run->n_ranks)
		fprintf(t->style.out, "%u rank%s, ", run->n_ranks, run->n_ranks == 1 ? "" : "s");
	fprintf(t->style.out, "%u thread%s, %s elapsed%s%s\n", run->n_threads,
		run->n_threads == 1 ? "" : "s",
		text_seconds(elapsed, (double)run->elapsed_ns * 1e-9),
		run->is_complete ? "" : "; its ledger does not close",
		run->lacks_names ? "; names are missing" : "");
}

static void put_head(const struct text *t)
{
	static const char *const names[] = {"base", "new"};
	const struct compare *c = t->r->c;
	char noise[CELL];
	text_heading(&t->style, "Comparison of %s",
		     compare_string(c, c->metrics.at[t->r->values.metric].name));
	for (int side = 0; side < COMPARE_N_SIDES; side++) {
		uint32_t n = compare_count_runs(c, side);
		fprintf(t->style.out, "  %s, %u run%s%s\n", names[side], n, n == 1 ? "" : "s",
			n == 1 ? "" : ": values are means of them");
		for (size_t i = 0; i < c->runs.n; i++)
			if (c->runs.at[i].side == side)
				put_run(t, &c->runs.at[i]);
	}
	snprintf(noise, sizeof noise, "%.2g%%", 100 * sqrt(t->r->values.excess));
	if (t->r->values.is_excess_measured)
		fprintf(t->style.out, "  runs of a side differ by %s beyond sampling\n", noise);
	else
		fprintf(t->style.out,
			"  runs are assumed to differ by %s (--noise); more runs would show it\n",
			noise);
	putc('\n', t->style.out);
}

static void put_wholes(const struct text *t)
{
	const struct compare *c = t->r->c;
	text_heading(&t->style, "The whole program");
	put_column_names(t, "", "metric");
	for (size_t i = 0; i < t->r->wholes.n; i++) {
		const struct compare_whole *w = &t->r->wholes.at[i];
		put_numbers(t, &w->estimate, compare_unit(c, w->metric), w->estimate.base);
		foreign_printf(t->style.out, "%s%s\n",
			       compare_string(c, c->metrics.at[w->metric].name),
			       w->is_real || w->estimate.new == w->estimate.base ? "" : " (noise)");
	}
	putc('\n', t->style.out);
}

/* ---- tables ---- */

static const struct compare_estimate *launches_of(const struct text *t, uint32_t kernel)
{
	for (size_t i = 0; i < t->r->launches_of.n; i++)
		if (t->r->launches_of.at[i].id == kernel)
			return &t->r->launches_of.at[i].self;
	return NULL;
}

/* "1,000 -> 2,000", in the columns that the heading has. */
static void put_launches(const struct text *t, uint32_t kernel)
{
	const struct compare_estimate *e = launches_of(t, kernel);
	char a[TEXT_CELL] = "", b[TEXT_CELL] = "", both[2 * TEXT_CELL + 8] = "";
	if (e)
		snprintf(both, sizeof both, "%s -> %s", text_value(a, MODEL_COUNT, e->base),
			 text_value(b, MODEL_COUNT, e->new));
	fprintf(t->style.out, "%19s  ", both);
}

static void put_row(const struct text *t, const struct compare_rows *rows,
		    const struct compare_row *r, double whole)
{
	const struct compare *c = t->r->c;
	const struct compare_values *v = compare_report_values(t->r, rows->by);
	char name[TEXT_NAME], place[TEXT_NAME];
	size_t taken = NUMBERS + (is_wide(t) ? MORE : 0) + (rows->by == COMPARE_BY_KERNEL ? 21 : 0),
	       room = t->style.width > taken + 16 ? t->style.width - taken : 16, columns;
	put_numbers(t, compare_row_judged(rows, r), compare_unit(c, v->metric), whole);
	if (rows->by == COMPARE_BY_KERNEL)
		put_launches(t, r->id);
	compare_row_place(c, rows->by, r->id, place, sizeof place);
	size_t place_room = place[0] && is_wide(t) ? room / 3 : 0,
	       name_room = room - (place_room ? place_room + 2 : 0);
	compare_row_name(c, rows->by, r->id, name_room, name, sizeof name);
	columns = text_columns(name);
	text_cell(t->style.out, name, place_room || columns > name_room ? name_room : columns);
	if (place_room) {
		fputs("  ", t->style.out);
		text_shorten(place, place_room);
		columns = text_columns(place);
		text_cell(t->style.out, place, columns > place_room ? place_room : columns);
	}
	putc('\n', t->style.out);
}

static void put_line(const struct text *t, const struct compare_rows *rows)
{
	char change[CELL];
	const struct compare_values *v = compare_report_values(t->r, rows->by);
	size_t n = rows->n - rows->n_real;
	if (!n)
		return;
	fprintf(t->style.out, "---- noise: %zu row%s within %.1f sd", n, n == 1 ? "" : "s",
		rows->limit);
	if (rows->by_total && rows->by == COMPARE_BY_FUNCTION) {
		fputs("\n", t->style.out); /* totals contain each other */
		return;
	}
	fprintf(t->style.out, ", %s%s\n", n == 1 ? "" : "together ",
		compare_change(change, compare_unit(t->r->c, v->metric), rows->noise));
}

static void put_rows(const struct text *t, const struct compare_rows *rows)
{
	const struct compare_values *v = compare_report_values(t->r, rows->by);
	struct compare_estimate whole = compare_estimate(v, v->whole);
	double of = whole.base > 0 ? whole.base : whole.new;
	size_t shown = rows->n_real < t->o->n_rows ? rows->n_real : t->o->n_rows;
	for (size_t i = 0; i < shown; i++)
		put_row(t, rows, &rows->at[i], of);
	if (shown < rows->n_real)
		fprintf(t->style.out, "%*s%zu more beyond noise (--rows)\n", NUMBERS, "",
			rows->n_real - shown);
	put_line(t, rows);
	for (size_t i = rows->n_real; i < rows->n && i < rows->n_real + NOISE_ROWS; i++)
		put_row(t, rows, &rows->at[i], of);
}

static void put_table(const struct text *t, enum compare_by by)
{
	static const char *const titles[] = {"Functions", "Lines", "Call paths", "GPU kernels",
					     "Ranks"},
				 *const columns[] = {"function", "line", "call path", "kernel",
						     "rank"};
	const struct compare_rows *rows = &t->r->rows[by];
	const struct compare_values *v = compare_report_values(t->r, by);
	if (!rows->n || (t->o->by && !(t->o->by & 1u << by)))
		return;
	text_heading(&t->style, "%s by change of %s%s", titles[by],
		     by == COMPARE_BY_RANK || by == COMPARE_BY_KERNEL ? ""
		     : rows->by_total                                 ? "their total "
								      : "their own ",
		     compare_string(t->r->c, t->r->c->metrics.at[v->metric].name));
	put_column_names(t, by == COMPARE_BY_KERNEL ? "           launches  " : "", columns[by]);
	put_rows(t, rows);
	putc('\n', t->style.out);
}

static void put_renames(const struct text *t)
{
	const struct compare *c = t->r->c;
	if (!t->r->renames.n)
		return;
	text_heading(&t->style, "Renamed? (--rename OLD=NEW makes one function of both)");
	for (size_t i = 0; i < t->r->renames.n && i < t->o->n_rows; i++) {
		const struct compare_renamed *x = &t->r->renames.at[i];
		char change[CELL];
		const struct compare_function *from = &c->functions.at[x->from],
					      *to = &c->functions.at[x->to];
		foreign_printf(t->style.out, "  %s -> %s: %s in total, with the same callers\n",
			       compare_string(c, from->name), compare_string(c, to->name),
			       compare_change(change, compare_unit(c, t->r->values.metric),
					      x->total.new - x->total.base));
	}
	putc('\n', t->style.out);
}

static void put_checks(const struct text *t)
{
	if (!t->r->n_checks)
		return;
	text_heading(&t->style, "Conditions of --fail-if");
	put_column_names(t, "verdict       ", "condition");
	for (size_t i = 0; i < t->r->n_checks; i++) {
		const struct compare_check *x = &t->r->checks[i];
		put_numbers(t, &x->estimate, compare_unit(t->r->c, x->metric), x->estimate.base);
		foreign_printf(t->style.out, "%-12s  %s\n", compare_verdict_name(x->verdict),
			       x->condition->text);
	}
	putc('\n', t->style.out);
}

enum status compare_text_write(const struct compare_report *r, const struct compare_text *o,
			       FILE *out)
{
	struct text t = {r, o, text_style_of(out)};
	put_head(&t);
	put_wholes(&t);
	for (int by = 0; by < COMPARE_N_BY; by++)
		put_table(&t, by);
	put_renames(&t);
	put_checks(&t);
	if (fflush(out) == 0 && !ferror(out))
		return STATUS_OK;
	log_error("text", "cannot be written: %s", strerror(errno));
	return STATUS_IO;
}
