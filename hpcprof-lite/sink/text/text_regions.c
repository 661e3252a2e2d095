/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of parallel regions of OpenMP. Test: tests/cli/openmp/omp_report.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/parallel/view_regions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20 };

static void put_threads(const struct view_region *r, FILE *out)
{
	char text[32];
	if (r->most_threads == 0)
		snprintf(text, sizeof text, "?");
	else if (r->least_threads == r->most_threads)
		snprintf(text, sizeof text, "%" PRIu32, r->most_threads);
	else
		snprintf(text, sizeof text, "%" PRIu32 "-%" PRIu32, r->least_threads,
			 r->most_threads);
	fprintf(out, " %5s", text);
}

static void put_region(const struct model *m, const struct view_region *r, bool wide,
		       const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], place[256] = "",
									 name[TEXT_NAME];
	if (r->file < m->n_files && r->line)
		snprintf(place, sizeof place, "%s:%" PRIu32, text_base(m->files[r->file].path),
			 r->line);
	view_region_name(m, r, place, name, sizeof name);
	fprintf(s->out, "%9s %9s %7s", r->is_known ? text_seconds(a, r->gain) : "-",
		text_seconds(b, r->seconds), text_value(c, MODEL_COUNT, (double)r->instances));
	put_threads(r, s->out);
	fprintf(s->out, " %6s %6s", r->is_known ? text_share(a, r->efficiency, 1) : "-",
		r->has_imbalance ? text_share(b, r->imbalance, 1) : "-");
	if (wide)
		fprintf(s->out, " %10s %10s", r->is_known ? text_seconds(c, r->work) : "-",
			r->is_known ? text_seconds(d, r->capacity - r->work) : "-");
	fputs("  ", s->out);
	size_t taken = wide ? 71 : 49, room = s->width > taken + 20 ? s->width - taken : 20;
	if (wide && r->loop_file < m->n_files) {
		size_t n = strlen(name);
		snprintf(name + n, sizeof name - n, ", loop at line %" PRIu32, r->loop_line);
	}
	if (!wide && text_columns(name) > room) { /* the heading already says it */
		char *what = strstr(name, ", parallel region");
		if (what)
			memmove(what, what + strlen(", parallel region"),
				strlen(what + strlen(", parallel region")) + 1);
	}
	text_shorten(name, room);
	text_cell(s->out, name, text_columns(name) > room ? room : 0);
	putc('\n', s->out);
}

/* Says how many rows are missing. `n_small`: they could gain too little. */
static void put_rest(size_t n_more, size_t n_small, const struct text_style *s)
{
	char a[TEXT_CELL];
	if (n_more)
		fprintf(s->out, "%9s%s more\n", "", text_count(a, n_more));
	if (n_small)
		fprintf(s->out, "  left out: %s %s that could gain less than %g%% of the run\n",
			text_count(a, n_small), n_small == 1 ? "region" : "regions",
			s->threshold * 100);
}

static void put_table(const struct model *m, const struct view_regions *r,
		      const struct text_style *s)
{
	const bool wide = s->width >= 120;
	const size_t n_worth = view_regions_count_worth(m, r, s->threshold),
		     n_shown = s->threshold > 0 && n_worth > MOST_ROWS ? MOST_ROWS : n_worth;
	if (n_shown) {
		fprintf(s->out, "%9s %9s %7s %5s %6s %6s", "gain", "time", "inst.", "thr.",
			"effic.", "imbal.");
		fprintf(s->out, wide ? " %10s %10s  %s\n" : "%.0s%.0s  %s\n", "work", "waits",
			"region");
	}
	for (size_t i = 0; i < n_shown; i++)
		put_region(m, &r->at[i], wide, s);
	if (n_shown && view_is_elapsed_time(m))
		fputs("  with REALTIME, a blocked thread counts as one that works: efficiencies\n"
		      "  are upper bounds, gains lower bounds; measure with CPUTIME instead\n",
		      s->out);
	for (size_t i = 0; i < n_shown; i++)
		if (!r->at[i].is_known) {
			fputs("  -: no sample is in the region, so its work is not known\n",
			      s->out);
			break;
		}
	put_rest(n_worth - n_shown, r->n - n_worth, s);
}

bool text_report_regions(const struct model *m, const struct text_style *s)
{
	struct view_regions r;
	char a[TEXT_CELL], b[TEXT_CELL];
	if (!m->n_omp_regions)
		return true;
	if (!view_regions_make(m, &r))
		return false;
	text_heading(s, "Parallel regions of OpenMP by possible gain: %s %s, %s",
		     text_count(a, r.n), r.n == 1 ? "region" : "regions",
		     text_seconds(b, r.seconds));
	if (view_regions_have_teams(&r))
		put_table(m, &r, s);
	else
		fputs("  left out: all teams have one thread\n", s->out);
	putc('\n', s->out);
	view_regions_free(&r);
	return true;
}
