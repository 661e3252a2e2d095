/* SPDX-License-Identifier: BSD-3-Clause */
/* Ledger of the report for people. Test: tests/cli/prof/prof_text.sh. */
#include "common/base/foreign.h"
#include "hpcprof-lite/sink/text/text_lines.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/parallel/view_balance.h"
#include "hpcprof-lite/view/view_run.h"

#include <math.h>
#include <stdlib.h>

static void put_losses(const struct model_ledger *l, bool takes_sample, const char *label,
		       FILE *out)
{
	char n[TEXT_CELL];
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		if (l->losses[i] && msr_loss_takes_sample(i) == takes_sample)
			fprintf(out, "  %s %s %s: %s\n", label, text_count(n, l->losses[i]),
				msr_loss_name(i), msr_loss_description(i));
}

/* Counts samples, not paths, so that the sum is the number of samples in the tree. */
static void put_paths(const struct model_ledger *l, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	if (!l->in_tree)
		return;
	fprintf(out, "  call paths: %s complete (%.2f%%)", text_count(a, l->n_complete),
		100 * (double)l->n_complete / (double)l->in_tree);
	if (l->n_guessed)
		fprintf(out, ", %s with a guessed frame (%.2f%%)", text_count(b, l->n_guessed),
			100 * (double)l->n_guessed / (double)l->in_tree);
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		if (l->n_cut[i])
			fprintf(out, ", %s ended by: %s", text_count(b, l->n_cut[i]),
				i == MSR_END_ROOT ? "unknown cause" : msr_path_end_name(i));
	if (l->path_ends[MSR_END_TOO_DEEP] > l->n_cut[MSR_END_TOO_DEEP])
		fprintf(out, "; %s walks left out frames in the middle (too deep)",
			text_count(b, l->path_ends[MSR_END_TOO_DEEP] - l->n_cut[MSR_END_TOO_DEEP]));
	putc('\n', out);
}

static bool lacks_functions(const struct model_module *m)
{
	return m->structure <= MODEL_STRUCTURE_CHANGED && !m->is_gpu;
}

static void put_share(const struct model *m, const struct view_values *t, double value, FILE *out)
{
	char share[TEXT_CELL];
	text_share(share, value, t->whole);
	if (*share)
		foreign_printf(out, " (%s of %s)", share, m->metrics[t->metric].event);
}

static void put_module(const struct model *m, const struct view_values *t, uint32_t i, double value,
		       FILE *out)
{
	static const char *const why[] = {
		[MODEL_STRUCTURE_NONE] = "has no structure file: its functions are unknown",
		[MODEL_STRUCTURE_CHANGED] =
			"is not the file that ran (changed since): its functions are unknown",
	};
	const bool is_jit = m->modules[i].is_outside;
	fputs("  ", out);
	text_cell(out, m->modules[i].path, 0);
	fprintf(out, " %s",
		is_jit ? "(JIT or wild code) has no functions" : why[m->modules[i].structure]);
	put_share(m, t, value, out);
	fputs(is_jit ? "; see doc/jit.md\n" : "\n", out);
}

enum { FEW_MODULES = 8 }; /* if there are more, those with a small share are one line */

/* Modules whose functions are unknown. False if memory is short. */
static bool put_modules(const struct model *m, const struct view_values *t,
			const struct text_style *s)
{
	double *of_module = view_sum_modules(m, t), others = 0;
	uint32_t n = 0, n_others = 0;
	char a[TEXT_CELL];
	if (!of_module)
		return false;
	for (uint32_t i = 0; i < m->n_modules; i++)
		n += lacks_functions(&m->modules[i]);
	for (uint32_t i = 0; i < m->n_modules; i++) {
		if (!lacks_functions(&m->modules[i]))
			continue;
		if (n <= FEW_MODULES || of_module[i] >= s->threshold * t->whole) {
			put_module(m, t, i, of_module[i], s->out);
			continue;
		}
		n_others++;
		others += of_module[i];
	}
	free(of_module);
	if (n_others) {
		fprintf(s->out, "  %s %s module%s without known functions", text_count(a, n_others),
			n_others < n ? "more" : "small", n_others == 1 ? "" : "s");
		put_share(m, t, others, s->out);
		putc('\n', s->out);
	}
	return true;
}

/* CPU time is sampled, so a shorter thread may be off by more than a per cent. */
#define TIMES_LEAST_NS 500000000u

/*
 * Says by how much the times of one thread differ from its clocks at most. `share` is negative if
 * no thread is long enough.
 */
static void put_worst(double share, FILE *out)
{
	if (share < 0)
		fputs("; no thread is long enough to be compared alone\n", out);
	else
		fprintf(out, "; the worst thread is %.2f%% off\n", 100 * share);
}

/* The largest difference between the CPU time in a thread's samples and its clock, as a share. */
static double worst_cpu(const struct model *m)
{
	double worst = -1;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		const struct model_ledger *l = p->ledger;
		if (!l || p->cpu_ns < TIMES_LEAST_NS)
			continue;
		const double sum = (double)l->cpu_sampled_ns + (double)l->cpu_after_ns +
				   (double)l->cpu_unseen_ns,
			     share = fabs(sum - (double)p->cpu_ns) / (double)p->cpu_ns;
		worst = share > worst ? share : worst;
	}
	return worst;
}

