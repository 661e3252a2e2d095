/* SPDX-License-Identifier: BSD-3-Clause */
/* The text sink: decides what to show and how, and puts the parts together. Test:
 * tests/cli/prof/prof_text.sh. */
#include "hpcprof-lite/sink/text/text_sink.h"

#include "common/base/foreign.h"
#include "common/base/log.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/sink/text/text_options.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/sink/unread.h"

#include <errno.h>
#include <string.h>

static struct text_style make_style(const struct sink_text_options *o, FILE *out)
{
	struct text_style s = text_style_of(out);
	s.width = o->width ? o->width : s.width;
	s.depth = o->depth;
	s.by_total = o->by_total;
	s.interpreter = o->interpreter;
	s.threshold = (o->threshold < 0 ? 1 : o->threshold) / 100;
	s.n_functions = o->views || o->threshold == 0 ? 0 : TEXT_HOT_FUNCTIONS;
	return s;
}

/*
 * The metric with this name, with or without its unit, or with this event. Without a name: the
 * first CPU metric, else the first. MODEL_NONE: none.
 */
static uint32_t choose_metric(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (name ? names_is_metric(m->metrics[i].name, m->metrics[i].unit, name,
					   strlen(name)) ||
				    strcmp(m->metrics[i].event, name) == 0
			 : m->metrics[i].kind == MODEL_METRIC_SAMPLED)
			return i;
	return name || m->n_metrics == 0 ? MODEL_NONE : 0;
}

/*
 * True if calls of MPI were asked for, and there were none. If there are some, they are metrics.
 * Without any metric, the report still has its head and ledger.
 */
static bool lacks_mpi(const struct model *m)
{
	bool asked = false;
	for (uint32_t p = 0; m->n_metrics == 0 && p < m->n_processes; p++)
		for (uint32_t i = 0; i < m->processes[p].n_events; i++)
			asked |= strcmp(m->processes[p].events[i], "MPI") == 0;
	return asked;
}

/* Says why nothing was measured. */
static void say_nothing_measured(const struct model *m)
{
	const struct model_process *p = m->n_processes ? &m->processes[0] : NULL;
	char gpus[256] = "";
	bool has_cpu = false;
	uint32_t n_blank = 0;
	while (n_blank < m->n_processes && m->processes[n_blank].is_blank)
		n_blank++;
	if (n_blank && n_blank == m->n_processes) {
		log_error(NULL, "nothing was measured: %s killed at the start, or just starting",
			n_blank == 1 ? "the process was" : "all processes were");
		return;
	}
	for (uint32_t i = 0; p && i < p->n_events; i++) {
		bool is_gpu = strncmp(p->events[i], "gpu=", 4) == 0;
		has_cpu |= !is_gpu;
		if (is_gpu)
			snprintf(gpus + strlen(gpus), sizeof gpus - strlen(gpus), "%s%.*s",
				 *gpus ? ", " : "", (int)strcspn(p->events[i] + 4, ",@"),
				 p->events[i] + 4);
	}
	if (*gpus && !has_cpu)
		log_error(NULL,
			  "nothing was measured: no CPU event was asked for, and %s saw no "
			  "operation (the program did not use it)",
			  gpus);
	else
		log_error(NULL, "the measurements have no metric");
}

static enum status check(const struct model *m, const void *settings)
{
	const struct sink_text_options *o = settings;
	const char *name = o->metric;
	if (o->all || choose_metric(m, name) != MODEL_NONE || (!name && lacks_mpi(m)))
		return STATUS_OK;
	if (!name) {
		say_nothing_measured(m);
		return STATUS_BAD_INPUT;
	}
	char have[NAMES_LIST] = "";
	for (uint32_t i = 0; i < m->n_metrics; i++)
		names_list_metric(have, sizeof have, m->metrics[i].name, m->metrics[i].unit);
	log_error(NULL, "--metric: no metric '%s' was measured; there is: %s", name, have);
	return STATUS_USAGE;
}

static bool write_gpu(const struct model *m, const struct text_style *s)
{
	struct view_gpu g;
	if (!view_gpu_open(m, &g))
		return false;
	bool ok = text_report_advice(m, &g, s) && text_report_gpu(m, &g, s);
	view_gpu_close(&g);
	return ok;
}

