/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory in the report: the account of each process, the lines that held the most at the peak and
 * at the end, and classes of sizes and life times. Test: tests/cli/memory/memory_truth.sh.
 */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_memory.h"
#include "hpcprof-lite/view/view_values.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_PROCESSES = 8, MOST_LINES = 10 };

static const char *bytes(char cell[TEXT_CELL], double value)
{
	return text_value(cell, MODEL_BYTES, value);
}

static const char *error(char cell[TEXT_CELL], double value)
{
	char number[TEXT_CELL];
	snprintf(cell, TEXT_CELL, value > 0 ? "+-%.20s" : "exact", bytes(number, value));
	return cell;
}

/* ---- processes ---- */

static int by_peak(const void *pa, const void *pb)
{
	const struct model_memory *a = *(const struct model_memory *const *)pa,
				  *b = *(const struct model_memory *const *)pb;
	if (a->peak.value != b->peak.value)
		return a->peak.value < b->peak.value ? 1 : -1;
	return (a->process > b->process) - (a->process < b->process);
}

static void put_process(const struct model *m, const struct model_memory *x,
			const struct text_style *s)
{
	const struct model_process *p = &m->processes[x->process];
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL],
		g[TEXT_CELL], h[TEXT_CELL], name[256];
	fprintf(s->out, "%10s %11s %9s %10s %11s %10s %8s %9s  ", bytes(a, x->peak.value),
		error(b, x->peak.error), text_ns(c, x->peak_ns - p->start_ns),
		bytes(d, x->end.value), error(e, x->end.error), bytes(f, x->bytes.value),
		text_value(g, MODEL_COUNT, x->calls.value),
		text_share(h, x->temporary.value, x->calls.value));
	if (p->rank >= 0)
		snprintf(name, sizeof name, "rank %" PRId32, p->rank);
	else
		snprintf(name, sizeof name, "%.200s pid %" PRIu32, text_base(p->executable),
			 p->pid);
	text_cell(s->out, name, 0);
	putc('\n', s->out);
}

static bool put_processes(const struct model *m, const struct text_style *s)
{
	const struct model_memory **order = calloc((size_t)m->n_memory + 1, sizeof *order);
	uint64_t n_lost = 0, n_unfollowed = 0;
	if (!order)
		return false;
	for (uint32_t i = 0; i < m->n_memory; i++) {
		order[i] = &m->memory[i];
		n_lost += m->memory[i].n_lost;
		n_unfollowed += m->memory[i].n_unfollowed;
	}
	qsort(order, m->n_memory, sizeof *order, by_peak);
	fprintf(s->out, "%10s %11s %9s %10s %11s %10s %8s %9s  %s\n", "peak", "95%", "after",
		"never freed", "95%", "allocated", "calls", "temporary", "process");
	uint32_t n_shown = 0;
	while (n_shown < m->n_memory && n_shown < MOST_PROCESSES &&
	       order[n_shown]->peak.value >= s->threshold * order[0]->peak.value)
		put_process(m, order[n_shown++], s);
	if (m->n_memory > n_shown)
		fprintf(s->out, "%85s%" PRIu32 " more\n", "", m->n_memory - n_shown);
	if (n_lost)
		fprintf(s->out, "  %" PRIu64 " sampled allocations have no record\n", n_lost);
	if (n_unfollowed)
		fprintf(s->out,
			"  %" PRIu64 " samples are in no live bytes: their table was full\n",
			n_unfollowed);
	free(order);
	return true;
}

/* ---- lines ---- */

static const char *bytes_or_nothing(char cell[TEXT_CELL], double value)
{
	return value > 0 ? bytes(cell, value) : "";
}