static uint64_t missing_cpu_ns(const struct model *m)
{
	return m->ledger.cpu_unseen_ns + m->ledger.cpu_strange_ns;
}

#define EDGES_LEAST_NS 1000000u

/* CPU time by the clock of the process, in samples, and without samples. */
static void put_cpu(const struct model *m, FILE *out)
{
	const struct model_ledger *l = &m->ledger;
	char a[TEXT_CELL], b[TEXT_CELL];
	if (l->cpu_clock_ns && l->cpu_sampled_ns + l->cpu_after_ns) {
		fprintf(out,
			"  CPU time: %s in samples = %.2f%% of %s by the clock of the process%s",
			text_ns(a, l->cpu_sampled_ns),
			100 * (double)l->cpu_sampled_ns / (double)l->cpu_clock_ns,
			text_ns(b, l->cpu_clock_ns), m->n_processes == 1 ? "" : "es");
		if (!m->part)
			put_worst(worst_cpu(m), out);
		else
			putc('\n', out);
	}
	if (l->cpu_edges_ns > l->cpu_clock_ns / 100 && l->cpu_edges_ns > EDGES_LEAST_NS)
		fprintf(out,
			"  also %s of CPU time before and after the threads were measured: at "
			"their start and end\n",
			text_ns(a, l->cpu_edges_ns));
	if (l->cpu_unseen_ns)
		fprintf(out,
			"  missing: %s of CPU time without samples: signals were blocked or events "
			"disabled past us\n",
			text_ns(a, l->cpu_unseen_ns));
	if (l->cpu_strange_ns)
		fprintf(out, "  missing: %s of CPU time in threads that were not seen to start%s\n",
			text_ns(a, l->cpu_strange_ns),
			m->has_gpu ? " (the profiler's own, too)" : "");
}

/* How the times on and off a processor add up, and for which thread they do so worst. */
static void put_times(const struct model *m, FILE *out)
{
	const struct model_ledger *l = &m->ledger;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	double worst = -1;
	if (!l->elapsed_ns)
		return;
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_ledger *p = m->profiles[i].ledger;
		const double gap = p->elapsed_ns >= TIMES_LEAST_NS
					   ? (double)p->gap_ns / (double)p->elapsed_ns
					   : -1;
		worst = gap > worst ? gap : worst;
	}
	fprintf(out, "  time: %s on a processor + %s off = %.2f%% of %s elapsed in all threads",
		text_ns(a, l->on_ns), text_ns(b, l->off_ns),
		100 * ((double)l->on_ns + (double)l->off_ns) / (double)l->elapsed_ns,
		text_ns(c, l->elapsed_ns));
	put_worst(worst, out);
}

static bool put_ledger(const struct model *m, const struct view_values *t,
		       const struct text_style *s)
{
	const struct model_ledger *l = &m->ledger;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	struct view_run run;
	const char *closes = m->ledger_closes ? "it closes for every thread"
					      : "IT DOES NOT CLOSE: something is missing";
	if (!view_run_make(m, &run))
		return false;
	for (uint32_t i = 0; m->ledger_closes && i < m->n_processes; i++)
		if (m->processes[i].is_live)
			closes = "it closes for every thread that is not still being written";
	text_heading(s, "Ledger%s: %s samples delivered = %s in the tree + %s lost; %s%s",
		     m->part ? " of the whole run" : "", text_count(a, l->delivered),
		     text_count(b, l->in_tree), text_count(c, view_count_lost(l)), closes,
		     missing_cpu_ns(m) ? ", but CPU time is missing" : "");
	put_losses(l, true, "lost", s->out);
	put_losses(l, false, "also", s->out);
	put_paths(l, s->out);
	put_times(m, s->out);
	put_cpu(m, s->out);
	if (!m->ledger_closes && l->recorded != l->in_tree)
		fprintf(s->out, "  the run recorded %s samples, %s of them were found\n",
			text_count(a, l->recorded), text_count(b, l->in_tree));
	if (m->sums_overflow)
		fputs("  values add up to more than 64 bits can hold: they are damaged\n", s->out);
	if (l->bytes_damaged)
		fprintf(s->out,
			"  %s of %s bytes of the measurement files are damaged or missing\n",
			text_count(a, l->bytes_damaged), text_count(b, l->bytes_file));
	if (t && !put_modules(m, t, s))
		return false;
	if (run.handler_ns && !m->part)
		fprintf(s->out, "  time in the profiler's own handlers: %.2f%% of %s CPU time\n",
			100 * (double)run.handler_ns / (double)run.cpu_ns, text_ns(a, run.cpu_ns));
	putc('\n', s->out);
	if (m->has_gpu)
		text_report_gpu_ledger(m, s);
	return true;
}

bool text_report_ledger(const struct model *m, const struct view_values *t,
			const struct text_style *s)
{
	struct text_lines lines;
	if (!text_lines_begin(&lines, s))
		return false;
	const bool ok = put_ledger(m, t, &lines.style);
	return text_lines_end(&lines) && ok;
}
