/* SPDX-License-Identifier: BSD-3-Clause */
/* Head of the report for people. Test: tests/cli/prof/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_report.h"

#include "common/base/foreign.h"
#include "hpcprof-lite/sink/text/text_lines.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_sampling.h"
#include "hpcprof-lite/view/view_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* Processes that ended in the same way, if it was not a good end. */
struct ends {
	const struct model_process *first;
	uint64_t n;
};

static bool ended_well(const struct model_process *p)
{
	return p->exit_kind == MSR_EXIT_EXEC || p->exit_kind == MSR_EXIT_DETACHED ||
	       ((p->exit_kind == MSR_EXIT_RETURN || p->exit_kind == MSR_EXIT_QUICK) &&
		!p->exit_code);
}

static bool ended_alike(const struct model_process *a, const struct model_process *b)
{
	if (a->exit_kind == MSR_EXIT_NONE || a->exit_kind == MSR_EXIT_GO
		|| a->exit_kind == MSR_EXIT_WITHDRAWN || a->exit_kind == MSR_EXIT_SIGNAL)
		return a->exit_kind == b->exit_kind
			&& (a->exit_kind != MSR_EXIT_SIGNAL || a->exit_code == b->exit_code);
	return (b->exit_kind == MSR_EXIT_RETURN || b->exit_kind == MSR_EXIT_QUICK)
		&& a->exit_code == b->exit_code;
}

/* Lists the processes, as ": rank 3 solver pid 1234, ...", unless there is only one in the run. */
static void put_which(const struct model *m, const struct model_process *like, FILE *out)
{
	enum { MOST = 4 };
	unsigned n = 0;
	for (uint32_t i = 0; m->n_processes > 1 && i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		if (p->is_live || p->is_blank || ended_well(p) || !ended_alike(like, p)
			|| ++n > MOST)
			continue;
		fputs(n == 1 ? ": " : ", ", out);
		if (p->rank >= 0)
			fprintf(out, "rank %d ", p->rank);
		if (p->executable[0]) {
			text_cell(out, text_base(p->executable), 0);
			putc(' ', out);
		}
		fprintf(out, "pid %" PRIu32, p->pid);
		if (p->role)
			fprintf(out, " (%s)", p->role);
	}
	if (n > MOST)
		fprintf(out, ", %u more", n - MOST);
	putc('\n', out);
}

static void put_ends(const struct model *m, FILE *out)
{
	enum { MOST = 6 };
	struct ends ends[MOST] = {{NULL, 0}};
	unsigned n_ends = 0;
	uint64_t n_more = 0, n_live = 0, n_copied = 0, n_attached = 0;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		unsigned at = 0;
		n_live += p->is_live && !p->is_copied;
		n_copied += p->is_copied;
		n_attached += p->is_attached;
		if (p->is_live || p->is_blank || ended_well(p))
			continue;
		while (at < n_ends && !ended_alike(ends[at].first, p))
			at++;
		if (at == MOST) {
			n_more++;
			continue;
		}
		n_ends += at == n_ends;
		ends[at].first = ends[at].n++ ? ends[at].first : p;
	}
	if (n_attached)
		fprintf(out, "  %" PRIu64 " %s attached to: nothing is known of the time before\n",
			n_attached, plural(n_attached, "process was", "processes were"));
	if (n_live)
		fprintf(out, "  %" PRIu64 " %s still running: this is what was recorded so far\n",
			n_live, plural(n_live, "process is", "processes are"));
	if (n_copied)
		fprintf(out, "  %" PRIu64 " %s while running: the end is missing, see the note%s\n",
			n_copied, plural(n_copied, "process was copied", "processes were copied"),
			plural(n_copied, "", "s"));
	for (unsigned i = 0; i < n_ends; i++) {
		char count[TEXT_CELL], end[128];
		fprintf(out, "  %s %s %s", text_count(count, ends[i].n),
			plural(ends[i].n, "process ended with", "processes ended with"),
			ends_text(ends[i].first->exit_kind, ends[i].first->exit_code, end,
				sizeof end));
		put_which(m, ends[i].first, out);
	}
	if (n_more)
		fprintf(out, "  %" PRIu64 " more processes failed in other ways\n", n_more);
}

