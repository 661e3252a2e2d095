/* SPDX-License-Identifier: BSD-3-Clause */
/* Why GPUs were idle, in the report and in the complete form. Test: tests/cli/opencl/ocl_idle.sh,
 * tests/cli/sink/sink_gpu.sh. */
#include "common/base/foreign.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_gpu_idle.h"
#include "hpcprof-lite/view/view_values.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_DEVICES = 16, MOST_ROWS = 8 };

static const char *time_of(char cell[TEXT_CELL], uint64_t ns)
{
	return text_ns(cell, ns);
}

/* ---- devices ---- */

static void put_parts(const struct model_gpu_idle *i, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	for (unsigned p = 0; p < VIEW_GPU_PARTS; p++) {
		uint64_t ns = view_gpu_part_ns(i, p);
		if (!ns)
			continue;
		fprintf(s->out, "%7s %10s    %s", text_share(a, (double)ns, (double)i->watched_ns),
			time_of(b, ns), view_gpu_part_words(p));
		if (p == VIEW_GPU_KERNELS && i->overlap_ns)
			fprintf(s->out, ", %s of the copying beside them",
				text_share(a, (double)i->overlap_ns, (double)i->copy_ns));
		putc('\n', s->out);
	}
}

static void put_facts(const struct model_gpu_idle *i, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	if (i->n_latencies)
		fprintf(s->out, "%18s    launch to start: median %s, 95%% %s %s (%s)\n", "",
			time_of(a, i->latency_median_ns), text_is_narrow(s) ? "in" : "within",
			time_of(b, i->latency_95_ns), text_count(c, i->n_latencies));
	fprintf(s->out, "%18s    in flight: %.3g operations on average, %s at most\n", "",
		i->queue_mean, text_count(c, i->queue_most));
	if (i->waiting_ns)
		fprintf(s->out, "%18s    idle while all threads waited for it: %s\n", "",
			time_of(a, i->waiting_ns));
	if (i->unsampled_ns)
		fprintf(s->out, "%18s    idle while no thread had a sample: %s\n", "",
			time_of(a, i->unsampled_ns));
	if (i->off_ns)
		fprintf(s->out, "%18s    not counted, as measurement was off: %s\n", "",
			time_of(a, i->off_ns));
	if (i->n_untimed)
		fprintf(s->out, "%18s    without times, so not seen here: %s operations\n", "",
			text_count(a, i->n_untimed));
}

static void put_device(const struct model *m, uint32_t d, const struct text_style *s)
{
	const struct model_gpu_device *device = &m->gpu_devices[d];
	const struct model_gpu_idle *i = view_gpu_idle_of(m, d);
	char a[TEXT_CELL], b[TEXT_CELL], name[256];
	uint64_t idle_ns = view_gpu_idle_ns(i);
	snprintf(name, sizeof name, "%s %" PRIu32 ": %s", names_device_type(device),
		 device->ordinal, device->name);
	fprintf(s->out, "%7s %10s  idle: ", text_share(a, (double)idle_ns, (double)i->watched_ns),
		time_of(b, idle_ns));
	text_cell(s->out, name, text_columns(name) < 50 ? text_columns(name) : 50);
	putc('\n', s->out);
	put_parts(i, s);
	put_facts(i, s);
}

/* ---- causes ---- */

/* "heat.c:12 in load", or the function, or the kernel. */
static void name_row(const struct model *m, const struct view_idle_row *r, char *to, size_t n_bytes)
{
	char place[TEXT_FILE + 16] = "";
	const struct model_context *line = r->line != MODEL_NONE ? &m->contexts[r->line] : NULL;
	if (line)
		text_place(place, sizeof place, m, line);
	if (*place && line->function < m->n_functions)
		snprintf(to, n_bytes, "%s in %s", place, m->functions[line->function].name);
	else
		text_name(to, n_bytes, m, &m->contexts[r->function]);
}

