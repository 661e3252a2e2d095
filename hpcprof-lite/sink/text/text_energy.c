/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Energy of GPUs and hosts, in the report and in the complete form. Tests:
 * tests/unit/prof_gpu/test_gpu_energy.c, tests/cli/gpu/energy.sh.
 */
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_energy.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_METERS = 16, MOST_ROWS = 12 };
#define SHARED_LEAST 0.05 /* rows with a smaller share of shared energy are not marked */

static const char *joules(char cell[TEXT_CELL], uint64_t uj)
{
	return text_value(cell, MODEL_JOULES, (double)uj / 1e6);
}

static const char *watts(char cell[TEXT_CELL], double joules, double seconds)
{
	snprintf(cell, TEXT_CELL, "%.1f W", seconds > 0 ? joules / seconds : 0);
	return cell;
}

/* ---- meters ---- */

static void put_part(const struct text_style *s, uint64_t uj, uint64_t ns, const char *words)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	if (!uj && !ns)
		return;
	fprintf(s->out, "%10s %10s %9s    %s\n", joules(a, uj), ns ? text_ns(b, ns) : "",
		ns ? watts(c, (double)uj / 1e6, (double)ns / 1e9) : "", words);
}

static void name_meter(const struct model *m, const struct model_meter *meter, char *to,
		       size_t n_bytes)
{
	if (meter->device == MODEL_NONE) {
		snprintf(to, n_bytes, "%s of %s", meter->name, m->processes[meter->process].host);
		return;
	}
	const struct model_gpu_device *d = &m->gpu_devices[meter->device];
	snprintf(to, n_bytes, "%s %" PRIu32 ": %s", names_device_type(d), d->ordinal, d->name);
}

static void put_device(const struct model_energy *e, const struct text_style *s)
{
	char words[128];
	put_part(s, e->operations_uj, e->busy_ns, "kernels, copies and sets");
	if (e->idle_mw)
		snprintf(words, sizeof words, "idle, at the %.1f W of longer idle times",
			 (double)e->idle_mw / 1e3);
	put_part(s, e->idle_uj, e->idle_ns,
		 e->idle_mw ? words : "idle, by time: it was never idle for long");
	put_part(s, e->unknown_uj, 0, "while operations had no times");
}

static void put_meter(const struct model *m, const struct model_meter *meter,
		      const struct text_style *s)
{
	const struct model_energy *e = &meter->sum;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], name[256];
	name_meter(m, meter, name, sizeof name);
	fprintf(s->out, "%10s %10s %9s  ", joules(a, e->total_uj), text_ns(b, e->covered_ns),
		watts(c, (double)e->total_uj / 1e6, (double)e->covered_ns / 1e9));
	text_cell(s->out, name, text_columns(name) < 44 ? text_columns(name) : 44);
	fprintf(s->out, meter->device == MODEL_NONE ? ", all that ran there\n" : "\n");
	if (meter->device != MODEL_NONE)
		put_device(e, s);
	fprintf(s->out, "%10s +- %s: the meter changes every %s, seen within %s\n", "",
		joules(a, e->error_uj), text_ns(b, e->step_ns), text_ns(c, e->late_ns));
}

/* ---- kernels ---- */

static void put_row(const struct model *m, const struct view_energy_row *r, double whole,
		    bool is_marked, const struct text_style *s)
{
	size_t room = s->width > 52 ? s->width - 41 : 16;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], name[TEXT_NAME];
	snprintf(name, sizeof name, "%s", m->functions[r->function].name);
	text_shorten(name, room);
	fprintf(s->out, "%10s %7s %9s %9s %c ", text_value(a, MODEL_JOULES, r->joules),
		text_share(b, r->joules, whole), text_seconds(c, r->seconds),
		watts(d, r->joules, r->read_seconds), is_marked ? '~' : ' ');
	text_cell(s->out, name, text_columns(name) < room ? text_columns(name) : room);
	putc('\n', s->out);
}

static bool put_kernels(const struct model *m, const struct text_style *s)
{
	struct view_energy_rows rows;
	bool has_mark = false;
	char a[TEXT_CELL];
	double hidden = 0;
	size_t n_hidden = 0;
	if (!view_energy_rows_make(m, &rows))
		return false;
	if (rows.n)
		fprintf(s->out, "\n%10s %7s %9s %9s   %s\n", "energy", "share", "time", "power",
			"kernel");
	for (size_t i = 0; i < rows.n; i++) {
		const struct view_energy_row *r = &rows.at[i];
		bool is_marked = r->shared_joules > SHARED_LEAST * r->joules;
		if (i < MOST_ROWS && r->joules >= s->threshold * rows.joules) {
			put_row(m, r, rows.joules, is_marked, s);
			has_mark |= is_marked;
		} else {
			hidden += r->joules;
			n_hidden++;
		}
	}
	if (n_hidden)
		fprintf(s->out, "%10s %7s %19s   %zu more\n", text_value(a, MODEL_JOULES, hidden),
			"", "", n_hidden);
	if (has_mark)
		fputs("  ~ shared by time with other operations between two changes of the meter\n",
		      s->out);
	view_energy_rows_free(&rows);
	return true;
}

bool text_report_energy(const struct model *m, const struct text_style *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_meters; i++)
		n += m->meters[i].sum.covered_ns != 0;
	if (!n)
		return true;
	text_heading(s, "Energy, where meters were read");
	fprintf(s->out, "%10s %10s %9s  %s\n", "energy", "time", "power", "meter");
	n = 0;
	for (uint32_t i = 0; i < m->n_meters; i++)
		if (m->meters[i].sum.covered_ns && n++ < MOST_METERS)
			put_meter(m, &m->meters[i], s);
	if (n > MOST_METERS)
		fprintf(s->out, "%10s %10s %9s  %" PRIu32 " more\n", "", "", "", n - MOST_METERS);
	if (!put_kernels(m, s))
		return false;
	putc('\n', s->out);
	return true;
}
