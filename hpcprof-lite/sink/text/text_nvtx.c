/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of NVTX ranges. Test: tests/cli/nvtx/nvtx_ranges.sh. */
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20, MARK = 3 };

static const char *seconds(char cell[TEXT_CELL], uint64_t ns, bool is_known)
{
	return is_known ? text_ns(cell, ns) : "-";
}

static void put_name(const struct model_nvtx_range *r, const struct text_style *s)
{
	enum { TAKEN = 63, LEAST = 16 };
	char name[TEXT_NAME];
	const size_t room = s->width > TAKEN + LEAST ? s->width - TAKEN : LEAST;
	snprintf(name, sizeof name, "%s", r->label);
	text_shorten(name, room);
	text_cell(s->out, name, text_columns(name) > room ? room : 0);
}

static void put_row(const struct model_nvtx *x, const struct model_nvtx_range *r,
		    const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL], f[TEXT_CELL];
	const bool is_range = r->kind != MARK && r->n, is_pushed = model_nvtx_is_pushed(r);
	fprintf(s->out, "%7s %8s", text_value(a, MODEL_COUNT, (double)(r->n + r->n_open)),
		seconds(b, r->ns, is_range));
	fprintf(s->out, " %8s %8s %8s", seconds(c, r->n ? r->ns / r->n : 0, is_range),
		seconds(d, r->least_ns, is_range), seconds(e, r->most_ns, is_range));
	fprintf(s->out, " %8s", seconds(f, r->cpu_ns, is_pushed && x->has_cpu));
	fprintf(s->out, " %8s  ", seconds(a, r->gpu_ns, is_pushed && x->has_gpu));
	put_name(r, s);
	putc('\n', s->out);
	if (r->n_open && r->n_open < UINT64_MAX)
		fprintf(s->out, "%60s%s not ended\n", "", text_count(a, r->n_open));
	if (r->has_gpu_others && r->gpu_others_ns)
		fprintf(s->out, "%53s%8s  %s\n", "", seconds(b, r->gpu_others_ns, true),
			text_is_narrow(s) ? "by other threads"
					  : "launched by threads in no range");
}

bool text_report_nvtx(const struct model *m, const struct text_style *s)
{
	const struct model_nvtx *x = m->nvtx;
	char a[TEXT_CELL];
	if (!x || !x->has_sums)
		return true;
	text_heading(s, "Ranges of NVTX by time");
	fprintf(s->out, "%7s %8s %8s %8s %8s %8s %8s  %s\n", "count", "time", "mean", "min", "max",
		"CPU", "GPU", "range");
	uint32_t n = s->threshold > 0 && x->n_ranges > MOST_ROWS ? MOST_ROWS : x->n_ranges;
	for (uint32_t i = 0; i < n; i++)
		put_row(x, &x->ranges[i], s);
	if (n < x->n_ranges)
		fprintf(s->out, "%7s%s more\n", "", text_count(a, x->n_ranges - n));
	if (x->n_lost)
		fprintf(s->out, "  %s ranges or marks could not be recorded\n",
			text_count(a, x->n_lost));
	putc('\n', s->out);
	return true;
}
