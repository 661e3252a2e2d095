/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hardware counters say about each kernel, in the report. Tests:
 * tests/unit/prof_gpu/test_counters.c, tests/cli/gpu/counters.sh.
 */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/counters/view_counters.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ROWS = 20 };

/* A rate in units of 1000: "4.12 T"; "" if it is 0. */
static const char *rate(char cell[TEXT_CELL], double v, double seconds)
{
	static const char *const units[] = {"", " k", " M", " G", " T", " P"};
	unsigned i = 0;
	cell[0] = 0;
	if (v <= 0 || seconds <= 0)
		return cell;
	for (v /= seconds; v >= 999.5 && i < 5; i++)
		v /= 1000;
	snprintf(cell, TEXT_CELL,
		 v >= 99.95   ? "%.0f%s"
		 : v >= 9.995 ? "%.1f%s"
			      : "%.2f%s",
		 v, units[i]);
	return cell;
}

static const char *ratio(char cell[TEXT_CELL], double a, double b)
{
	cell[0] = 0;
	if (a > 0 && b > 0)
		snprintf(cell, TEXT_CELL, a / b >= 99.95 ? "%.0f" : "%.2f", a / b);
	return cell;
}

/* "83% memory", "7% tensor BF16": how near the kernel is to its roof, and to which. */
static const char *roof(char *to, size_t n_bytes, const struct view_counters *c,
			const struct view_counters_row *r)
{
	struct view_bounds b = view_counters_bounds(c, r);
	to[0] = 0;
	if (b.seconds > 0 && r->seconds > 0)
		snprintf(to, n_bytes, "%.0f%% %s", 100 * b.seconds / r->seconds,
			 b.by == VIEW_BOUND_MEMORY ? "memory" : view_work_name(b.work));
	return to;
}

struct widths {
	int time, memory, rate;
};

static struct widths widths_of(const struct text_style *s)
{
	return text_is_narrow(s) ? (struct widths){8, 9, 6} : (struct widths){9, 10, 7};
}

static void put_row(const struct model *m, const struct view_counters *c,
		    const struct view_counters_row *r, const struct text_style *s)
{
	char cell[TEXT_CELL], more[TEXT_CELL], name[TEXT_NAME];
	double bytes = r->bytes_read + r->bytes_written;
	const struct widths w = widths_of(s);
	size_t taken = (size_t)w.time;
	fprintf(s->out, "%*s", w.time, text_seconds(cell, r->seconds));
	if (c->has_bytes) {
		fprintf(s->out, " %*s %*s", w.memory, text_value(cell, MODEL_BYTES, bytes), w.rate,
			rate(more, bytes, r->seconds));
		taken += (size_t)(w.memory + w.rate) + 2;
	}
	if (c->has_hits) {
		fprintf(s->out, " %6s", text_share(cell, r->hits, r->hits + r->misses));
		taken += 7;
	}
	if (c->has_work || c->has_tensor) {
		fprintf(s->out, " %*s", w.rate, rate(cell, r->operations, r->seconds));
		taken += (size_t)w.rate + 1;
	}
	if (c->has_bytes && (c->has_work || c->has_tensor)) {
		fprintf(s->out, " %7s", ratio(cell, r->operations, bytes));
		taken += 8;
	}
	fprintf(s->out, "  %-15s ", roof(cell, sizeof cell, c, r));
	taken += 18;
	text_function_name(name, sizeof name, m, r->function);
	size_t room = s->width > taken + 12 ? s->width - taken : 12;
	text_shorten(name, room);
	text_cell(s->out, name, text_columns(name) < room ? text_columns(name) : room);
	putc('\n', s->out);
}

static void put_head(const struct view_counters *c, const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	text_heading(s, "GPU counters: %s of %s kernels, one at a time",
		     text_value(a, MODEL_COUNT, c->counted),
		     text_value(b, MODEL_COUNT, c->launches));
	const struct widths w = widths_of(s);
	fprintf(s->out, "%*s", w.time, "time");
	if (c->has_bytes)
		fprintf(s->out, " %*s %*s", w.memory, "memory", w.rate, "B/s");
	if (c->has_hits)
		fprintf(s->out, " %6s", "L2 hit");
	if (c->has_work || c->has_tensor)
		fprintf(s->out, " %*s", w.rate, "op/s");
	if (c->has_bytes && (c->has_work || c->has_tensor))
		fprintf(s->out, " %7s", "op/B");
	fprintf(s->out, "  %-15s kernel\n", "of its roof");
}

static void put_roofs(const struct view_counters *c, const struct text_style *s)
{
	const struct view_roofs *r = &c->roofs;
	char cell[TEXT_CELL];
	if (c->has_bytes && r->bytes > 0)
		fprintf(s->out,
			"  roof of memory: %sB/s, %" PRIu32 " MHz twice, %" PRIu32 " bits\n",
			rate(cell, r->bytes, 1), r->memory_mhz, r->memory_bits);
	for (unsigned w = 0; w < VIEW_N_WORKS; w++) {
		double done = 0;
		for (size_t i = 0; i < c->n; i++)
			done += c->at[i].work[w];
		if (done > 0 && r->operations[w] > 0)
			fprintf(s->out, "  roof of %s: %sop/s, at %" PRIu32 " MHz\n",
				view_work_name((enum view_work)w), rate(cell, r->operations[w], 1),
				r->clock_mhz);
		else if (done > 0)
			fprintf(s->out, "  roof of %s: unknown for this GPU\n",
				view_work_name((enum view_work)w));
	}
}

static void put_table(const struct model *m, const struct view_counters *c,
		      const struct text_style *s)
{
	size_t n_hidden = 0;
	double whole = 0;
	for (size_t i = 0; i < c->n; i++)
		whole += c->at[i].seconds;
	put_head(c, s);
	for (size_t i = 0; i < c->n; i++) {
		if (i >= MOST_ROWS || (i >= 10 && c->at[i].seconds < s->threshold * whole))
			n_hidden++;
		else
			put_row(m, c, &c->at[i], s);
	}
	if (n_hidden)
		fprintf(s->out, "%9s  %zu more\n", "", n_hidden);
	put_roofs(c, s);
	putc('\n', s->out);
}

bool text_report_counters(const struct model *m, const struct text_style *s)
{
	struct view_counters c;
	if (!view_counters_make(m, &c))
		return false;
	/* other counters are only in the metrics */
	if (c.n && (c.has_bytes || c.has_hits || c.has_work || c.has_tensor))
		put_table(m, &c, s);
	view_counters_free(&c);
	return true;
}