static void put_blank(const struct model *m, FILE *out)
{
	enum { MOST = 4 };
	char count[TEXT_CELL];
	unsigned n = 0, n_said = 0;
	for (uint32_t i = 0; i < m->n_processes; i++)
		n += m->processes[i].is_blank;
	if (!n)
		return;
	fprintf(out, "  %s %s (killed at the start, or just starting): ", text_count(count, n),
		plural(n, "process recorded nothing", "processes recorded nothing"));
	for (uint32_t i = 0; i < m->n_processes && n_said < MOST; i++)
		if (m->processes[i].is_blank)
			fprintf(out, "%spid %" PRIu32, n_said++ ? ", " : "", m->processes[i].pid);
	if (n > MOST)
		fprintf(out, ", %u more", n - MOST);
	putc('\n', out);
}

static void put_unmeasured(const struct model *m, FILE *out)
{
	enum { MOST = 8 };
	char a[TEXT_CELL], b[TEXT_CELL];
	for (uint32_t i = 0; i < m->n_unmeasured && i < MOST; i++) {
		const struct model_unmeasured *u = &m->unmeasured[i];
		if (u->is_starter)
			fputs("  not measured: children of ", out);
		else
			fprintf(out, "  not measured: %s %s of ", text_count(a, u->n),
				plural(u->n, "process", "processes"));
		text_cell(out, u->path, 0);
		fprintf(out, " (%s), ", u->why);
		if (u->n_unknown == u->n && !u->is_starter)
			fputs("CPU time not known\n", out);
		else if (u->n_unknown)
			fprintf(out, "%s of CPU time and that of %s not known\n",
				text_ns(a, u->cpu_ns), text_count(b, u->n_unknown));
		else
			fprintf(out, "%s of CPU time\n", text_ns(a, u->cpu_ns));
	}
	if (m->n_unmeasured > MOST)
		fprintf(out, "  not measured: %u more programs\n", m->n_unmeasured - MOST);
}

/* Prints each note once. */
static void put_notes(const struct model *m, FILE *out)
{
	enum { MOST = 8 };
	const char *said[MOST];
	unsigned n_said = 0, n_more = 0;
	for (uint32_t i = 0; i < m->n_processes; i++)
		for (uint32_t k = 0; k < m->processes[i].n_notes; k++) {
			const char *note = m->processes[i].notes[k];
			unsigned at = 0;
			while (at < n_said && strcmp(said[at], note) != 0)
				at++;
			if (at < n_said)
				continue;
			if (n_said == MOST) {
				n_more++;
				continue;
			}
			said[n_said++] = note;
			fputs("  note: ", out);
			text_cell(out, note, 0);
			putc('\n', out);
		}
	if (n_more)
		fprintf(out, "  %u more notes\n", n_more);
}

static void put_clocks(const struct model *m, size_t n_hosts, FILE *out)
{
	char error[TEXT_CELL];
	if (n_hosts < 2) /* as in a part of a run */
		return;
	if (m->clock_error_ns == UINT64_MAX)
		fputs("  times on different hosts are compared by their time of day, which nothing "
		      "here has checked\n",
		      out);
	else if (m->clock_error_ns)
		fprintf(out, "  times on different hosts are compared to +-%s, by calls of MPI\n",
			text_ns(error, m->clock_error_ns));
}

/* "job 4711.0": of the batch system, and its step. Runs of several jobs may be read together. */
static void put_jobs(const struct model *m, FILE *out)
{
	enum { MOST = 8 };
	const char *seen[MOST];
	unsigned n = 0;
	bool has_more = false;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const char *job = m->processes[i].job;
		unsigned k = 0;
		while (job && k < n && strcmp(seen[k], job) != 0)
			k++;
		if (!job || !job[0] || k < n)
			continue;
		has_more = n == MOST;
		if (has_more)
			break;
		foreign_printf(out, n ? ", %s" : "  job %s", job);
		seen[n++] = job;
	}
	if (n)
		fputs(has_more ? ", ...\n" : "\n", out);
}

