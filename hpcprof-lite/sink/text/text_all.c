/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See text_all.h. Must not compute: prints what the model holds. Test:
 * tests/cli/prof/prof_text.sh.
 */
#include "hpcprof-lite/sink/text/text_all.h"

#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_balance.h"
#include "hpcprof-lite/view/view_table.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_scopes(FILE *out, const double at[MODEL_N_SCOPES])
{
	for (unsigned i = 0; i < MODEL_N_SCOPES; i++)
		fprintf(out, "\t%.17g", at[i]);
}

static void put_paths(FILE *out, const char *whose, uint32_t id, const char *how, uint64_t n)
{
	if (!n)
		return;
	fprintf(out, "paths\t%s", whose);
	text_all_id(out, id);
	fprintf(out, "\t%s\t%" PRIu64 "\n", how, n);
}

static void put_ledger(FILE *out, const char *whose, uint32_t id, const struct model_ledger *l)
{
	fprintf(out, "ledger\t%s", whose);
	text_all_id(out, id);
	const uint64_t fixed[] = {l->delivered,  l->recorded,        l->in_tree,
				  l->n_marked,   l->n_trace_records, l->bytes_damaged,
				  l->bytes_file, l->handler_ns,      l->n_frames};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		text_all_u64(out, fixed[i]);
	putc('\n', out);
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		if (l->losses[i]) {
			fprintf(out, "loss\t%s", whose);
			text_all_id(out, id);
			fprintf(out, "\t%s\t%d\t%" PRIu64 "\n", msr_loss_name(i),
				msr_loss_takes_sample(i), l->losses[i]);
		}
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		if (l->path_ends[i]) {
			fprintf(out, "end\t%s", whose);
			text_all_id(out, id);
			fprintf(out, "\t%s\t%" PRIu64 "\n", msr_path_end_name(i), l->path_ends[i]);
		}
	if (l->elapsed_ns) {
		fprintf(out, "time\t%s", whose);
		text_all_id(out, id);
		const uint64_t times[] = {l->elapsed_ns, l->on_ns, l->off_ns, l->gap_ns};
		for (size_t i = 0; i < sizeof times / sizeof *times; i++)
			text_all_u64(out, times[i]);
		putc('\n', out);
	}
	const uint64_t cpu[] = {l->cpu_clock_ns, l->cpu_sampled_ns, l->cpu_after_ns,
				l->cpu_off_ns,   l->cpu_edges_ns,   l->cpu_unseen_ns,
				l->cpu_strange_ns};
	if (l->cpu_clock_ns || l->cpu_sampled_ns || l->cpu_unseen_ns) {
		fprintf(out, "cpu\t%s", whose);
		text_all_id(out, id);
		for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++)
			text_all_u64(out, cpu[i]);
		putc('\n', out);
	}
	put_paths(out, whose, id, "complete", l->n_complete);
	put_paths(out, whose, id, "guessed", l->n_guessed);
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		put_paths(out, whose, id, i ? msr_path_end_name(i) : "unknown", l->n_cut[i]);
}

static void put_activities(const struct model *m, FILE *out)
{
	bool any = false;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		if (m->metrics[i].kind != MODEL_METRIC_ACTIVITY)
			continue;
		if (!any)
			fputs("# activity metric of (the part of the time with this activity)\n",
			      out);
		any = true;
		fprintf(out, "activity\t%u\t%u\n", i, m->metrics[i].parent);
	}
}

static void put_things(const struct model *m, FILE *out)
{
	static const char *const structure[] = {"none", "changed", "symbols", "lines"};
	fputs("# module id structure build-id path\n", out);
	for (uint32_t i = 0; i < m->n_modules; i++) {
		fprintf(out, "module\t%u\t%s\t", i, structure[m->modules[i].structure]);
		for (uint32_t k = 0; k < m->modules[i].build_id_bytes; k++)
			fprintf(out, "%02x", m->modules[i].build_id[k]);
		text_all_name(out, m->modules[i].path);
		putc('\n', out);
	}
	fputs("# file id path\n", out);
	for (uint32_t i = 0; i < m->n_files; i++) {
		fprintf(out, "file\t%u", i);
		text_all_name(out, m->files[i].path);
		putc('\n', out);
	}
	fputs("# function id module file line address name\n", out);
	for (uint32_t i = 0; i < m->n_functions; i++) {
		const struct model_function *f = &m->functions[i];
		fprintf(out, "function\t%u", i);
		text_all_id(out, f->module);
		text_all_id(out, f->file);
		fprintf(out, "\t%u\t%#" PRIx64, f->line, f->link_addr);
		text_all_name(out, f->name);
		putc('\n', out);
	}
	fputs("# metric id unit period source event name\n"
	      "# guessed metric of (what of a metric is on call paths with a guessed frame)\n",
	      out);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		fprintf(out, "metric\t%u\t%s\t%" PRIu64 "\t%d", i, k->unit, k->period,
			(int)k->source);
		text_all_name(out, k->event);
		text_all_name(out, k->name);
		putc('\n', out);
		if (k->kind == MODEL_METRIC_GUESSED)
			fprintf(out, "guessed\t%u\t%u\n", i, k->parent);
	}
	put_activities(m, out);
}

