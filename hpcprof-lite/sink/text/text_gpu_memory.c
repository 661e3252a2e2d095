/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of GPUs in the report: peak and end by device, and the calls that held the most. Test:
 * tests/gpu/ways.sh.
 */
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_ROWS = 12, MOST_PLACES = 8, CALLERS = 3, BEFORE = 20 };

static const char *bytes(char cell[TEXT_CELL], uint64_t n)
{
	return n ? text_value(cell, MODEL_BYTES, (double)n) : "";
}

/* ---- devices ---- */

static void put_name(const struct model *m, const struct model_gpu_memory *x,
		     const struct text_style *s)
{
	const struct model_process *p = &m->processes[x->process];
	const char *kind = x->memory == MSR_GPU_MEMORY_HOST      ? "pinned memory of the host"
			   : x->memory == MSR_GPU_MEMORY_MANAGED ? "managed"
								 : "";
	char device[32] = "", name[320], process[64] = "";
	if (p->rank >= 0)
		snprintf(process, sizeof process, "rank %" PRId32, p->rank);
	else if (m->n_processes > 1)
		snprintf(process, sizeof process, "pid %" PRIu32, p->pid);
	if (x->device != MODEL_NONE)
		snprintf(device, sizeof device, "GPU %" PRIu32 "%s",
			 m->gpu_devices[x->device].ordinal, *kind || *process ? " " : "");
	snprintf(name, sizeof name, "%s%s%s%s", device, kind, *kind && *process ? ", " : "",
		 process);
	text_cell(s->out, name, 0);
}

static void put_row(const struct model *m, const struct model_gpu_memory *x,
		    const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL];
	const uint64_t start_ns = m->processes[x->process].start_ns;
	fprintf(s->out, "%10s %9s %11s %10s %8s  ", bytes(a, x->peak),
		x->peak_ns > start_ns ? text_ns(b, x->peak_ns - start_ns) : "", bytes(c, x->end),
		bytes(d, x->bytes), text_count(e, x->n_allocations));
	put_name(m, x, s);
	putc('\n', s->out);
	if (x->n_refused)
		fprintf(s->out, "%10s failed: %s allocations, the largest of %s\n", "",
			text_count(a, x->n_refused),
			x->refused_most ? bytes(b, x->refused_most) : "unknown size");
}

static int by_peak(const void *pa, const void *pb)
{
	const struct model_gpu_memory *a = *(const struct model_gpu_memory *const *)pa,
				      *b = *(const struct model_gpu_memory *const *)pb;
	if (a->peak != b->peak)
		return a->peak < b->peak ? 1 : -1;
	return (a > b) - (a < b);
}

static bool put_rows(const struct model *m, const struct text_style *s)
{
	const struct model_gpu_memory **order = malloc((size_t)m->n_gpu_memory * sizeof *order);
	if (!order)
		return false;
	for (uint32_t i = 0; i < m->n_gpu_memory; i++)
		order[i] = &m->gpu_memory[i];
	qsort(order, m->n_gpu_memory, sizeof *order, by_peak);
	fprintf(s->out, "%10s %9s %11s %10s %8s  %s\n", "peak", "after", "never freed", "allocated",
		"calls", "memory of");
	for (uint32_t i = 0; i < m->n_gpu_memory && i < MOST_ROWS; i++)
		put_row(m, order[i], s);
	if (m->n_gpu_memory > MOST_ROWS)
		fprintf(s->out, "%10s %" PRIu32 " more: --all\n", "", m->n_gpu_memory - MOST_ROWS);
	free(order);
	return true;
}

/* ---- places ---- */

static int by_value(const void *pa, const void *pb)
{
	const struct model_total *a = *(const struct model_total *const *)pa,
				 *b = *(const struct model_total *const *)pb;
	if (a->sum[MODEL_POINT] != b->sum[MODEL_POINT])
		return a->sum[MODEL_POINT] < b->sum[MODEL_POINT] ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

static bool put_places(const struct model *m, enum model_metric_role role, const char *heading,
		       const struct text_style *s)
{
	const uint32_t metric = view_find_metric(m, role);
	const double whole = metric == MODEL_NONE ? 0 : view_total(m, metric);
	const struct model_total **order = malloc((m->n_totals + 1) * sizeof *order);
	size_t n = 0;
	char a[TEXT_CELL], b[TEXT_CELL], call[3 * TEXT_NAME];
	if (!order)
		return false;
	for (size_t i = 0; whole > 0 && i < m->n_totals; i++)
		if (m->totals[i].metric == metric && m->totals[i].sum[MODEL_POINT] > 0)
			order[n++] = &m->totals[i];
	if (n) {
		qsort(order, n, sizeof *order, by_value);
		fprintf(s->out, "%10s %7s  %s\n", heading, "share", "call");
	}
	for (size_t i = 0; i < n && i < MOST_PLACES; i++) {
		const double value = order[i]->sum[MODEL_POINT];
		if (value <= s->threshold * whole)
			break;
		fprintf(s->out, "%10s %7s  ", text_value(a, MODEL_BYTES, value),
			text_share(b, value, whole));
		text_gpu_call(m, order[i]->context, CALLERS, call, sizeof call);
		text_wrap(s->out, call, s->width > 2 * BEFORE ? s->width - BEFORE : BEFORE, BEFORE);
	}
	free(order);
	return true;
}

bool text_report_gpu_memory(const struct model *m, const struct text_style *s)
{
	if (!m->n_gpu_memory && view_find_metric(m, MODEL_ROLE_GPU_LIVE_PEAK) == MODEL_NONE)
		return true;
	text_heading(s, "GPU memory, as the program allocated and freed it");
	if (m->n_gpu_memory && !put_rows(m, s))
		return false;
	if (!put_places(m, MODEL_ROLE_GPU_LIVE_PEAK, "at peak", s) ||
	    !put_places(m, MODEL_ROLE_GPU_LIVE_END, "not freed", s))
		return false;
	putc('\n', s->out);
	return true;
}
