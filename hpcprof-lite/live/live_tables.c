/* SPDX-License-Identifier: BSD-3-Clause */
/* See live_tables.h. */
#include "hpcprof-lite/live/live_tables.h"

#include "common/base/foreign.h"
#include "common/base/vec.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_style.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t live_metric(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_SAMPLED)
			return i;
	return MODEL_NONE;
}

/* Functions of one model, by falling own value. */
struct functions {
	const struct model *m;
	struct view_values values;
	struct view_rows rows;
	bool is_open;
};

static bool open_functions(const struct model *m, struct functions *f)
{
	*f = (struct functions){.m = m};
	const uint32_t metric = m ? live_metric(m) : MODEL_NONE;
	if (metric == MODEL_NONE)
		return true;
	if (!view_values_open(m, metric, &f->values))
		return false;
	f->is_open = view_rows_make(m, &f->values, VIEW_BY_FUNCTION, &f->rows);
	if (!f->is_open)
		view_values_close(&f->values);
	return f->is_open;
}

static void close_functions(struct functions *f)
{
	if (!f->is_open)
		return;
	view_rows_free(&f->rows);
	view_values_close(&f->values);
}

static uint32_t function_of(const struct functions *f, size_t row)
{
	return f->m->contexts[f->rows.at[row].context].function;
}

static bool is_same(const struct model *a, uint32_t x, const struct model *b, uint32_t y)
{
	return !strcmp(names_function(a, x), names_function(b, y)) &&
	       !strcmp(text_module_path(a, a->functions[x].module),
		       text_module_path(b, b->functions[y].module));
}

/* The row of the function in another model; NULL: it has none. */
static const struct view_row *find_row(const struct functions *in, const struct model *m,
				       uint32_t function)
{
	for (size_t i = 0; in->is_open && i < in->rows.n; i++)
		if (is_same(in->m, function_of(in, i), m, function))
			return &in->rows.at[i];
	return NULL;
}

static void put_shares(const struct view_row *r, double whole, FILE *out)
{
	char a[TEXT_CELL], b[TEXT_CELL];
	fprintf(out, "%7s %7s  ", r ? text_share(a, r->self, whole) : "",
		r ? text_share(b, r->total, whole) : "");
}

/* Rows of `by`, which is one of the two. */
static void put_functions(const struct live_screen *s, const struct functions *by,
			  const struct functions *last, const struct functions *whole, size_t n,
			  FILE *out)
{
	char name[TEXT_NAME];
	const size_t numbers = s->last ? 34 : 17;
	putc('\n', out);
	if (s->last)
		fprintf(out, "%7s %7s  ", "last", "total");
	foreign_printf(out, "%7s %7s  functions by their own %s\n", "whole", "total",
		       by->m->metrics[by->values.metric].name);
	for (size_t i = 0; i < by->rows.n && i < n && by->rows.at[i].self > 0; i++) {
		const uint32_t function = function_of(by, i);
		if (s->last)
			put_shares(find_row(last, by->m, function), last->values.whole, out);
		put_shares(find_row(whole, by->m, function), whole->values.whole, out);
		text_function_name(name, sizeof name, by->m, function);
		text_shorten(name, s->width > numbers + 16 ? s->width - numbers : 16);
		foreign_printf(out, "%s\n", name);
	}
}

bool live_tables_functions(const struct live_screen *s, size_t n, FILE *out)
{
	struct functions last, whole;
	if (!open_functions(s->last, &last))
		return false;
	if (!open_functions(s->whole, &whole)) {
		close_functions(&last);
		return false;
	}
	const struct functions *by = last.is_open && last.values.whole > 0 ? &last : &whole;
	if (by->is_open && by->values.whole > 0)
		put_functions(s, by, &last, &whole, n, out);
	close_functions(&last);
	close_functions(&whole);
	return true;
}