static void put_contexts(const struct model *m, FILE *out)
{
	static const char *const kinds[] = {"root", "entry", "function",
					    "loop", "line",  "instruction"};
	static const char *const relations[] = {"lexical", "call", "inlined"};
	static const char *const entries[] = {"main", "thread", "partial", "gpu-no-path",
					      "gpu-no-launch", "omp-idle"};
	fputs("# context id parent subtree kind relation marked function module file line address "
	      "[entry end]\n",
	      out);
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		fprintf(out, "context\t%u", i);
		text_all_id(out, c->parent);
		fprintf(out, "\t%u\t%s\t%s\t%d", c->subtree_n, kinds[c->kind],
			relations[c->relation], c->marked);
		text_all_id(out, c->function);
		text_all_id(out, c->module);
		text_all_id(out, c->file);
		fprintf(out, "\t%u\t%#" PRIx64, c->line, c->link_addr);
		if (c->kind == MODEL_CONTEXT_ENTRY)
			fprintf(out, "\t%s\t%s", entries[c->entry], msr_path_end_name(c->end));
		putc('\n', out);
	}
}

static void put_totals(const struct model *m, FILE *out)
{
	fputs("# total context metric profiles samples, then point function lex_aware execution of "
	      "each: sum squares min max\n",
	      out);
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		fprintf(out, "total\t%u\t%u\t%u\t%" PRIu64, t->context, t->metric, t->n_profiles,
			t->n_samples);
		put_scopes(out, t->sum);
		put_scopes(out, t->sum_of_squares);
		put_scopes(out, t->min);
		put_scopes(out, t->max);
		putc('\n', out);
	}
}

static void put_processes(const struct model *m, FILE *out)
{
	fputs("# process id rank pid exec host-id exit code start end host executable command\n# "
	      "note process text\n"
	      "# live process (it was still running when it was read)\n",
	      out);
	if (m->n_unmeasured)
		fputs("# unmeasured processes unknown cpu-ns starter why path\n", out);
	for (uint32_t i = 0; i < m->n_unmeasured; i++) {
		const struct model_unmeasured *u = &m->unmeasured[i];
		fprintf(out, "unmeasured\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d\t%s", u->n,
			u->n_unknown, u->cpu_ns, u->is_starter, u->why);
		text_all_name(out, u->path);
		putc('\n', out);
	}
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		fprintf(out, "process\t%u\t%d\t%u\t%u\t%" PRIu64 "\t%u\t%d\t%" PRIu64 "\t%" PRIu64,
			i, p->rank, p->pid, p->exec_seq, p->host_id, p->exit_kind, p->exit_code,
			p->start_ns, p->end_ns);
		text_all_name(out, p->host);
		text_all_name(out, p->executable);
		text_all_name(out, p->command);
		putc('\n', out);
		if (p->is_live)
			fprintf(out, "live\t%u\n", i);
		if (p->off_ns || p->n_stops)
			fprintf(out, "off\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", i,
				p->off_ns, p->n_stops, p->n_starts);
		for (uint32_t k = 0; k < p->n_notes; k++) {
			fprintf(out, "note\t%u", i);
			text_all_name(out, p->notes[k]);
			putc('\n', out);
		}
		put_ledger(out, "process", i, &p->ledger);
		text_all_gpu_process(m, i, out);
	}
}

/* Jobs that MPI spawned, and CPU quotas, where there are any. */
static void put_surroundings(const struct model *m, FILE *out)
{
	bool any_job = false, any_quota = false;
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		if (!p->spawned_job)
			continue;
		fputs(any_job ? "" : "# spawned process job rank-in-job\n", out);
		fprintf(out, "spawned\t%u\t%u\t%d\n", i, p->spawned_job, p->job_rank);
		any_job = true;
	}
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		if (p->quota <= 0)
			continue;
		fputs(any_quota ? "" : "# quota process processors cgroup throttled-before-ns "
				       "throttled-ns\n", out);
		fprintf(out, "quota\t%u\t%.9g\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", i,
			p->quota, p->quota_id, p->throttled_start_ns,
			p->throttled_end_ns - p->throttled_start_ns);
		any_quota = true;
	}
}

