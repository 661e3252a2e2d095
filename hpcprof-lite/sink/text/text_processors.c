/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "Where the time of N threads went", the first table of the report of a parallel program. At most
 * 15 lines. Test: tests/cli/openmp/omp_report.sh, tests/cli/prof/prof_text.sh.
 */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/parallel/view_processors.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	MOST_ROWS = 10 /* the rest is one row */
};

static const double SMALL = 0.001; /* a smaller share has no row of its own */

struct table {
	const struct model *m;
	const struct text_style *s;
	struct view_processors p;
	bool is_shown[VIEW_N_USES];
	double others;
};

/* Chooses the rows: the largest ones, in the order of view_use. */
static void choose_rows(struct table *t)
{
	for (unsigned n = 0; n < MOST_ROWS; n++) {
		unsigned most = VIEW_N_USES;
		for (unsigned k = 0; k < VIEW_N_USES; k++)
			if (!t->is_shown[k] && t->p.seconds[k] > SMALL * t->p.capacity &&
			    (most == VIEW_N_USES || t->p.seconds[k] > t->p.seconds[most]))
				most = k;
		if (most < VIEW_N_USES)
			t->is_shown[most] = true;
	}
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		t->others += t->is_shown[k] ? 0 : t->p.seconds[k];
}

/* Threads are called processors if each may have one. */
static const char *noun(const struct view_processors *p)
{
	const bool one = p->n_threads == 1;
	if (p->quota.n_allowed && p->quota.n_given < p->n_threads)
		return one ? "thread" : "threads";
	return one ? "processor" : "processors";
}

/* What the processors did, whatever the threads waited for. */
static void put_processors(const struct table *t)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	const struct view_processors *p = &t->p;
	char given[VIEW_QUOTA_TEXT];
	const struct view_quota *q = &p->quota;
	if (!q->n_allowed || p->cpu_seconds <= 0 || p->elapsed <= 0)
		return;
	text_count(a, q->n_allowed);
	if (q->has_quota)
		fprintf(t->s->out, "  of %s %s the CPU quota gives %s, which", a,
			q->n_allowed == 1 ? "processor" : "processors",
			view_quota_text(q->n_given, given));
	else
		fprintf(t->s->out, "  %s %s", a,
			q->n_allowed == 1 ? "processor was" : "processors were");
	fprintf(t->s->out, "%s used %s: %s of CPU time in %s x %s\n",
		!q->has_quota    ? ""
		: q->n_given > 1 ? " were"
				 : " was",
		text_share(b, p->cpu_seconds, p->elapsed * q->n_given),
		text_seconds(c, p->cpu_seconds), q->has_quota ? given : a,
		text_seconds(d, p->elapsed));
}

static void put_head(const struct table *t)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	const struct view_processors *p = &t->p;
	if (p->capacity > 1.005 * p->elapsed * p->n_threads)
		text_heading(t->s, "Where the time of the threads went: %s in %s",
			     text_seconds(a, p->capacity), text_seconds(b, p->elapsed));
	else
		text_heading(t->s, "Where the time of %s %s went: %s x %s %s = %s",
			     text_count(a, p->n_threads), noun(p), text_seconds(b, p->elapsed),
			     text_count(c, p->n_threads), p->n_threads == 1 ? "thread" : "threads",
			     text_seconds(d, p->capacity));
	put_processors(t);
	if (p->n_ranks > 1)
		fprintf(t->s->out, "%7s %9s  %-15s %9s  %s\n", "share", "time",
			"least (rank)", "mean", "most (rank)");
}

/* "12.3 ms (17)" */
static void put_rank(const struct table *t, double seconds, uint32_t process)
{
	char a[TEXT_CELL], rank[16];
	snprintf(rank, sizeof rank, "(%" PRId32 ")", t->m->processes[process].rank);
	fprintf(t->s->out, "%9s %-5s", text_seconds(a, seconds), rank);
}

/* True if another measurement would say more about this time. */
static bool is_vague(const struct table *t, unsigned use)
{
	return (use == VIEW_USE_UNKNOWN && t->p.lacks_offcpu) ||
	       (use == MODEL_WORK && t->p.work_has_waits);
}

/* Says what may have kept the threads from running. */
static void put_quota(const struct table *t)
{
	char a[TEXT_CELL];
	const struct view_quota *q = &t->p.quota;
	fputs(q->has_quota ? "; CPU quota" : "", t->s->out);
	if (q->throttled > 0)
		fprintf(t->s->out, ": throttled for %s", text_seconds(a, q->throttled));
}