/* Says that this is a part of the run, and what was left out of it. */
static void put_part(const struct model *m, FILE *out)
{
	if (!m->part)
		return;
	fputs("  part of the run: ", out);
	text_cell(out, m->part, 0);
	putc('\n', out);
	for (uint32_t i = 0; i < m->n_part_notes; i++)
		foreign_printf(out, "  %s\n", m->part_notes[i]);
}

static const char *source_name(enum msr_source source)
{
	switch (source) {
	case MSR_SOURCE_PERF:
		return "perf_event";
	case MSR_SOURCE_TIMER_CPU:
		return "CPU timer";
	case MSR_SOURCE_TIMER_REAL:
		return "timer";
	case MSR_SOURCE_PAPI:
		return "PAPI";
	case MSR_SOURCE_CALLS: return "calls of malloc";
	case MSR_SOURCE_TEST:
		return "synthetic";
	}
	return "unknown source";
}

static void put_metric(const struct model *m, uint32_t i, FILE *out)
{
	const struct model_metric *k = &m->metrics[i];
	const struct model_total *t = model_find_total(m, 0, i);
	double sum = t ? t->sum[MODEL_EXECUTION] : 0;
	uint64_t n = view_count_samples(m, i);
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	double one = model_unit_scale(k->unit);
	if (!n && k->measures == MODEL_EVENT_BLAME) /* no thread waited for a lock */
		return;
	foreign_printf(out, "  %-22s %15s in %s samples", k->name, text_value(a, k->unit, sum),
		       text_count(b, n));
	/* one sample may be a long wait, so the mean does not show how often samples come */
	const bool is_tick = k->measures == MODEL_EVENT_OFFCPU;
	if (n && !is_tick)
		fprintf(out, ", one for every %s", text_value(c, k->unit, sum / (double)n));
	if (k->period)
		fprintf(out, is_tick ? " (ticks of %s" : " (asked: %s",
			text_value(d, k->unit, (double)k->period / one));
	if (k->period && k->period_most > k->period)
		fprintf(out, " to %s", text_value(d, k->unit, (double)k->period_most / one));
	fprintf(out, "%s, %s%s\n", k->period ? ")" : "", source_name(k->source),
		k->sources_differ		    ? " and others"
			: view_sampled_by_both(m, i) ? " and CPU timer"
						      : "");
}

/* Says for how long the measurement was off. */
static void put_off(const struct model *m, const struct view_run *r, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	if (!r->n_off || (m->part && !r->off_ns))
		return;
	fprintf(out, "  measurement was off for %s%s of %s", m->part ? "at least " : "",
		text_ns(a, r->off_ns), text_ns(b, r->lifetime_ns));
	if (m->n_processes > 1)
		fprintf(out, ", in %s of %s processes", text_count(c, r->n_off),
			text_count(d, m->n_processes));
	if (r->n_stops)
		fprintf(out, "; the program stopped it %s %s", text_count(c, r->n_stops),
			plural(r->n_stops, "time", "times"));
	if (r->n_never && m->n_processes > 1)
		fprintf(out, "; %s never called hpctoolkit_sampling_start",
			text_count(c, r->n_never));
	else if (r->n_never)
		fputs("; the program never called hpctoolkit_sampling_start", out);
	putc('\n', out);
}

/* The command of the first process that wrote it, on one line. The caller frees it. */
static char *command_line(const struct model *m)
{
	const char *command = "";
	for (uint32_t i = 0; i < m->n_processes && !*command; i++)
		command = m->processes[i].command_line; /* "" if it was killed early */
	char *line = strdup(*command ? command : m->title);
	for (char *at = line; at && *at; at++)
		if ((unsigned char)*at < 0x20)
			*at = ' ';
	return line;
}

/* The end of an argument as foreign_put_argument() wrote it: 'a b', 'it'\''s', $'a\'b'. */
static char *argument_end(char *at)
{
	bool is_quoted = false, escapes = true; /* escapes: a backslash takes the next character */
	const char *begin = at;
	for (; *at && (is_quoted || *at != ' '); at++) {
		if (*at == '\'') {
			is_quoted = !is_quoted;
			escapes = !is_quoted || (at > begin && at[-1] == '$');
		} else if (*at == '\\' && escapes && at[1]) {
			at++;
		}
	}
	return at;
}