bool live_tables_line(const struct model *m, FILE *out)
{
	struct functions f;
	char name[TEXT_NAME], a[TEXT_CELL];
	if (!open_functions(m, &f))
		return false;
	for (size_t i = 0; f.is_open && i < f.rows.n && i < 2 && f.rows.at[i].self > 0; i++) {
		text_function_name(name, sizeof name, m, function_of(&f, i));
		text_shorten(name, 40);
		foreign_printf(out, "%s%s %s", i ? ", " : "; ",
			       text_share(a, f.rows.at[i].self, f.values.whole), name);
	}
	close_functions(&f);
	return true;
}

/* ---- GPUs ---- */

static const struct view_gpu_kernel *find_kernel(const struct view_gpu *in, const struct model *of,
						 const struct model *m, uint32_t function)
{
	for (size_t i = 0; of && i < in->kernels.n; i++)
		if (is_same(of, in->kernels.at[i].function, m, function))
			return &in->kernels.at[i];
	return NULL;
}

static double busy(const struct model *m, const struct view_gpu *g, uint32_t device)
{
	return m->elapsed_ns ? (double)g->device_busy_ns[device] / (double)m->elapsed_ns : 0;
}

/* The device in another model; MODEL_NONE: it has none. */
static uint32_t find_device(const struct model *in, const struct model *m, uint32_t device)
{
	const struct model_gpu_device *d = &m->gpu_devices[device];
	for (uint32_t i = 0; in && i < in->n_gpu_devices; i++)
		if (in->gpu_devices[i].ordinal == d->ordinal && d->definition &&
		    in->gpu_devices[i].definition &&
		    !memcmp(in->gpu_devices[i].definition->uuid, d->definition->uuid,
			    sizeof d->definition->uuid))
			return i;
	return MODEL_NONE;
}

static void put_kernels(const struct live_screen *s, const struct view_gpu *last,
			const struct view_gpu *whole, size_t n, FILE *out)
{
	char name[TEXT_NAME], a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL];
	const struct model *m = s->whole;
	const bool has_last = s->last && last->kernels.n;
	const struct view_gpu *by = has_last ? last : whole;
	fprintf(out, "\n%9s %9s  GPUs: busy, and time of kernels\n", s->last ? "last" : "",
		"whole");
	for (uint32_t i = 0; i < m->n_gpu_devices && i < n; i++) {
		const uint32_t other = find_device(s->last, m, i);
		foreign_printf(
			out, "%9s %9s  %s %u: %s\n",
			other == MODEL_NONE ? "" : text_share(a, busy(s->last, last, other), 1),
			text_share(b, busy(m, whole, i), 1), names_device_type(&m->gpu_devices[i]),
			m->gpu_devices[i].ordinal, m->gpu_devices[i].name);
	}
	for (size_t i = 0; i < by->kernels.n && i < n; i++) {
		const struct model *of = has_last ? s->last : m;
		const uint32_t function = by->kernels.at[i].function;
		const struct view_gpu_kernel *x = find_kernel(last, s->last, of, function),
					     *y = find_kernel(whole, m, of, function);
		text_function_name(name, sizeof name, of, function);
		text_shorten(name, s->width > 46 ? s->width - 30 : 16);
		foreign_printf(out, "%9s %9s  %s (%s)\n", x ? text_seconds(a, x->seconds) : "",
			       y ? text_seconds(b, y->seconds) : "", name,
			       text_count(c, (uint64_t)by->kernels.at[i].n));
	}
}

bool live_tables_kernels(const struct live_screen *s, size_t n, FILE *out)
{
	struct view_gpu last = {0}, whole;
	const bool has_last = s->last && s->last->has_gpu;
	if (!s->whole->has_gpu)
		return true;
	if (has_last && !view_gpu_open(s->last, &last))
		return false;
	const bool ok = view_gpu_open(s->whole, &whole);
	if (ok) {
		put_kernels(s, &last, &whole, n, out);
		view_gpu_close(&whole);
	}
	if (has_last)
		view_gpu_close(&last);
	return ok;
}

/* ---- call paths ---- */