static void put_time_line(const struct model *m, uint32_t profile, FILE *out)
{
	struct model_trace_cursor c = {0};
	struct model_sample samples[1024];
	for (size_t n; (n = model_trace_read(m, profile, &c, samples, 1024));)
		for (size_t i = 0; i < n; i++)
			if (samples[i].context)
				fprintf(out, "sample\t%u\t%" PRIu64 "\t%u\t%u\n", profile,
					samples[i].time_ns, samples[i].context, samples[i].metric);
			else
				fprintf(out, "idle\t%u\t%" PRIu64 "\n", profile,
					samples[i].time_ns);
}

static void put_source_use(FILE *out, uint32_t profile, const struct model_source_use *u)
{
	if (u->event_samples || u->timer_samples)
		fprintf(out,
			"sampled-by\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
			"\t%" PRIu64 "\t%" PRIu64 "\n",
			profile, u->event_ns, u->event_samples, u->event_switches, u->timer_ns,
			u->timer_samples, u->n_changes);
}

static void put_profiles(const struct model *m, FILE *out)
{
	fputs("# profile id process thread tid start end cpu-ns name\n"
	      "# sampled-by profile event-ns event-samples event-switches timer-ns timer-samples "
	      "changes\n"
	      "# value profile context metric, then point function lex_aware execution\n"
	      "# sample profile time context metric\n",
	      out);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		fprintf(out, "profile\t%u\t%u", i, p->process);
		text_all_id(out, p->thread);
		fprintf(out, "\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, p->tid, p->start_ns,
			p->end_ns, p->cpu_ns);
		text_all_name(out, p->name);
		putc('\n', out);
		put_ledger(out, "profile", i, p->ledger);
		put_source_use(out, i, &p->source_use);
		for (size_t k = 0; k < p->n_values; k++) {
			fprintf(out, "value\t%u\t%u\t%u", i, p->values[k].context,
				p->values[k].metric);
			put_scopes(out, p->values[k].at);
			putc('\n', out);
		}
		model_values_done(m, p->n_values);
		put_time_line(m, i, out);
		text_all_gpu_profile(m, i, out);
	}
}

/* ---- the same in words ---- */

static void put_tree(const struct model *m, const struct view_values *t, FILE *out)
{
	static const char *const kinds[] = {"root", "entry", "function",
					    "loop", "line",  "instruction"};
	unsigned depth = 0;
	uint32_t at = MODEL_NONE; /* the context before; the next one's parent is it or one of its
				     ancestors */
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		for (; at != MODEL_NONE && at != c->parent; at = m->contexts[at].parent)
			depth--;
		depth = i ? depth + 1 : 0;
		at = i;
		if (t->total[i] == 0)
			continue;
		char name[TEXT_NAME];
		text_name(name, sizeof name, m, c);
		bool function = c->kind == MODEL_CONTEXT_FUNCTION;
		fputs("tree", out);
		text_all_name(out, m->metrics[t->metric].name);
		fprintf(out, "\t%u\t%s", depth,
			function && c->relation == MODEL_INLINED ? "inlined" : kinds[c->kind]);
		text_all_name(out,
			      c->function != MODEL_NONE ? m->functions[c->function].name : name);
		text_all_place(m, c->file, c->line, c->link_addr, out);
		fprintf(out, "\t%.17g\t%.17g\t%" PRIu64 "\n", t->total[i], t->self[i],
			t->n_samples[i]);
	}
}

static bool put_flat(const struct model *m, const struct view_values *t, enum view_by by, FILE *out)
{
	static const char *const kinds[] = {"by-function", "by-line", "by-module"};
	struct view_rows rows;
	if (!view_rows_make(m, t, by, &rows))
		return false;
	for (size_t i = 0; i < rows.n; i++) {
		const struct view_row *r = &rows.at[i];
		const struct model_context *c = &m->contexts[r->context];
		const struct model_function *f =
			c->function != MODEL_NONE ? &m->functions[c->function] : NULL;
		fputs(kinds[by], out);
		text_all_name(out, m->metrics[t->metric].name);
		if (by == VIEW_BY_FUNCTION) {
			text_all_name(out, f->name);
			text_all_place(m, f->file, f->line, f->link_addr, out);
			text_all_name(out, text_module_path(m, f->module));
		} else if (by == VIEW_BY_LINE) {
			text_all_place(m, c->file, c->line, 0, out);
			text_all_name(out, f ? f->name : "");
		} else {
			text_all_name(out, m->modules[c->module].path);
		}
		fprintf(out, "\t%.17g\t%.17g\t%" PRIu64 "\n", r->self, r->total, r->n_samples);
	}
	view_rows_free(&rows);
	return true;
}