static bool write_views(const struct model *m, const struct view_values *t,
			const struct view_gpu_values *gpu, unsigned views,
			const struct text_style *s)
{
	bool ok = true;
	if (views & SINK_TEXT_PATHS && (t->whole > 0 || gpu))
		ok = ok && text_report_tree(m, t, gpu, s);
	if (m->has_gpu && views & SINK_TEXT_GPU)
		ok = ok && write_gpu(m, s);
	if (m->nccl && views & SINK_TEXT_GPU)
		ok = ok && text_report_nccl(m, s);
	if (views & SINK_TEXT_PATHS)
		ok = ok && text_report_memory(m, s);
	if (m->mpi && views & SINK_TEXT_MPI)
		ok = ok && text_report_mpi(m, s);
	if (t->whole <= 0)
		return ok;
	if (views & SINK_TEXT_OPERATORS)
		ok = ok && text_report_table(m, t, VIEW_BY_OPERATOR, s);
	if (views & SINK_TEXT_TORCH_MODULES)
		ok = ok && text_report_table(m, t, VIEW_BY_TORCH_MODULE, s);
	if (views & SINK_TEXT_LINES)
		ok = ok && text_report_table(m, t, VIEW_BY_LINE, s);
	if (views & SINK_TEXT_MODULES)
		ok = ok && text_report_table(m, t, VIEW_BY_MODULE, s);
	if (views & SINK_TEXT_THREADS)
		ok = ok && text_report_threads(m, t, s);
	return ok;
}

static bool write_parts(const struct model *m, const struct view_values *t, unsigned views,
			const struct text_style *s)
{
	struct view_gpu_values gpu;
	bool has_gpu;
	const struct model_metric *metric = &m->metrics[t->metric];
	if (!view_gpu_values_open(m, t->metric, &gpu, &has_gpu))
		return false;
	bool ok = text_report_head(m, s) && text_report_processors(m, s) &&
		  (!(views & SINK_TEXT_PATHS) ||
		   text_report_findings(m, views & SINK_TEXT_GPU, s)) &&
		  (!(views & SINK_TEXT_FUNCTIONS) || t->whole <= 0 ||
		   text_report_table(m, t, VIEW_BY_FUNCTION, s)) &&
		  (!(views & SINK_TEXT_PATHS) ||
		   (text_report_pop(m, s) && (t->whole <= 0 || text_report_ranks(m, t, s)) &&
		    text_report_regions(m, s) && text_report_nvtx(m, s)));
	if (ok && t->whole <= 0)
		foreign_printf(s->out,
			       metric->kind == MODEL_METRIC_SAMPLED ? "No samples of %s.\n\n"
								    : "Nothing of %s.\n\n",
			       metric->name);
	ok = ok && write_views(m, t, has_gpu ? &gpu : NULL, views, s) &&
	     text_report_ledger(m, t, s);
	view_gpu_values_close(&gpu);
	return ok;
}

static bool write_without_metric(const struct model *m, const struct text_style *s)
{
	if (!text_report_head(m, s))
		return false;
	fputs("No call of MPI was seen: the program does not use MPI, or is linked to it "
	      "statically.\n\n",
	      s->out);
	return text_report_ledger(m, NULL, s);
}

static enum status write_report(const struct model *m, const struct sink_text_options *o, FILE *out)
{
	struct text_style style = make_style(o, out);
	struct view_values t;
	enum status s = check(m, o);
	if (s != STATUS_OK)
		return s;
	if (choose_metric(m, o->metric) == MODEL_NONE) {
		if (!write_without_metric(m, &style))
			return STATUS_NO_MEMORY;
		return fflush(out) == 0 && !ferror(out) ? STATUS_OK : STATUS_IO;
	}
	if (!view_values_open(m, choose_metric(m, o->metric), &t))
		return STATUS_NO_MEMORY;
	unsigned views = o->views ? o->views
				  : SINK_TEXT_PATHS | SINK_TEXT_FUNCTIONS | SINK_TEXT_LINES |
					    SINK_TEXT_MODULES | SINK_TEXT_THREADS | SINK_TEXT_GPU |
					    SINK_TEXT_MPI | SINK_TEXT_OPERATORS |
					    SINK_TEXT_TORCH_MODULES;
	if (o->threshold < 0)
		view_values_need_samples(m, &t, TEXT_LEAST_SAMPLES);
	bool ok = view_gpu_values_spread(m, &t) && write_parts(m, &t, views, &style);
	view_values_close(&t);
	if (!ok)
		return STATUS_NO_MEMORY;
	return fflush(out) == 0 && !ferror(out) ? STATUS_OK : STATUS_IO;
}

static const struct sink_text_options defaults = {.threshold = -1};

static enum status write_text(const struct model *m, const struct sink_options *o)
{
	const struct sink_text_options *t = o->settings ? o->settings : &defaults;
	FILE *out = t->out ? t->out : stdout;
	enum status s = t->all ? sink_text_all(m, out) : write_report(m, t, out);
	if (s == STATUS_IO && !unread_is_output())
		log_error("text", "cannot be written: %s", strerror(errno));
	else if (s == STATUS_NO_MEMORY)
		log_error("text", "out of memory");
	return s;
}

const struct sink_ops sink_text = {
	.name = "text",
	.what = "report for people, on standard output",
	.options = text_options,
	.defaults = &defaults,
	.settings_bytes = sizeof defaults,
	.check = check,
	.write = write_text,
};
