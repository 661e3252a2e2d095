/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPUs: the advice of view/advice, and operations that the driver refused. Doc: doc/advice.md.
 * Test: tests/cli/gpu/advice_golden.sh.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include "hpcprof-lite/view/advice/view_advice.h"

#include <stdio.h>
#include <stdlib.h>

static double saved(double seconds, double factor)
{
	return factor > 1 ? seconds * (1 - 1 / factor) : 0;
}

/* The time of all devices, as elapsed time of the run. */
static bool add_advice(struct finding_run *r, const struct view_advice *a, double n_devices,
		       struct findings *to)
{
	const struct model *m = r->m;
	struct finding f = finding_begin(view_advice_key(a->kind), view_advice_title(a->kind),
					 view_advice_cure(a->kind));
	const double seconds = a->seconds / n_devices, likely = saved(seconds, a->factor.likely);
	if (!finding_is_large(r, likely))
		return true;
	f.function = a->function;
	f.is_advice = true;
	if (a->function < m->n_functions)
		snprintf(f.subject, sizeof f.subject, "%s", m->functions[a->function].name);
	else
		snprintf(f.subject, sizeof f.subject, "GPU %u",
			 m->gpu_devices[a->device].ordinal);
	memcpy(f.facts, a->facts, sizeof f.facts);
	memcpy(f.places, a->places, sizeof f.places);
	f.n_facts = a->n_facts;
	f.n_places = a->n_places;
	return finding_add(r, to, &f, likely, saved(seconds, a->factor.low), likely,
			   saved(seconds, a->factor.high));
}

static bool add_all(struct finding_run *r, struct findings *to)
{
	struct view_gpu g;
	struct view_advices a;
	if (!view_gpu_open(r->m, &g))
		return false;
	bool ok = view_advice_make(r->m, &g, &a);
	view_gpu_close(&g);
	if (!ok)
		return false;
	const double n = r->m->n_gpu_devices ? r->m->n_gpu_devices : 1;
	for (size_t i = 0; ok && i < a.rows.n; i++)
		ok = add_advice(r, &a.rows.at[i], n, to);
	view_advice_free(&a);
	return ok;
}

static bool refused(struct finding_run *r, struct findings *to)
{
	struct finding f = finding_begin("gpu-refused", "GPU operations that the driver refused",
					 "check what each call and cudaGetLastError() return");
	const uint32_t metric = view_find_metric(r->m, MODEL_ROLE_REFUSED);
	const double n = view_total(r->m, metric);
	if (n <= 0)
		return true;
	double *weights = finding_weights(r->m);
	if (!weights)
		return false;
	for (size_t i = 0; i < r->m->n_totals; i++)
		if (r->m->totals[i].metric == metric)
			weights[r->m->totals[i].context] += r->m->totals[i].sum[MODEL_POINT];
	finding_places(r, &f, weights);
	free(weights);
	finding_fact(&f, "operations", MODEL_COUNT, n);
	return finding_add(r, to, &f, 0, 0, 0, 0);
}

bool rule_gpu(struct finding_run *r, struct findings *to)
{
	return !r->m->has_gpu || (add_all(r, to) && refused(r, to));
}