static void put_rows(const struct model *m, const struct view_idle_rows *r, double whole,
		     const struct text_style *s)
{
	size_t room = s->width > 36 ? s->width - 20 : 16, n_hidden = 0;
	char a[TEXT_CELL], b[TEXT_CELL], name[TEXT_NAME];
	double hidden = 0;
	for (size_t i = 0; i < r->n; i++) {
		if (i >= MOST_ROWS || r->at[i].seconds < s->threshold * whole) {
			n_hidden++;
			hidden += r->at[i].seconds;
			continue;
		}
		name_row(m, &r->at[i], name, sizeof name);
		text_shorten(name, room);
		size_t columns = text_columns(name);
		fprintf(s->out, "%7s %10s  ", text_share(a, r->at[i].seconds, whole),
			text_seconds(b, r->at[i].seconds));
		text_cell(s->out, name, columns < room ? columns : room);
		putc('\n', s->out);
	}
	if (n_hidden)
		fprintf(s->out, "%7s %10s  %zu more\n", text_share(a, hidden, whole),
			text_seconds(b, hidden), n_hidden);
}

static void put_rest(const struct text_style *s, uint64_t ns, double whole, const char *words)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	if (ns)
		fprintf(s->out, "%7s %10s  (%s)\n", text_share(a, (double)ns / 1e9, whole),
			time_of(b, ns), words);
}

/* True if the report is of some threads or functions, so that it is not known what is missing. */
static bool is_of_some(const struct model *m)
{
	return m->part && !m->gpu_waits.all_ns;
}

static bool has_samples(const struct model *m)
{
	uint32_t i = 0;
	while (i < m->n_metrics && m->metrics[i].kind != MODEL_METRIC_SAMPLED)
		i++;
	return i < m->n_metrics;
}

static bool put_causes(const struct model *m, uint64_t idle_ns, const struct text_style *s)
{
	struct view_idle_rows rows;
	uint64_t waiting_ns = 0, unsampled_ns = 0;
	double whole = (double)idle_ns / 1e9;
	if (!view_idle_rows_make(m, MODEL_ROLE_GPU_IDLE_CAUSE, &rows))
		return false;
	for (uint32_t d = 0; d < m->n_gpu_devices; d++) {
		const struct model_gpu_idle *i = view_gpu_idle_of(m, d);
		waiting_ns += i ? i->waiting_ns : 0;
		unsampled_ns += i ? i->unsampled_ns : 0;
	}
	fputs("\n  While GPUs were idle, CPU threads did:\n", s->out);
	put_rows(m, &rows, whole, s);
	if (!is_of_some(m)) {
		put_rest(s, waiting_ns, whole, "all waited for the GPU");
		put_rest(s, unsampled_ns, whole,
			 has_samples(m) ? "no sample; -e OFFCPU or REALTIME shows blocked threads"
					: "no sample; -e CPUTIME takes them");
	}
	view_idle_rows_free(&rows);
	return true;
}

static bool put_waits(const struct model *m, const struct text_style *s)
{
	const struct model_gpu_waits *w = &m->gpu_waits;
	struct view_idle_rows rows;
	double whole = is_of_some(m) ? view_total(m, view_find_metric(m, MODEL_ROLE_SYNC_TIME))
				     : (double)w->all_ns / 1e9;
	if (whole <= 0)
		return true;
	if (!view_idle_rows_make(m, MODEL_ROLE_CPU_IDLE_CAUSE, &rows))
		return false;
	fputs("\n  While CPU threads waited for GPUs, GPUs did:\n", s->out);
	put_rows(m, &rows, whole, s);
	put_rest(s, w->idle_ns, whole, "nothing");
	put_rest(s, w->unknown_ns, whole, "which GPU they waited for is not known");
	view_idle_rows_free(&rows);
	return true;
}

bool text_report_gpu_idle(const struct model *m, const struct text_style *s)
{
	uint32_t n = 0, n_known = 0;
	uint64_t idle_ns = 0;
	for (uint32_t d = 0; d < m->n_gpu_devices; d++)
		if (view_gpu_idle_of(m, d)) {
			idle_ns += view_gpu_idle_ns(view_gpu_idle_of(m, d));
			n_known++;
		}
	if (!n_known)
		return true;
	text_heading(s, "Why GPUs were idle, as a share of the time of their processes");
	for (uint32_t d = 0; d < m->n_gpu_devices; d++)
		if (view_gpu_idle_of(m, d) && n++ < MOST_DEVICES)
			put_device(m, d, s);
	if (n > MOST_DEVICES)
		fprintf(s->out, "%18s  %" PRIu32 " more\n", "", n - MOST_DEVICES);
	if ((idle_ns && !put_causes(m, idle_ns, s)) || !put_waits(m, s))
		return false;
	putc('\n', s->out);
	return true;
}
