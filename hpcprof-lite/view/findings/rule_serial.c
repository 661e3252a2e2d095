/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serial parts of threaded programs (G. Amdahl, AFIPS 1967): one thread works, the others have
 * nothing to do. Doc: doc/findings.md#serial. Test: tests/unit/prof/test_findings_regions.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdlib.h>

/* Where main threads work outside of parallel regions. */
static bool put_places(const struct finding_run *r, struct finding *f)
{
	const struct model *m = r->m;
	double *weights = finding_weights(m);
	if (!weights)
		return false;
	for (uint32_t p = 0; p < m->n_profiles; p++)
		for (size_t i = 0; !m->profiles[p].thread && i < m->profiles[p].n_values; i++) {
			const struct model_value *v = &m->profiles[p].values[i];
			const struct model_context *c = &m->contexts[v->context];
			if (m->metrics[v->metric].is_time && c->activity == MODEL_WORK &&
			    !r->in_region[v->context])
				weights[v->context] += v->at[MODEL_POINT];
		}
	finding_places(r, f, weights);
	free(weights);
	return true;
}

/*
 * With N threads, N - 1 of them lose the serial time S. Spread over all of them, it would take
 * S / N; the loss S - S / N is what the account has, divided by N. A thread that waited for a
 * processor ends later than the others, who then have nothing to do: that is no serial part.
 */
bool rule_serial(struct finding_run *r, struct findings *to)
{
	const struct view_processors *p = &r->account;
	struct finding f = finding_begin("serial", "a part that only one thread computes",
					 "parallelise it, or let it run beside other work");
	if (p->capacity <= 0 || p->n_threads < 2 || p->n_ranks > 1 || r->has_new_threads)
		return true;
	const double ready = finding_lost(r, MODEL_NO_CPU),
		     not_there = finding_lost(r, VIEW_USE_NO_THREAD) - ready,
		     lost = finding_lost(r, MODEL_OMP_IDLE) + (not_there > 0 ? not_there : 0) -
			    r->by_balance - r->by_regions;
	const double n = r->lanes > 1 ? r->lanes : 2;
	if (!finding_is_large(r, lost))
		return true;
	finding_fact(&f, "serial time", MODEL_SECONDS, lost * n / (n - 1));
	finding_fact(&f, "threads", MODEL_COUNT, p->n_threads);
	return put_places(r, &f) && finding_add(r, to, &f, lost, lost / 2, lost, lost);
}
