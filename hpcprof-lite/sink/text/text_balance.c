/* SPDX-License-Identifier: BSD-3-Clause */
/* How the work is spread over processes and threads. Test: tests/cli/prof/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/parallel/view_balance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MANY = 24,  /* a table with so many rows is shown whole */
	TOP = 16,   /* of a longer one, the largest rows ... */
	BOTTOM = 4, /* ... and the smallest ones */
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
			text_value(c, MODEL_COUNT, (double)r->n_samples),
			r->cpu_ns ? text_ns(e, r->cpu_ns) : "");
		return;
	}
	fprintf(s->out, "%15s %7s  %s  %9s %7s %10s  ",
		text_value(a, m->metrics[t->metric].unit, r->value),
		text_share(b, r->value, t->whole), bar,
		text_value(c, MODEL_COUNT, (double)r->n_samples),
		r->n_lost ? text_value(d, MODEL_COUNT, (double)r->n_lost) : "",
		r->cpu_ns ? text_ns(e, r->cpu_ns) : "");
}

/*
 * The end of a row. Numbers identify rows and are never cut. Other parts may be cut, the name
 * first. If they are left out, their columns are 0.
 */
struct label {
	char rank[24], pid[48], thread[24], n_threads[24];
	const char *host, *role, *name; /* the name of the thread or of the executable */
	size_t host_columns, role_columns, name_columns;
};

static bool are_on_one_host(const struct model *m)
{
	uint32_t i = 1;
	while (i < m->n_processes && m->processes[i].host_id == m->processes[0].host_id)
		i++;
	return i >= m->n_processes;
}

/* True if no other process has the rank and the role. Processes are sorted by rank. */
static bool is_named_by_rank(const struct model *m, const struct model_process *p)
{
	const struct model_process *end = m->processes + m->n_processes, *at = p;
	const char *role = p->role ? p->role : "";
	while (at > m->processes && at[-1].rank == p->rank)
		at--;
	for (; at < end && at->rank == p->rank; at++)
		if (at != p && strcmp(at->role ? at->role : "", role) == 0)
			return false;
	return p->rank >= 0;
}

/* In a narrow table a rank may be enough, and a host that is the same in all rows is left out. */
static struct label make_label(const struct model *m, const struct view_share *row, bool threads,
			       bool is_narrow)
{
	const struct model_profile *t = threads ? &m->profiles[row->id] : NULL;
	const struct model_process *p = &m->processes[t ? t->process : row->id];
	struct label l = {.host = p->host,
			  .role = p->role ? p->role : "",
			  .name = t ? t->name : text_base(p->executable)};
	const bool is_enough = is_narrow && is_named_by_rank(m, p);
	if (p->rank >= 0)
		snprintf(l.rank, sizeof l.rank, "rank %" PRId32, p->rank);
	if (!is_enough && p->exec_seq)
		snprintf(l.pid, sizeof l.pid, "pid %" PRIu32 ".%" PRIu32, p->pid, p->exec_seq);
	else if (!is_enough)
		snprintf(l.pid, sizeof l.pid, "pid %" PRIu32, p->pid);
	if (t)
		snprintf(l.thread, sizeof l.thread, "thread %" PRIu32, t->thread);
	else
		snprintf(l.n_threads, sizeof l.n_threads, ", %" PRIu32 " %s", row->n_threads,
			 row->n_threads == 1 ? "thread" : "threads");
	if (!is_enough && !(is_narrow && are_on_one_host(m)))
		l.host_columns = text_columns(l.host);
	l.role_columns = text_columns(l.role);
	l.name_columns = text_columns(l.name);
	return l;
}

/* Includes the blanks and commas that put_label() writes. */
static size_t columns_of(const struct label *l)
{
	const char *const numbers[] = {l->rank, l->pid, l->thread};
	size_t n = strlen(l->n_threads);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		n += numbers[i][0] ? strlen(numbers[i]) + 1 : 0;
	n += l->host_columns ? l->host_columns + 1 : 0;
	n += l->role_columns ? l->role_columns + (l->name_columns || *l->thread ? 3 : 2) : 0;
	n += l->name_columns ? l->name_columns + 1 : 0;
	return n ? n - 1 : 0;
}

/* Cuts one part so that the label fits, but not to fewer columns than `least`. */
static void cut(struct label *l, size_t *part, size_t least, size_t room)
{
	const size_t columns = columns_of(l), excess = columns > room ? columns - room : 0;
	if (*part > least)
		*part = *part - least > excess ? *part - excess : least;
}

static void fit(struct label *l, size_t room)
{
	enum { LEAST = 9 }; /* with fewer, text_cell() leaves out the end */
	cut(l, &l->name_columns, LEAST, room);
	cut(l, &l->host_columns, LEAST, room);
	if (columns_of(l) > room)
		l->name_columns = 0;
	cut(l, &l->role_columns, LEAST, room);
	if (columns_of(l) > room)
		l->role_columns = 0;
}

static void put_part(const char *before, const char *part, size_t columns, FILE *out)
{
	if (!columns)
		return;
	fputs(before, out);
	text_cell(out, part, columns);
}

static void put_label(const struct model *m, const struct view_share *row, bool threads,
		      const struct text_style *s)
{
	const bool is_narrow = text_is_narrow(s);
	const size_t room = s->width > NARROW_NUMBERS + 20 ? s->width - NARROW_NUMBERS : 20;
	struct label l = make_label(m, row, threads, is_narrow);
	if (is_narrow)
		fit(&l, room);
	put_part("", l.rank, strlen(l.rank), s->out);
	put_part(*l.rank ? " " : "", l.host, l.host_columns, s->out);
	put_part(*l.rank || l.host_columns ? " " : "", l.pid, strlen(l.pid), s->out);
	put_part(", ", l.role, l.role_columns, s->out);
	fputs(l.role_columns && (l.name_columns || *l.thread) ? "," : "", s->out);
	put_part(" ", l.thread, strlen(l.thread), s->out);
	put_part(" ", l.name, l.name_columns, s->out);
	fprintf(s->out, "%s\n", l.n_threads);
}

static unsigned n_sampled(const struct model *m)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		n += m->metrics[i].kind == MODEL_METRIC_SAMPLED;
	return n;
}

/* The table of threads or of processes. */
static void put_rows(const struct model *m, const struct view_values *t,
		     const struct view_side *side, bool threads, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	const struct view_share *rows = side->at;
	double most = side->most, mean = side->mean;
	text_heading(s, "%s by %s: mean %s, most %s, balance %s",
		     threads ? "Threads" : "Processes", m->metrics[t->metric].name,
		     text_value(a, m->metrics[t->metric].unit, mean),
		     text_value(b, m->metrics[t->metric].unit, most), text_share(c, mean, most));
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
		put_label(m, &rows[i], threads, s);
	}
	if (n_empty)
		fprintf(s->out, "%*s %u %s without samples\n", text_is_narrow(s) ? 10 : 15,
			n ? "and" : "", n_empty, n_empty == 1 ? what : several);
	putc('\n', s->out);
}

bool text_report_threads(const struct model *m, const struct view_values *t,
			 const struct text_style *s)
{
	struct view_balance b;
	if (!view_balance_make(m, t->metric, &b))
		return false;
	if (m->n_processes != 1)
		put_rows(m, t, &b.processes, false, s);
	if (m->n_processes == 1 ||
	    b.threads.n != m->n_processes) /* with one thread each, the processes were all */
		put_rows(m, t, &b.threads, true, s);
	view_balance_free(&b);
	return true;
}