static void put_threads(const struct model *m, FILE *out)
{
	fputs("# thread rank host pid exec thread name cpu-ns delivered in-tree lost closes metric "
	      "value [metric value]...\n",
	      out);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		const struct model_process *q = &m->processes[p->process];
		const struct model_ledger *l = p->ledger;
		uint64_t lost = view_count_lost(l);
		if (p->kind != MODEL_PROFILE_THREAD)
			continue;
		fprintf(out, "thread\t%d", q->rank);
		text_all_name(out, q->host);
		fprintf(out, "\t%u\t%u\t%u", q->pid, q->exec_seq, p->thread);
		text_all_name(out, p->name);
		fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%d", p->cpu_ns,
			l->delivered, l->in_tree, lost,
			l->delivered == l->in_tree + lost && l->recorded == l->in_tree);
		for (uint32_t k = 0; k < m->n_metrics; k++) {
			const struct model_value *v = model_find_value(m, i, 0, k);
			text_all_name(out, m->metrics[k].name);
			fprintf(out, "\t%.17g", v ? v->at[MODEL_EXECUTION] : 0);
		}
		putc('\n', out);
	}
}

static bool put_words(const struct model *m, FILE *out)
{
	bool ok = true;
	fputs("# tree metric depth kind name place inclusive exclusive samples\n"
		"# by-function metric name place module exclusive inclusive samples\n"
		"# by-line metric place function exclusive inclusive samples\n"
		"# by-module metric path exclusive inclusive samples\n", out);
	for (uint32_t i = 0; i < m->n_metrics && ok; i++) {
		struct view_values t;
		if (!view_values_open(m, i, &t))
			return false;
		put_tree(m, &t, out);
		for (enum view_by by = VIEW_BY_FUNCTION; by <= VIEW_BY_MODULE && ok; by++)
			ok = put_flat(m, &t, by, out);
		view_values_close(&t);
	}
	put_threads(m, out);
	return ok && text_all_gpu_words(m, out);
}

static void put_part(const struct model *m, FILE *out)
{
	if (!m->part)
		return;
	fputs("part", out);
	text_all_name(out, m->part);
	putc('\n', out);
	for (uint32_t i = 0; i < m->n_part_notes; i++) {
		fputs("part-note", out);
		text_all_name(out, m->part_notes[i]);
		putc('\n', out);
	}
}

enum status sink_text_all(const struct model *m, FILE *out)
{
	fprintf(out, "# hpcprof-lite text 1\ntitle");
	text_all_name(out, m->title);
	fprintf(out, "\nextent\t%" PRIu64 "\t%" PRIu64 "\n", m->start_ns, m->end_ns);
	put_part(m, out);
	put_things(m, out);
	text_all_gpu_things(m, out);
	put_contexts(m, out);
	put_totals(m, out);
	fputs("# ledger of id delivered recorded in-tree marked trace-records bytes-damaged "
	      "bytes-file handler-ns frames\n"
	      "# loss of id cause takes-sample n\n"
	      "# end of id how n (walks of the stack)\n"
	      "# paths of id how n (samples in the tree: complete, guessed, or why they were "
	      "cut)\n",
	      out);
	if (m->ledger.elapsed_ns)
		fputs("# time of id elapsed-ns on-processor-ns off-processor-ns gap-ns\n", out);
	if (m->ledger.cpu_clock_ns)
		fputs("# cpu of id clock-ns sampled-ns after-last-sample-ns while-off-ns "
		      "before-and-after-threads-ns without-samples-ns threads-not-seen-ns\n",
		      out);
	put_processes(m, out);
	put_surroundings(m, out);
	put_profiles(m, out);
	if (!put_words(m, out))
		return STATUS_NO_MEMORY;
	put_ledger(out, "all", MODEL_NONE, &m->ledger);
	text_all_mpi(m, out);
	text_all_nccl(m, out);
	fprintf(out, "closes\t%d\n", m->ledger_closes);
	if (m->has_gpu)
		fprintf(out, "gpu-closes\t%d\n", m->gpu_ledger.closes);
	return fflush(out) == 0 && !ferror(out) ? STATUS_OK : STATUS_IO;
}
