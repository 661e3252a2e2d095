/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections "totals" and "values": what counts at a context itself, over all threads and by
 * thread. The page sums up. Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"
#include "hpcprof-lite/sink/html/html_parts.h"
#include "hpcprof-lite/sink/html/html_sink.h"

#include "common/base/map.h"
#include "common/base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool html_is_comparison(const struct html *h)
{
	const struct sink_html_settings *settings = h->o->settings;
	return settings && settings->comparison;
}

double html_scale(const struct html *h, const struct model_metric *metric)
{
	double scale = model_unit_scale(metric->unit);
	return scale > 1 ? scale : html_is_comparison(h) ? 1e3 : 1;
}

/* One value; several contexts that are left out may add to the one that is kept for them. */
struct row {
	uint32_t context, metric;
	double value;
	uint64_t n_samples;
};

/* The rows of one worker. */
struct rows {
	VEC(struct row) list;
	struct map index; /* (context, metric) -> row, if contexts are left out */
	bool failed;
};

struct values {
	struct html *h;
	double *scale;     /* by metric */
	struct rows *rows; /* by worker */
};

static void add(struct rows *r, const struct html_tree *t, const struct row *from)
{
	uint32_t context = t->kept[from->context];
	uint64_t at =
		t->least > 0 ? map_put(&r->index, context, from->metric, r->list.n) : r->list.n;
	struct row *row = NULL;
	if (at != MAP_NONE)
		row = at == r->list.n ? vec_push(&r->list) : &r->list.at[at];
	if (!row) {
		r->failed = true;
		return;
	}
	row->context = context;
	row->metric = from->metric;
	row->value += from->value;
	row->n_samples += from->n_samples;
}

/* Writes the rows and empties them. `counts`: with the number of samples. */
static void write_rows(const struct values *v, struct rows *r, bool counts, struct html_part *p)
{
	uint32_t last = 0;
	html_part_number(p, r->list.n);
	for (size_t i = 0; i < r->list.n; i++) {
		const struct row *row = &r->list.at[i];
		double value = row->value * v->scale[row->metric];
		html_part_number(p, html_zigzag((int64_t)row->context - last));
		html_part_number(p, row->metric);
		html_part_number(p, value > 0 ? (uint64_t)llround(value) : 0);
		if (counts)
			html_part_number(p, row->n_samples);
		last = row->context;
	}
	p->n_items = r->list.n;
	p->failed |= r->failed;
	vec_clear(&r->list);
	map_free(&r->index);
	r->index = (struct map){0};
}

static void write_totals(const struct values *v)
{
	const struct model *m = v->h->m;
	struct html_part part = {0};
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if (t->sum[MODEL_POINT] != 0)
			add(v->rows, &v->h->tree,
			    &(struct row){t->context, t->metric, t->sum[MODEL_POINT],
					  t->n_samples});
	}
	write_rows(v, v->rows, true, &part);
	html_put(&v->h->section, part.at, part.n);
	v->h->failed |= part.failed;
	vec_free(&part);
}

static void make_profile(void *arg, uint32_t profile, unsigned worker, struct html_part *part)
{
	const struct values *v = arg;
	const struct model_profile *p = &v->h->m->profiles[profile];
	if (v->h->n_values >= HTML_MAX_VALUES)
		return;
	for (size_t i = 0; i < p->n_values; i++) {
		const struct model_value *from = &p->values[i];
		if (from->at[MODEL_POINT] != 0)
			add(&v->rows[worker], &v->h->tree,
			    &(struct row){from->context, from->metric, from->at[MODEL_POINT], 0});
	}
	model_values_done(v->h->m, p->n_values);
	write_rows(v, &v->rows[worker], false, part);
}

/* Threads beyond the bound have no values of their own in the page. It says so. */
static void put_profile(void *arg, uint32_t profile, const struct html_part *part)
{
	const struct values *v = arg;
	struct html *h = v->h;
	if (h->n_values < HTML_MAX_VALUES) {
		h->n_values += part->n_items;
		html_put(&h->section, part->at, part->n);
	} else {
		h->threads_left_out += h->m->profiles[profile].n_values != 0;
		html_put_number(&h->section, 0);
	}
}

static bool begin(struct values *v)
{
	const struct html *h = v->h;
	v->scale = calloc((size_t)h->m->n_metrics + 1, sizeof *v->scale);
	v->rows = calloc(h->packer.n_workers, sizeof *v->rows);
	for (uint32_t i = 0; v->scale && i < h->m->n_metrics; i++)
		v->scale[i] = html_scale(h, &h->m->metrics[i]);
	v->h->failed |= !v->scale || !v->rows;
	return v->scale && v->rows;
}

static void end(struct values *v)
{
	for (unsigned i = 0; v->rows && i < v->h->packer.n_workers; i++) {
		vec_free(&v->rows[i].list);
		map_free(&v->rows[i].index);
	}
	free(v->rows);
	free(v->scale);
}

enum status html_write_totals(struct html *h)
{
	struct values v = {.h = h};
	html_section_begin(&h->section, &h->packer, "totals");
	if (begin(&v))
		write_totals(&v);
	end(&v);
	return html_section_end(&h->section);
}

enum status html_write_values(struct html *h)
{
	struct values v = {.h = h};
	html_section_begin(&h->section, &h->packer, "values");
	if (begin(&v))
		html_parts_write(h, &(struct html_parts){&v, make_profile, put_profile});
	end(&v);
	return html_section_end(&h->section);
}