/* Prints the arguments in lines that can be copied into a shell together. Changes `line`. */
static void put_arguments(char *line, const struct text_style *s)
{
	enum { INDENT = 2, BEHIND = 2 }; /* a blank and a backslash */
	size_t used = 0;
	for (char *at = line, *end; *at; at = end) {
		end = argument_end(at);
		const bool is_last = !*end;
		if (!is_last)
			*end++ = 0;
		const size_t n = text_columns(at);
		if (used && used + 1 + n + (is_last ? 0 : BEHIND) > s->width) {
			fprintf(s->out, " \\\n%*s", INDENT, "");
			used = INDENT;
		} else if (used) {
			putc(' ', s->out);
			used++;
		}
		text_cell(s->out, at, 0);
		used += n;
	}
}

/* False if memory is short. */
static bool put_command(const struct model *m, const struct text_style *s)
{
	char *line = command_line(m);
	if (!line)
		return false;
	fputs(s->colour ? "\033[1m" : "", s->out);
	if (text_columns(line) > 2 * s->width)
		text_cell(s->out, line, text_is_narrow(s) ? s->width : 2 * s->width);
	else if (text_is_narrow(s))
		put_arguments(line, s);
	else
		text_cell(s->out, line, 0);
	fputs(s->colour ? "\033[0m\n" : "\n", s->out);
	free(line);
	return true;
}

static bool put_head(const struct model *m, const struct text_style *s)
{
	struct view_run run;
	if (!view_run_make(m, &run))
		return false;
	char when[64] = "", a[TEXT_CELL], b[TEXT_CELL];
	time_t start = (time_t)(m->start_ns / 1000000000u);
	struct tm tm;
	if (gmtime_r(&start, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(s->out, "  %s %s", text_count(a, m->n_processes),
		plural(m->n_processes, "process", "processes"));
	if (run.n_ranks)
		fprintf(s->out, " (%zu %s)", run.n_ranks, plural(run.n_ranks, "rank", "ranks"));
	if (run.n_hosts == 1) {
		fputs(" on ", s->out);
		text_cell(s->out, m->processes[0].host, 0);
	} else {
		fprintf(s->out, " on %zu hosts", run.n_hosts);
	}
	uint32_t n_threads = model_count_threads(m);
	fprintf(s->out, ", %s %s; %s, %s elapsed", text_count(a, n_threads),
		plural(n_threads, "thread", "threads"), when, text_ns(b, m->elapsed_ns));
	uint64_t between_ns = m->end_ns - m->start_ns > m->elapsed_ns
				      ? m->end_ns - m->start_ns - m->elapsed_ns
				      : 0;
	if (m->n_runs > 1)
		fprintf(s->out, " in %s runs, without %s between them", text_count(a, m->n_runs),
			text_ns(b, between_ns));
	putc('\n', s->out);
	put_jobs(m, s->out);
	if (!text_report_quota(m, s))
		return false;
	put_clocks(m, run.n_hosts, s->out);
	put_part(m, s->out);
	put_ends(m, s->out);
	put_blank(m, s->out);
	put_unmeasured(m, s->out);
	put_off(m, &run, s->out);
	put_notes(m, s->out);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		if (m->metrics[i].kind != MODEL_METRIC_SAMPLED)
			continue;
		put_metric(m, i, s->out);
		if (!text_report_certainty(m, i, s))
			return false;
	}
	text_sampling(m, s->out);
	if (m->has_gpu)
		text_report_gpu_times(m, s);
	putc('\n', s->out);
	return true;
}

bool text_report_head(const struct model *m, const struct text_style *s)
{
	struct text_lines lines;
	if (!put_command(m, s) || !text_lines_begin(&lines, s))
		return false;
	const bool ok = put_head(m, &lines.style);
	return text_lines_end(&lines) && ok;
}
