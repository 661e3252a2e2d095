/* SPDX-License-Identifier: BSD-3-Clause */
/* How the work is spread over processes and threads. Test: tests/cli/prof/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_balance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MANY = 24,  /* rows that are shown without leaving any out */
	TOP = 16,   /* else so many of the largest ... */
	BOTTOM = 4, /* ... and of the smallest */
	BAR = 20,
	NARROW_BAR = 8,
	NARROW_NUMBERS = 48 /* before the name */
};

static void put_row(const struct model *m, const struct view_values *t, const struct view_share *r,
		    double most, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], bar[BAR + 1];
	size_t columns = text_is_narrow(s) ? NARROW_BAR : BAR,
	       n = most > 0 ? (size_t)(r->value / most * (double)columns + 0.5) : 0;
	memset(bar, ' ', columns);
	memset(bar, '#', n > columns ? columns : n);
	bar[columns] = 0;
	if (text_is_narrow(s)) {
		fprintf(s->out, "%10s %6s  %s %8s %9s  ",
			text_value(a, m->metrics[t->metric].unit, r->value),
			text_share(b, r->value, t->whole), bar,
			text_value(c, "count", (double)r->n_samples),
			r->cpu_ns ? text_value(e, "sec", (double)r->cpu_ns / 1e9) : "");
		return;
	}
	fprintf(s->out, "%15s %7s  %s  %9s %7s %10s  ",
		text_value(a, m->metrics[t->metric].unit, r->value),
		text_share(b, r->value, t->whole), bar,
		text_value(c, "count", (double)r->n_samples),
		r->n_lost ? text_value(d, "count", (double)r->n_lost) : "",
		r->cpu_ns ? text_value(e, "sec", (double)r->cpu_ns / 1e9) : "");
}

/* In a narrow table without the host, if it is the same in all rows. */
static void put_process(const struct model *m, const struct model_process *p, bool is_narrow,
			FILE *out)
{
	bool is_on_other = !is_narrow;
	for (uint32_t i = 0; i < m->n_processes && !is_on_other; i++)
		is_on_other = m->processes[i].host_id != p->host_id;
	if (p->rank >= 0)
		fprintf(out, "rank %d ", p->rank);
	if (is_on_other) {
		text_cell(out, p->host, 0);
		putc(' ', out);
	}
	fprintf(out, "pid %u", p->pid);
	if (p->exec_seq)
		fprintf(out, ".%u", p->exec_seq);
	if (p->role)
		fprintf(out, ", %s,", p->role);
}

static void put_thread(const struct model *m, const struct model_profile *p, bool is_narrow,
		       FILE *out)
{
	put_process(m, &m->processes[p->process], is_narrow, out);
	fprintf(out, *p->name ? " thread %u " : " thread %u", p->thread);
	text_cell(out, p->name, 0); /* a program may give a thread any bytes for a name */
}

static void put_executable(const struct model *m, const struct view_share *row, bool is_narrow,
			   FILE *out)
{
	const char *executable = m->processes[row->id].executable;
	put_process(m, &m->processes[row->id], is_narrow, out);
	fputs(*executable ? " " : "", out);
	text_cell(out, text_base(executable), 0);
	fprintf(out, ", %u %s", row->n_threads, row->n_threads == 1 ? "thread" : "threads");
}

/* The end of a row, cut at the width of a narrow report. False if memory is short. */
static bool put_label(const struct model *m, const struct view_share *row, bool threads,
		      const struct text_style *s)
{
	const bool is_narrow = text_is_narrow(s);
	const size_t room = s->width > NARROW_NUMBERS + 20 ? s->width - NARROW_NUMBERS : 20;
	char *label = NULL;
	size_t n;
	FILE *out = open_memstream(&label, &n);
	if (!out)
		return false;
	if (threads)
		put_thread(m, &m->profiles[row->id], is_narrow, out);
	else
		put_executable(m, row, is_narrow, out);
	const bool ok = fclose(out) == 0;
	if (ok)
		text_cell(s->out, label, is_narrow && text_columns(label) > room ? room : 0);
	putc('\n', s->out);
	free(label);
	return ok;
}

static unsigned n_sampled(const struct model *m)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		n += m->metrics[i].kind == MODEL_METRIC_SAMPLED;
	return n;
}

/* The table of threads or of processes. False if memory is short. */
static bool put_rows(const struct model *m, const struct view_values *t,
		     const struct view_side *side, bool threads, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	const struct view_share *rows = side->at;
	double most = side->most, mean = side->mean;
	text_heading(s, "%s by %s: mean %s, most %s (%.2f times the mean)",
		     threads ? "Threads" : "Processes", m->metrics[t->metric].name,
		     text_value(a, m->metrics[t->metric].unit, mean),
		     text_value(b, m->metrics[t->metric].unit, most), mean > 0 ? most / mean : 0);
	if (text_is_narrow(s))
		fprintf(s->out, "%10s %6s  %-8s %8s %9s  %s\n", "value", "share", "",
			n_sampled(m) > 1 ? "all smpl" : "samples", "CPU clock",
			threads ? "thread" : "process");
	else
		fprintf(s->out, "%15s %7s  %-20s  %9s %7s %10s  %s\n", "value", "share", "",
			n_sampled(m) > 1 ? "all smpl." : "samples", "lost", "CPU clock",
			threads ? "thread" : "process");
	const char *what = threads ? "thread" : "process",
		   *several = threads ? "threads" : "processes";
	uint32_t n_empty = s->threshold > 0 ? side->n_empty : 0, n = side->n - n_empty;
	bool all = n <= MANY || s->threshold == 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!all && i == TOP) {
			fprintf(s->out, "%15s %7s  ... %u more ...\n", "", "", n - TOP - BOTTOM);
			i = n - BOTTOM;
		}
		put_row(m, t, &rows[i], most, s);
		if (!put_label(m, &rows[i], threads, s))
			return false;
	}
	if (n_empty)
		fprintf(s->out, "%*s %u %s without samples\n", text_is_narrow(s) ? 10 : 15,
			n ? "and" : "", n_empty, n_empty == 1 ? what : several);
	putc('\n', s->out);
	return true;
}

bool text_report_threads(const struct model *m, const struct view_values *t,
			 const struct text_style *s)
{
	struct view_balance b;
	if (!view_balance_make(m, t, &b))
		return false;
	bool ok = m->n_processes == 1 || put_rows(m, t, &b.processes, false, s);
	if (m->n_processes == 1 ||
	    b.threads.n != m->n_processes) /* one thread each: that was all */
		ok = ok && put_rows(m, t, &b.threads, true, s);
	view_balance_free(&b);
	return ok;
}
