/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_tree.h. Test: tests/unit/test_view_tree.c, tests/unit/sink/test_text.c. */
#include "hpcprof-lite/view/view_tree.h"

#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_start.h"

#include <stdlib.h>
#include <string.h>

/* ---- GPU time ---- */

bool view_gpu_values_open(const struct model *m, uint32_t metric, struct view_gpu_values *g,
			  bool *any)
{
	uint32_t time = view_find_metric(m, MODEL_ROLE_GPU_TIME),
		 kernels = view_find_metric(m, MODEL_ROLE_KERNELS),
		 samples = view_find_metric(m, MODEL_ROLE_SAMPLES);
	*g = (struct view_gpu_values){0};
	*any = m->has_gpu && m->metrics[metric].kind == MODEL_METRIC_SAMPLED &&
	       view_total(m, time) > 0;
	if (!*any)
		return true;
	if (!view_values_open(m, time, &g->time) || !view_values_open(m, kernels, &g->kernels) ||
	    (samples != MODEL_NONE && !view_values_open(m, samples, &g->samples))) {
		view_gpu_values_close(g);
		return false;
	}
	if (samples != MODEL_NONE)
		view_gpu_spread(m, &g->time, &g->samples);
	return true;
}

void view_gpu_values_close(struct view_gpu_values *g)
{
	view_values_close(&g->time);
	view_values_close(&g->kernels);
	view_values_close(&g->samples);
}

bool view_gpu_values_spread(const struct model *m, struct view_values *v)
{
	unsigned role = m->metrics[v->metric].role;
	uint32_t metric = view_find_metric(m, MODEL_ROLE_SAMPLES);
	struct view_values samples;
	if (metric == MODEL_NONE || (role != MODEL_ROLE_GPU_TIME && role != MODEL_ROLE_KERNEL_TIME))
		return true;
	if (!view_values_open(m, metric, &samples))
		return false;
	view_gpu_spread(m, v, &samples);
	view_values_close(&samples);
	return true;
}

/* ---- open and close ---- */

/*
 * Gives the values their own copies of the totals, because folding changes them. False if memory is
 * short.
 */
static bool fold_totals(struct view_tree *t, struct view_values *v, double **owned)
{
	if (!t->fold.caller || !v->total)
		return true;
	*owned = malloc(t->m->n_contexts * sizeof **owned);
	if (!*owned)
		return false;
	memcpy(*owned, v->total, t->m->n_contexts * sizeof **owned);
	v->total = *owned;
	view_fold_apply(t->m, &t->fold, v);
	return true;
}

static bool open_guessed(struct view_tree *t)
{
	const struct model *m = t->m;
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (m->metrics[i].kind == MODEL_METRIC_GUESSED &&
		    m->metrics[i].parent == t->values.metric)
			return view_values_open(m, i, &t->guessed);
	return true;
}

bool view_tree_open(const struct model *m, const struct view_values *v,
		    const struct view_gpu_values *gpu, bool folds, double threshold,
		    struct view_tree *t)
{
	*t = (struct view_tree){.m = m, .values = *v, .has_gpu = gpu, .threshold = threshold};
	if (gpu)
		t->gpu = *gpu;
	struct view_values *const borrowed[] = {&t->values, &t->gpu.time, &t->gpu.kernels,
						&t->gpu.samples};
	bool ok = open_guessed(t) && (!folds || view_fold_open(m, &t->fold));
	t->has_guesses = t->guessed.whole > 0;
	for (size_t i = 0; ok && i < sizeof borrowed / sizeof *borrowed; i++)
		ok = fold_totals(t, borrowed[i], &t->owned[i]);
	if (ok)
		view_fold_apply(m, &t->fold, &t->guessed);
	return ok;
}

void view_tree_close(struct view_tree *t)
{
	view_values_close(&t->guessed);
	for (size_t i = 0; i < sizeof t->owned / sizeof *t->owned; i++)
		free(t->owned[i]);
	view_fold_close(&t->fold);
}

/* ---- items ---- */

