/* SPDX-License-Identifier: BSD-3-Clause */
/* See html_reduce.h. Test: tests/unit/sink/test_sink_html.c. */
#include "hpcprof-lite/sink/html/html_reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest share of each context in any metric. It never grows from a caller to its callees. */
static bool find_shares(const struct model *m, float *share)
{
	double *whole = calloc(m->n_metrics ? m->n_metrics : 1, sizeof *whole);
	if (!whole)
		return false;
	for (size_t i = 0; i < m->n_totals && m->totals[i].context == 0; i++)
		whole[m->totals[i].metric] = m->totals[i].sum[MODEL_EXECUTION];
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if (whole[t->metric] <= 0)
			continue;
		float s = (float)(t->sum[MODEL_EXECUTION] / whole[t->metric]);
		if (s > share[t->context])
			share[t->context] = s;
	}
	free(whole);
	/* Rounding must not make a caller smaller than its callee. */
	for (uint32_t i = m->n_contexts; i-- > 1;)
		if (share[m->contexts[i].parent] < share[i])
			share[m->contexts[i].parent] = share[i];
	return true;
}

static int compare_falling(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return x < y ? 1 : x > y ? -1 : 0;
}

/*
 * Sets the least share with which at most `n` contexts remain. `falling`: the shares in falling
 * order, made at the first call that needs them.
 */
static bool find_least(const float *share, uint32_t n_contexts, uint32_t n, float **falling,
		       float *least)
{
	*least = 0;
	if (n_contexts <= n)
		return true;
	if (!*falling && (*falling = malloc(n_contexts * sizeof **falling))) {
		memcpy(*falling, share, n_contexts * sizeof *share);
		qsort(*falling, n_contexts, sizeof **falling, compare_falling);
	}
	if (*falling)
		*least = nextafterf((*falling)[n], INFINITY);
	return *falling != NULL;
}

static void number(const struct model *m, const float *share, float least, struct html_tree *t)
{
	t->n = 0;
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		t->is_kept[i] = i == 0 || share[i] >= least;
		t->kept[i] = t->is_kept[i] ? t->n++ : t->kept[m->contexts[i].parent];
	}
	t->least = least;
}

/* By context: the values of profiles at the context itself. The caller owns it. */
static uint64_t *count_values(const struct model *m)
{
	uint64_t *n = calloc(m->n_contexts + 1, sizeof *n);
	for (uint32_t p = 0; n && p < m->n_profiles; p++) {
		for (size_t i = 0; i < m->profiles[p].n_values; i++) {
			const struct model_value *v = &m->profiles[p].values[i];
			n[v->context] += v->at[MODEL_POINT] != 0;
		}
		model_values_done(m, m->profiles[p].n_values);
	}
	return n;
}

static uint64_t count_kept(const struct model *m, const struct html_tree *t,
			   const uint64_t *n_values)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < m->n_contexts; i++)
		n += t->is_kept[i] ? n_values[i] : 0;
	return n;
}

bool html_tree_make(const struct model *m, uint32_t max_contexts, uint64_t max_values,
		    struct html_tree *t)
{
	float *share = calloc(m->n_contexts + 1, sizeof *share), *falling = NULL, least;
	*t = (struct html_tree){.kept = calloc(m->n_contexts + 1, sizeof *t->kept),
				.is_kept = calloc(m->n_contexts + 1, sizeof *t->is_kept)};
	uint64_t *n_values = count_values(m);
	bool ok = share && n_values && t->kept && t->is_kept && find_shares(m, share);
	for (uint32_t most = max_contexts; ok; most /= 2) {
		ok = find_least(share, m->n_contexts, most, &falling, &least);
		if (ok)
			number(m, share, least, t);
		t->n_values = ok ? count_kept(m, t, n_values) : 0;
		if (t->n_values <= max_values || most < 1000)
			break;
	}
	free(share);
	free(falling);
	free(n_values);
	return ok;
}

void html_tree_free(struct html_tree *t)
{
	free(t->kept);
	free(t->is_kept);
	*t = (struct html_tree){0};
}

bool html_takes_sample(struct html_thinning *t, const struct model *m, const struct model_sample *s)
{
	/* the second record of a wait may be missing: then the next wait decides for itself */
	const bool is_end = t->is_open && model_ends_wait(m, s) &&
			    (s->context == t->wait || !model_is_wait(m, s)),
		   is_taken = is_end ? t->is_taken : t->n_seen++ % t->stride == 0;
	if (model_ends_wait(m, s)) {
		t->is_open = model_is_wait(m, s) && !(is_end && s->context == t->wait);
		t->wait = s->context;
		t->is_taken = is_taken;
	}
	return is_taken;
}