/* The function or entry around a context. */
static uint32_t function_around(const struct model *m, uint32_t c)
{
	while (m->contexts[c].kind != MODEL_CONTEXT_FUNCTION &&
	       m->contexts[c].kind != MODEL_CONTEXT_ENTRY && m->contexts[c].parent != MODEL_NONE)
		c = m->contexts[c].parent;
	return c;
}

/* The function or entry that called; MODEL_NONE: none. */
static uint32_t caller_of(const struct model *m, uint32_t function)
{
	const uint32_t parent = m->contexts[function].parent;
	return parent == MODEL_NONE || m->contexts[parent].parent == MODEL_NONE
		       ? MODEL_NONE
		       : function_around(m, parent);
}

/* A function of a path. Direct recursion is one. */
struct step {
	uint32_t context, times;
};

static void name_step(const struct model *m, const struct step *s, size_t columns, char *name)
{
	text_name(name, TEXT_NAME, m, &m->contexts[s->context]);
	text_shorten(name, columns);
	if (s->times > 1)
		snprintf(name + strlen(name), TEXT_NAME - strlen(name), " x %" PRIu32, s->times);
}

typedef VEC(struct step) steps;

/* The path from the inside. False: memory is short. */
static bool list_steps(const struct model *m, uint32_t context, steps *path)
{
	for (uint32_t c = context; c != MODEL_NONE; c = caller_of(m, c)) {
		struct step *last = path->n ? &path->at[path->n - 1] : NULL;
		const uint32_t function = m->contexts[c].function;
		if (last && function != MODEL_NONE &&
		    m->contexts[last->context].function == function) {
			last->times++;
			continue;
		}
		if (!(last = vec_push(path)))
			return false;
		*last = (struct step){c, 1};
	}
	return true;
}

/* The path from the outside, without what does not fit there. False: memory is short. */
static bool put_path(const struct model *m, uint32_t context, size_t columns, FILE *out)
{
	steps path = {0};
	char name[TEXT_NAME];
	size_t n = 0, used = 5; /* ".. > " */
	const bool ok = list_steps(m, context, &path);
	for (; n < path.n; n++) {
		name_step(m, &path.at[n], columns / 2, name);
		used += text_columns(name) + (n ? 3 : 0);
		if (n && used > columns)
			break;
	}
	for (size_t i = n; ok && i-- > 0;) {
		name_step(m, &path.at[i], columns / 2, name);
		foreign_printf(out, "%s%s", i + 1 < n ? " > " : n < path.n ? ".. > " : "", name);
	}
	vec_free(&path);
	return ok;
}

static bool put_paths(const struct live_screen *s, const struct model *m,
		      const struct view_values *v, size_t n, FILE *out)
{
	double *own = calloc(m->n_contexts, sizeof *own);
	char a[TEXT_CELL];
	bool ok = own;
	for (uint32_t c = 0; ok && c < m->n_contexts; c++)
		own[function_around(m, c)] += v->self[c];
	for (size_t i = 0; ok && i < n; i++) {
		uint32_t most = 0;
		for (uint32_t c = 1; c < m->n_contexts; c++)
			if (own[c] > own[most])
				most = c;
		if (own[most] <= 0 || most == 0)
			break;
		if (i == 0)
			fprintf(out, "\n%7s  hottest call paths\n", s->last ? "last" : "whole");
		fprintf(out, "%7s  ", text_share(a, own[most], v->whole));
		ok = put_path(m, most, s->width > 40 ? s->width - 10 : 30, out);
		putc('\n', out);
		own[most] = 0;
	}
	free(own);
	return ok;
}

bool live_tables_paths(const struct live_screen *s, size_t n, FILE *out)
{
	const struct model *m = s->last ? s->last : s->whole;
	const uint32_t metric = live_metric(m);
	struct view_values v;
	if (metric == MODEL_NONE)
		return true;
	if (!view_values_open(m, metric, &v))
		return false;
	const bool ok = v.whole <= 0 || put_paths(s, m, &v, n, out);
	view_values_close(&v);
	return ok;
}