/* `use` VIEW_N_USES: the sum of the small ones. */
static void put_row(const struct table *t, unsigned use)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	bool is_other = use == VIEW_N_USES, by_rank = t->p.n_ranks > 1,
	     is_elapsed = view_is_elapsed_time(t->m);
	double seconds = is_other ? t->others : t->p.seconds[use];
	fprintf(t->s->out, "%7s %9s  ", text_share(a, seconds, t->p.capacity),
		text_seconds(b, seconds));
	if (by_rank && (is_other || use == VIEW_USE_NO_THREAD)) {
		fprintf(t->s->out, "%43s", "");
	} else if (by_rank) {
		struct view_spread x = view_processors_spread(&t->p, t->m, use);
		put_rank(t, x.least, x.least_process);
		fprintf(t->s->out, " %9s ", text_seconds(c, x.mean));
		put_rank(t, x.most, x.most_process);
		fputs("  ", t->s->out);
	}
	const char *word = is_other  ? "other"
			   : by_rank ? view_use_short(&t->p, use)
				     : view_use_name(&t->p, use);
	if (by_rank && use == VIEW_USE_UNKNOWN && t->p.lacks_offcpu)
		word = "blocked";
	fputs(word, t->s->out);
	if (is_vague(t, use))
		fputs(by_rank || is_elapsed ? " [*]" : " (-e OFFCPU says)", t->s->out);
	if (use == MODEL_NO_CPU || (use == VIEW_USE_UNKNOWN && t->p.lacks_offcpu))
		put_quota(t);
	fputc('\n', t->s->out);
}

static void put_foot(const struct table *t)
{
	const struct view_processors *p = &t->p;
	char a[TEXT_CELL], b[TEXT_CELL];
	bool any_vague = false;
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		any_vague |= t->is_shown[k] && is_vague(t, k);
	/* OFFCPU is a part of the time only together with CPUTIME */
	if (any_vague && view_is_elapsed_time(t->m))
		fprintf(t->s->out, "  [*] %smeasure with -e CPUTIME -e OFFCPU to see which\n",
			p->n_ranks > 1 ? "or without a processor: " : "");
	else if (any_vague && p->n_ranks > 1)
		fputs("  [*] or ready without a processor: -e OFFCPU says\n", t->s->out);
	if (p->quota.n_allowed && p->quota.n_allowed < p->n_threads)
		fprintf(t->s->out, "  the processes may use %s processors, but have %s threads\n",
			text_count(a, p->quota.n_allowed), text_count(b, p->n_threads));
	if (p->n_left_out)
		fprintf(t->s->out,
			"  left out: %s %s with less than 1%% CPU time (helpers: 10%%)\n",
			text_count(a, p->n_left_out), p->n_left_out == 1 ? "thread" : "threads");
	if (p->n_all_threads > p->n_threads)
		fprintf(t->s->out, "  there were %s threads, mostly no more than %s at one time\n",
			text_count(a, p->n_all_threads), text_count(b, p->n_threads));
}

/* The CPU quota and the throttling, for the head of the report. */
bool text_report_quota(const struct model *m, const struct text_style *s)
{
	struct view_quota q;
	char given[VIEW_QUOTA_TEXT], n[TEXT_CELL], time[TEXT_CELL];
	if (!view_quota_make(m, &q))
		return false;
	if (q.has_quota)
		fprintf(s->out, "  CPU quota: %s of %s %s", view_quota_text(q.n_given, given),
			text_count(n, q.n_allowed), q.n_allowed == 1 ? "processor" : "processors");
	if (q.throttled > 0)
		fprintf(s->out, ", throttled for %s", text_seconds(time, q.throttled));
	if (q.has_quota)
		putc('\n', s->out);
	return true;
}

bool text_report_processors(const struct model *m, const struct text_style *s)
{
	struct table t = {.m = m, .s = s};
	if (!view_processors_apply(m))
		return true;
	if (!view_processors_make(m, &t.p))
		return false;
	choose_rows(&t);
	put_head(&t);
	for (unsigned k = 0; k < VIEW_N_USES; k++)
		if (t.is_shown[k])
			put_row(&t, k);
	if (t.others > 0)
		put_row(&t, VIEW_N_USES);
	put_foot(&t);
	putc('\n', s->out);
	view_processors_free(&t.p);
	return true;
}