double view_item_value(const struct view_values *v, const struct view_item *i)
{
	return i->is_line ? v->self[i->context] : v->total[i->context];
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static double weight(const struct view_tree *t, const struct view_item *i)
{
	double value = view_item_value(&t->values, i);
	if (!t->has_gpu)
		return value;
	double cpu = share(value, t->values.whole),
	       gpu = share(view_item_value(&t->gpu.time, i), t->gpu.time.whole);
	return cpu > gpu ? cpu : gpu;
}

static bool is_large(const struct view_tree *t, const struct view_values *v, double value)
{
	return value > 0 && value >= t->threshold * v->whole && value >= v->least;
}

static bool add_item(const struct view_tree *t, uint32_t context, bool is_line, view_items *to)
{
	struct view_item i = {context, is_line};
	if (!is_large(t, &t->values, view_item_value(&t->values, &i)) &&
	    !(t->has_gpu && is_large(t, &t->gpu.time, view_item_value(&t->gpu.time, &i))))
		return true;
	struct view_item *at = vec_push(to);
	if (at)
		*at = i;
	return at != NULL;
}

/*
 * A loop without a line has no row, nor has a frame above main without own value. Their contents
 * are listed in their place.
 */
static bool has_row(const struct view_tree *t, uint32_t context)
{
	const struct model_context *c = &t->m->contexts[context];
	if (c->kind == MODEL_CONTEXT_FUNCTION)
		return !view_is_start_frame(t->m, context) || view_tree_has_self(t, context);
	return c->kind == MODEL_CONTEXT_ENTRY ||
	       (c->kind == MODEL_CONTEXT_LOOP && c->file != MODEL_NONE && c->line);
}

static bool is_folded(const struct view_tree *t, uint32_t context)
{
	return t->fold.is_folded && t->fold.is_folded[context];
}

bool view_tree_is_moved(const struct view_tree *t, uint32_t context)
{
	return t->fold.caller && t->fold.caller[context] != MODEL_NONE;
}

/* Adds the Python functions to which the folded frames below `context` lead. */
static bool add_moved(const struct view_tree *t, uint32_t context, view_items *to)
{
	const struct model_context *all = t->m->contexts;
	bool ok = true;
	for (uint32_t c = context + 1; ok && c < context + all[context].subtree_n;) {
		if (view_tree_is_moved(t, c))
			ok = add_item(t, c, false, to);
		c += is_folded(t, c) ? 1 : all[c].subtree_n;
	}
	return ok;
}

bool view_tree_list(const struct view_tree *t, uint32_t context, view_items *to)
{
	const struct model_context *all = t->m->contexts;
	uint32_t end = context + all[context].subtree_n;
	bool ok = true;
	for (uint32_t c = context + 1; ok && c < end;) {
		if (has_row(t, c)) {
			if (!view_tree_is_moved(t, c))
				ok = add_item(t, c, false, to);
			if (ok && is_folded(t, c) && !is_folded(t, context))
				ok = add_moved(t, c, to);
			c += all[c].subtree_n;
			continue;
		}
		if (all[c].kind == MODEL_CONTEXT_LINE)
			ok = add_item(t, c, true, to);
		c++; /* go inside */
	}
	return ok;
}

static int compare_items(const void *pa, const void *pb, void *arg)
{
	const struct view_tree *t = arg;
	const struct view_item *a = pa, *b = pb;
	double x = weight(t, a), y = weight(t, b);
	if (x != y)
		return x < y ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

void view_tree_sort(const struct view_tree *t, struct view_item *items, size_t n)
{
	if (n)
		qsort_r(items, n, sizeof *items, compare_items, (void *)t);
}

double view_tree_self(const struct view_tree *t, const struct view_values *v, uint32_t context)
{
	const struct model_context *all = t->m->contexts;
	double self = v->self[context];
	for (uint32_t c = context + 1; c < context + all[context].subtree_n;) {
		if (all[c].kind == MODEL_CONTEXT_FUNCTION || all[c].kind == MODEL_CONTEXT_ENTRY) {
			c += all[c].subtree_n;
			continue;
		}
		self += v->self[c++];
	}
	return self;
}

bool view_tree_has_self(const struct view_tree *t, uint32_t context)
{
	return is_large(t, &t->values, view_tree_self(t, &t->values, context)) ||
	       (t->has_gpu && is_large(t, &t->gpu.time, view_tree_self(t, &t->gpu.time, context)));
}