static void put_place(const struct model *m, const struct view_memory_place *p, double whole,
		      const struct text_style *s)
{
	const struct model_context *c = &m->contexts[p->context];
	char a[TEXT_CELL], b[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], place[TEXT_FILE],
		name[TEXT_NAME];
	const size_t room = s->width > 90 ? s->width - 73 : 17;
	text_place(place, sizeof place, m, c);
	text_function_name(name, sizeof name, m, c->function);
	text_shorten(name, room);
	fprintf(s->out, "%10s %7s %11s %10s  ", bytes_or_nothing(a, p->peak),
		text_share(b, p->peak, whole), bytes_or_nothing(d, p->end), bytes(e, p->allocated));
	text_cell(s->out, place, 28);
	fputs("  ", s->out);
	text_cell(s->out, name, text_columns(name) < room ? text_columns(name) : room);
	putc('\n', s->out);
}

/* Shown if it is much at the peak, at the end, or altogether. */
static bool put_places(const struct model *m, const struct text_style *s)
{
	struct view_memory v;
	size_t n_shown = 0;
	if (!view_memory_make(m, &v))
		return false;
	fprintf(s->out, "\n%10s %7s %11s %10s  %-28s  %s\n", "at peak", "share", "never freed",
		"allocated", "line", "function");
	for (size_t i = 0; i < v.places.n; i++) {
		const struct view_memory_place *p = &v.places.at[i];
		const bool is_much = p->peak > s->threshold * v.peak ||
				     p->end > s->threshold * v.end ||
				     p->allocated > s->threshold * v.allocated;
		if (n_shown == MOST_LINES || !is_much)
			continue;
		put_place(m, p, v.peak, s);
		n_shown++;
	}
	if (v.places.n > n_shown)
		fprintf(s->out, "%41s  %zu more\n", "", v.places.n - n_shown);
	view_memory_free(&v);
	return true;
}

/* ---- classes ---- */

static void put_class(const struct model_memory_class *c, const char *limit,
		      const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL];
	if (c->n_samples)
		fprintf(s->out, "%10s %8s %10s %10s %11s %9s\n", limit,
			text_value(a, MODEL_COUNT, c->calls), bytes(b, c->bytes),
			c->peak_bytes > 0 ? bytes(d, c->peak_bytes) : "",
			c->end_bytes > 0 ? bytes(e, c->end_bytes) : "",
			text_share(f, c->temporary_calls, c->calls));
}

static void put_classes(const struct model *m, unsigned first, unsigned n, const char *heading,
			const struct text_style *s)
{
	fprintf(s->out, "\n%10s %8s %10s %10s %11s %9s\n", heading, "calls", "allocated", "at peak",
		"never freed", "temporary");
	for (unsigned k = first; k < first + n; k++) {
		struct model_memory_class sum = {.limit = m->memory[0].classes[k].limit};
		char limit[TEXT_CELL];
		for (uint32_t i = 0; i < m->n_memory; i++) {
			const struct model_memory_class *c = &m->memory[i].classes[k];
			sum.n_samples += c->n_samples;
			sum.calls += c->calls;
			sum.bytes += c->bytes;
			sum.peak_bytes += c->peak_bytes;
			sum.end_bytes += c->end_bytes;
			sum.temporary_calls += c->temporary_calls;
		}
		const char *words = sum.limit == UINT64_MAX && first ? "not freed"
				    : sum.limit >= UINT64_MAX - 1    ? "more"
				    : first                          ? text_ns(limit, sum.limit)
					    : bytes(limit, (double)sum.limit);
		put_class(&sum, words, s);
	}
}

bool text_report_memory(const struct model *m, const struct text_style *s)
{
	char a[TEXT_CELL];
	if (view_find_metric(m, MODEL_ROLE_LIVE_PEAK) == MODEL_NONE)
		return true;
	if (!m->n_memory)
		text_heading(s, "Memory of this part");
	else if (m->memory[0].period > 1)
		text_heading(s, "Memory, from a sample of the allocations each %s",
			     bytes(a, (double)m->memory[0].period));
	else
		text_heading(s, "Memory, from all allocations");
	if (m->n_memory && !put_processes(m, s))
		return false;
	if (!put_places(m, s))
		return false;
	if (m->n_memory) {
		put_classes(m, 0, MODEL_MEMORY_SIZES_N, "size up to", s);
		put_classes(m, MODEL_MEMORY_SIZES_N, MODEL_MEMORY_LIVES_N, "life up to", s);
	}
	putc('\n', s->out);
	return true;
}
