/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections "totals" and "values": what counts at a context itself, over all threads and by
 * thread. The page sums up. Test: tests/cli/sink/sink_html.sh.
 */
#include "hpcprof-lite/sink/html/html.h"
#include "hpcprof-lite/sink/html/html_sink.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "common/base/vec.h"

#include <math.h>
#include <string.h>

bool html_is_comparison(const struct html *h)
{
	const struct sink_html_settings *settings = h->o->settings;
	return settings && settings->is_comparison;
}

double html_scale(const struct html *h, const struct model_metric *metric)
{
	return strcmp(metric->unit, "sec") == 0 ? 1e9 : html_is_comparison(h) ? 1e3 : 1;
}

/* One value; several contexts that are left out may add to the one that is kept for them. */
struct row {
	uint32_t context, metric;
	double value;
	uint64_t n_samples;
};

struct rows {
	VEC(struct row) list;
	struct map index; /* (context, metric) -> row */
	bool failed;
};

static void add(struct rows *r, const struct html_tree *t, const struct row *from)
{
	uint32_t context = t->kept[from->context];
	uint64_t at = map_put(&r->index, context, from->metric, r->list.n);
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
static void put_rows(struct html *h, struct rows *r, bool counts)
{
	struct html_section *s = &h->section;
	uint32_t last = 0;
	html_put_number(s, r->list.n);
	for (size_t i = 0; i < r->list.n; i++) {
		const struct row *row = &r->list.at[i];
		double value = row->value * html_scale(h, &h->m->metrics[row->metric]);
		html_put_delta(s, (int64_t)row->context - last);
		html_put_number(s, row->metric);
		html_put_number(s, value > 0 ? (uint64_t)llround(value) : 0);
		if (counts)
			html_put_number(s, row->n_samples);
		last = row->context;
	}
	vec_clear(&r->list);
	map_free(&r->index);
	r->index = (struct map){0};
}

/* Threads beyond the bound have no values of their own in the page. It says so. */
static void put_profile(struct html *h, const struct model_profile *p, struct rows *r)
{
	const bool has_room = h->n_values < HTML_MAX_VALUES;
	h->threads_left_out += !has_room && p->n_values;
	for (size_t i = 0; has_room && i < p->n_values; i++) {
		const struct model_value *v = &p->values[i];
		if (v->at[MODEL_POINT] != 0)
			add(r, &h->tree,
			    &(struct row){v->context, v->metric, v->at[MODEL_POINT], 0});
	}
	model_values_done(h->m, p->n_values);
	h->n_values += r->list.n;
	put_rows(h, r, false);
}

enum status html_write_values(struct html *h)
{
	const struct model *m = h->m;
	struct rows rows = {0};
	html_section_begin(&h->section, &h->packer, "totals");
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if (t->sum[MODEL_POINT] != 0)
			add(&rows, &h->tree,
			    &(struct row){t->context, t->metric, t->sum[MODEL_POINT],
					  t->n_samples});
	}
	put_rows(h, &rows, true);
	enum status status = html_section_end(&h->section);
	if (status == STATUS_OK) {
		html_section_begin(&h->section, &h->packer, "values");
		for (uint32_t i = 0; i < m->n_profiles; i++)
			put_profile(h, &m->profiles[i], &rows);
		status = html_section_end(&h->section);
	}
	if (rows.failed && status == STATUS_OK) {
		log_error(h->o->directory, "out of memory");
		status = STATUS_NO_MEMORY;
	}
	vec_free(&rows.list);
	map_free(&rows.index);
	return status;
}
