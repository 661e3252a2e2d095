/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_energy.h. Test: tests/unit/prof_gpu/test_gpu_energy.c. */
#include "hpcprof-lite/view/view_energy.h"

#include "hpcprof-lite/view/view_values.h"

#include <stdlib.h>

static int compare_rows(const void *pa, const void *pb)
{
	const struct view_energy_row *a = pa, *b = pb;
	if (a->joules != b->joules)
		return a->joules < b->joules ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

bool view_energy_rows_make(const struct model *m, struct view_energy_rows *r)
{
	const uint32_t energy = view_find_metric(m, MODEL_ROLE_ENERGY),
		       shared = view_find_metric(m, MODEL_ROLE_ENERGY_SHARED),
		       time = view_find_metric(m, MODEL_ROLE_GPU_TIME),
		       read = view_find_metric(m, MODEL_ROLE_ENERGY_TIME);
	size_t n = 0;
	*r = (struct view_energy_rows){.at = calloc((size_t)m->n_functions + 1, sizeof *r->at)};
	if (!r->at)
		return false;
	for (uint32_t i = 0; i < m->n_functions; i++)
		r->at[i].function = i;
	for (size_t i = 0; energy != MODEL_NONE && i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		uint32_t function = m->contexts[t->context].function;
		if (function >= m->n_functions || t->sum[MODEL_POINT] <= 0)
			continue;
		struct view_energy_row *row = &r->at[function];
		row->joules += t->metric == energy ? t->sum[MODEL_POINT] : 0;
		row->shared_joules += t->metric == shared ? t->sum[MODEL_POINT] : 0;
		row->seconds += t->metric == time ? t->sum[MODEL_POINT] : 0;
		row->read_seconds += t->metric == read ? t->sum[MODEL_POINT] : 0;
	}
	for (uint32_t i = 0; i < m->n_functions; i++)
		if (r->at[i].joules > 0) {
			r->joules += r->at[i].joules;
			r->at[n++] = r->at[i];
		}
	r->n = n;
	if (n)
		qsort(r->at, n, sizeof *r->at, compare_rows);
	return true;
}

void view_energy_rows_free(struct view_energy_rows *r)
{
	free(r->at);
	*r = (struct view_energy_rows){0};
}
