/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_values.h. Test: tests/unit/prof/test_view_table.c. */
#include "hpcprof-lite/view/view_values.h"

#include <stdlib.h>

uint32_t view_find_metric(const struct model *m, enum model_metric_role role)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].role == role)
			return i;
	return MODEL_NONE;
}

double view_total(const struct model *m, uint32_t metric)
{
	const struct model_total *t = metric != MODEL_NONE ? model_find_total(m, 0, metric) : NULL;
	return t ? t->sum[MODEL_EXECUTION] : 0;
}

bool view_values_open(const struct model *m, uint32_t metric, struct view_values *t)
{
	*t = (struct view_values){.metric = metric};
	t->total = calloc(m->n_contexts, sizeof *t->total);
	t->self = calloc(m->n_contexts, sizeof *t->self);
	t->n_samples = calloc(m->n_contexts, sizeof *t->n_samples);
	if (!t->total || !t->self || !t->n_samples) {
		view_values_close(t);
		return false;
	}
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *from = &m->totals[i];
		if (from->metric != metric)
			continue;
		t->total[from->context] = from->sum[MODEL_EXECUTION];
		t->self[from->context] = from->sum[MODEL_POINT];
		t->n_samples[from->context] = from->n_samples;
		t->n_all += from->n_samples;
	}
	t->whole = t->total[0];
	return true;
}

void view_values_close(struct view_values *t)
{
	free(t->total);
	free(t->self);
	free(t->n_samples);
	*t = (struct view_values){0};
}

void view_values_need_samples(const struct model *m, struct view_values *v, unsigned n)
{
	const struct model_metric *k = &m->metrics[v->metric];
	if (k->kind != MODEL_METRIC_SAMPLED || k->measures == MODEL_EVENT_OFFCPU ||
	    k->measures == MODEL_EVENT_BLAME)
		return;
	v->least = v->n_all > n ? v->whole * (n - 0.5) / (double)v->n_all
				: v->whole * (1 - 1e-9); /* sums are rounded */
}
