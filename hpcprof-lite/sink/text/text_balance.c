/* SPDX-License-Identifier: BSD-3-Clause */
/* How the work is spread over processes and threads. Test: tests/cli/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	MANY = 24,  /* rows that are shown without leaving any out */
	TOP = 16,   /* else so many of the largest ... */
	BOTTOM = 4, /* ... and of the smallest */
	BAR = 20,
	NARROW_BAR = 8
};

struct row {
	uint32_t id; /* of the profile or process */
	uint32_t n_threads;
	double value;
	uint64_t n_samples, n_lost, cpu_ns;
};

static bool is_empty(const struct row *r)
{
	return !r->n_samples && !r->n_lost && r->value <= 0;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;
	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	if (is_empty(a) != is_empty(b))
		return is_empty(a) ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

static void put_row(const struct model *m, const struct text_metric *t, const struct row *r, double most, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], bar[BAR + 1];
	size_t columns = text_is_narrow(s) ? NARROW_BAR : BAR,
	       n = most > 0 ? (size_t)(r->value / most * (double)columns + 0.5) : 0;
	memset(bar, ' ', columns);
	memset(bar, '#', n > columns ? columns : n);
	bar[columns] = 0;
	if (text_is_narrow(s)) {
		fprintf(s->out, "%10s %6s  %s %8s %9s  ", text_value(a, m->metrics[t->metric].unit, r->value),
			text_share(b, r->value, t->whole), bar, text_value(c, "count", (double)r->n_samples),
			r->cpu_ns ? text_value(e, "sec", (double)r->cpu_ns / 1e9) : "");
		return;
	}
	fprintf(s->out, "%15s %7s  %s  %9s %7s %10s  ", text_value(a, m->metrics[t->metric].unit, r->value), text_share(b, r->value, t->whole), bar,
		text_value(c, "count", (double)r->n_samples), r->n_lost ? text_value(d, "count", (double)r->n_lost) : "", r->cpu_ns ? text_value(e, "sec", (double)r->cpu_ns / 1e9) : "");
}

static void put_process(const struct model_process *p, FILE *out)
{
	if (p->rank >= 0)
		fprintf(out, "rank %d ", p->rank);
	text_cell(out, p->host, 0);
	fprintf(out, " pid %u", p->pid);
	if (p->exec_seq)
		fprintf(out, ".%u", p->exec_seq);
}

static unsigned n_sampled(const struct model *m)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		n += m->metrics[i].kind == MODEL_METRIC_SAMPLED;
	return n;
}

/* The table of threads or of processes. Sorts the rows. */
static void put_rows(const struct model *m, const struct text_metric *t, struct row *rows, uint32_t n, bool threads, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	double most = 0, mean = n ? t->whole / n : 0;
	qsort(rows, n, sizeof *rows, compare_rows);
	if (n)
		most = rows[0].value;
	text_heading(s, "%s by %s: mean %s, most %s (%.2f times the mean)", threads ? "Threads" : "Processes", m->metrics[t->metric].name,
		text_value(a, m->metrics[t->metric].unit, mean), text_value(b, m->metrics[t->metric].unit, most), mean > 0 ? most / mean : 0);
	if (text_is_narrow(s))
		fprintf(s->out, "%10s %6s  %-8s %8s %9s  %s\n", "value", "share", "",
			n_sampled(m) > 1 ? "all smpl" : "samples", "CPU clock", threads ? "thread" : "process");
	else
		fprintf(s->out, "%15s %7s  %-20s  %9s %7s %10s  %s\n", "value", "share", "", n_sampled(m) > 1 ? "all smpl." : "samples", "lost", "CPU clock",
		threads ? "thread" : "process");
	const char *what = threads ? "thread" : "process", *several = threads ? "threads" : "processes";
	uint32_t n_empty = 0;
	while (s->threshold > 0 && n_empty < n && is_empty(&rows[n - 1 - n_empty]))
		n_empty++;
	n -= n_empty;
	bool all = n <= MANY || s->threshold == 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!all && i == TOP) {
			fprintf(s->out, "%15s %7s  ... %u more ...\n", "", "", n - TOP - BOTTOM);
			i = n - BOTTOM;
		}
		put_row(m, t, &rows[i], most, s);
		if (threads) {
			const struct model_profile *p = &m->profiles[rows[i].id];
			put_process(&m->processes[p->process], s->out);
			fprintf(s->out, *p->name ? " thread %u " : " thread %u", p->thread);
			text_cell(s->out, p->name, 0); /* a program may give a thread any bytes for a name */
			putc('\n', s->out);
		} else {
			put_process(&m->processes[rows[i].id], s->out);
			const char *executable = m->processes[rows[i].id].executable;
			fputs(*executable ? " " : "", s->out);
			text_cell(s->out, text_base(executable), 0);
			fprintf(s->out, ", %u %s\n", rows[i].n_threads, rows[i].n_threads == 1 ? "thread" : "threads");
		}
	}
	if (n_empty)
		fprintf(s->out, "%*s %u %s without samples\n", text_is_narrow(s) ? 10 : 15,
			n ? "and" : "", n_empty, n_empty == 1 ? what : several);
	putc('\n', s->out);
}

bool text_report_threads(const struct model *m, const struct text_metric *t, const struct text_style *s)
{
	struct row *threads = calloc((size_t)m->n_profiles + 1, sizeof *threads), *processes = calloc((size_t)m->n_processes + 1, sizeof *processes);
	bool ok = threads && processes;
	if (ok) {
		for (uint32_t i = 0; i < m->n_processes; i++)
			processes[i].id = i;
		uint32_t n = 0;
		for (uint32_t i = 0; i < m->n_profiles; i++) {
			const struct model_profile *p = &m->profiles[i];
			if (p->kind != MODEL_PROFILE_THREAD)
				continue;
			const struct model_value *v = model_find_value(m, i, 0, t->metric);
			struct row *of = &processes[p->process];
			threads[n] = (struct row){i, 1, v ? v->at[MODEL_EXECUTION] : 0, p->ledger.in_tree, text_count_lost(&p->ledger), p->cpu_ns};
			of->n_threads++;
			of->value += threads[n].value;
			of->n_samples += threads[n].n_samples;
			of->n_lost += threads[n].n_lost;
			of->cpu_ns += threads[n++].cpu_ns;
		}
		if (m->n_processes > 1)
			put_rows(m, t, processes, m->n_processes, false, s);
		if (m->n_processes == 1 || n != m->n_processes) /* one thread each: that was all */
			put_rows(m, t, threads, n, true, s);
	}
	free(threads);
	free(processes);
	return ok;
}
