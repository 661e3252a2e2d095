/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See view_hot.h. One pass over contexts and totals at the same time. Test:
 * tests/unit/prof/test_view_gpu.c, tests/cli/prof/prof_gpu_pc.sh.
 */
#include "hpcprof-lite/view/view_hot.h"

#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_launch.h"

#include <stdlib.h>

#define NONE SIZE_MAX

struct gathering {
	const struct model *m;
	struct view_hot *h;
	uint32_t samples, apportioned, seconds, launches, measured, expected; /* metrics */
	uint32_t *stall_of; /* by metric: index into stalls, MODEL_NONE */
	struct map kernels, lines, launchers;
};

/* ---- stall reasons ---- */

static bool list_stalls(struct gathering *g)
{
	const struct model *m = g->m;
	g->h->stalls = malloc((m->n_metrics + 1) * sizeof *g->h->stalls);
	g->stall_of = malloc((m->n_metrics + 1) * sizeof *g->stall_of);
	for (uint32_t i = 0; g->h->stalls && g->stall_of && i < m->n_metrics; i++) {
		g->stall_of[i] = MODEL_NONE;
		if (m->metrics[i].role < MODEL_ROLE_ISSUED ||
		    m->metrics[i].role > MODEL_ROLE_STALL_IDLE)
			continue;
		g->stall_of[i] = g->h->n_stalls;
		g->h->stalls[g->h->n_stalls++] = i;
	}
	return g->h->stalls && g->stall_of;
}

uint32_t view_hot_idle_part(const struct model *m, const struct view_hot *h, uint32_t stall)
{
	const struct model_metric *k = &m->metrics[h->stalls[stall]];
	uint32_t i = k->role == MODEL_ROLE_STALL && k->idle != MODEL_NONE ? 0 : h->n_stalls;
	while (i < h->n_stalls && h->stalls[i] != k->idle)
		i++;
	return i;
}

bool view_hot_is_issued(const struct model *m, const struct view_hot *h, uint32_t stall)
{
	return m->metrics[h->stalls[stall]].role == MODEL_ROLE_ISSUED;
}

static int compare_ranked(const void *pa, const void *pb)
{
	const struct view_hot_reason *a = pa, *b = pb;
	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return (a->stall > b->stall) - (a->stall < b->stall);
}

size_t view_hot_rank(const struct model *m, const struct view_hot *h, size_t values,
		     struct view_hot_reason *to)
{
	size_t n = 0;
	for (uint32_t i = 0; i < h->n_stalls; i++)
		if (m->metrics[h->stalls[i]].role != MODEL_ROLE_STALL_IDLE &&
		    h->values.at[values + i] > 0)
			to[n++] = (struct view_hot_reason){i, h->values.at[values + i]};
	if (n)
		qsort(to, n, sizeof *to, compare_ranked);
	return n;
}

/* ---- gathering ---- */

static size_t new_stalls(struct view_hot *h)
{
	size_t first = h->values.n;
	double *at = vec_extend(&h->values, h->n_stalls + 1);
	for (uint32_t i = 0; at && i <= h->n_stalls; i++)
		at[i] = 0;
	return at ? first : NONE;
}

static size_t get_kernel(struct gathering *g, uint32_t function)
{
	uint64_t id = map_put(&g->kernels, function, 0, g->h->kernels.n);
	if (id != g->h->kernels.n)
		return id == MAP_NONE ? NONE : (size_t)id;
	size_t stalls = new_stalls(g->h);
	struct view_hot_kernel *new = stalls == NONE ? NULL : vec_push(&g->h->kernels);
	if (!new)
		return NONE;
	*new = (struct view_hot_kernel){.function = function, .stalls = stalls};
	return (size_t)id;
}

/* A line is a function, file and number. Without a line, it is the whole function. */
static size_t get_line(struct gathering *g, size_t kernel, uint32_t context)
{
	const struct model_context *c = &g->m->contexts[context];
	bool has_line = c->kind == MODEL_CONTEXT_LINE;
	uint64_t a = (uint64_t)kernel << 32 | c->function,
		 b = has_line ? (uint64_t)c->file << 32 | c->line : UINT64_MAX;
	uint64_t id = map_put(&g->lines, a, b, g->h->lines.n);
	if (id != g->h->lines.n)
		return id == MAP_NONE ? NONE : (size_t)id;
	size_t stalls = new_stalls(g->h);
	struct view_hot_line *new = stalls == NONE ? NULL : vec_push(&g->h->lines);
	if (!new)
		return NONE;
	*new = (struct view_hot_line){
		.kernel = (uint32_t)kernel, .context = context, .stalls = stalls};
	return (size_t)id;
}

static size_t get_launcher(struct gathering *g, size_t kernel, uint32_t context)
{
	struct view_launch launch = view_launch_of(g->m, context);
	uint32_t at = launch.site, node = launch.node;
	const struct model_context *c = &g->m->contexts[at];
	uint64_t a = hash_u64((uint64_t)kernel << 32 |
			      (node != MODEL_NONE ? g->m->contexts[node].function : MODEL_NONE)) ^
		     c->function,
		 b = c->kind == MODEL_CONTEXT_LINE
			     ? (uint64_t)c->file << 32 | c->line
			     : UINT64_MAX - (c->kind == MODEL_CONTEXT_ENTRY ? at : 0);
	uint64_t id = map_put(&g->launchers, launch.is_on_guess ? ~a : a, b, g->h->launchers.n);
	if (id != g->h->launchers.n)
		return id == MAP_NONE ? NONE : (size_t)id;
	struct view_hot_launcher *new = vec_push(&g->h->launchers);
	if (new)
		*new = (struct view_hot_launcher){.kernel = (uint32_t)kernel,
						  .context = at,
						  .node = node,
						  .on_guess = launch.is_on_guess};
	return new ? (size_t)id : NONE;
}

/* A value at a context in a kernel. */
static bool add(struct gathering *g, size_t kernel, size_t launcher, uint32_t context,
		uint32_t metric, double value)
{
	struct view_hot_kernel *k = &g->h->kernels.at[kernel];
	struct view_hot_launcher *l = &g->h->launchers.at[launcher];
	uint32_t stall = g->stall_of[metric];
	double *of_kernel = metric == g->samples       ? &k->samples
			    : metric == g->apportioned ? &k->apportioned
			    : metric == g->seconds     ? &k->seconds
			    : metric == g->launches    ? &k->n
			    : metric == g->measured    ? &k->measured
			    : metric == g->expected    ? &k->expected
						       : NULL;
	double *of_launcher = metric == g->samples       ? &l->samples
			      : metric == g->apportioned ? &l->apportioned
			      : metric == g->seconds     ? &l->seconds
			      : metric == g->launches    ? &l->n
							 : NULL;
	if (of_kernel)
		*of_kernel += value;
	if (of_launcher)
		*of_launcher += value;
	if (stall != MODEL_NONE)
		g->h->values.at[k->stalls + stall] += value;
	if (metric != g->samples && stall == MODEL_NONE)
		return true;
	size_t line = get_line(g, kernel, context);
	if (line == NONE)
		return false;
	struct view_hot_line *to = &g->h->lines.at[line];
	if (stall != MODEL_NONE) {
		g->h->values.at[to->stalls + stall] += value;
		return true;
	}
	to->samples += value;
	if (value > to->most) {
		to->most = value;
		to->context = context;
	}
	return true;
}

/* Totals and contexts are both in preorder. */
static bool gather(struct gathering *g)
{
	const struct model *m = g->m;
	size_t kernel = NONE, launcher = NONE;
	uint32_t context = 0, end = 0;
	for (size_t i = 0; i < m->n_totals; i++) {
		for (; context <= m->totals[i].context; context++) {
			if (!view_is_kernel(m, context))
				continue;
			kernel = get_kernel(g, m->contexts[context].function);
			launcher = kernel == NONE ? NONE : get_launcher(g, kernel, context);
			if (launcher == NONE)
				return false;
			end = context + m->contexts[context].subtree_n;
		}
		if (m->totals[i].context < end && m->totals[i].sum[MODEL_POINT] != 0 &&
		    !add(g, kernel, launcher, m->totals[i].context, m->totals[i].metric,
			 m->totals[i].sum[MODEL_POINT]))
			return false;
	}
	return true;
}

/* ---- order ---- */

static int compare_kernels(const void *pa, const void *pb)
{
	const struct view_hot_kernel *a = pa, *b = pb;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

static int compare_lines(const void *pa, const void *pb)
{
	const struct view_hot_line *a = pa, *b = pb;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

static int compare_launchers(const void *pa, const void *pb)
{
	const struct view_hot_launcher *a = pa, *b = pb;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->context > b->context) - (a->context < b->context);
}

/*
 * Puts the lines and launchers of each kernel next to each other, sorts the kernels, and drops
 * those without samples.
 */
static void put_in_order(struct view_hot *h)
{
	size_t kept = 0;
	if (h->lines.n)
		qsort(h->lines.at, h->lines.n, sizeof *h->lines.at, compare_lines);
	if (h->launchers.n)
		qsort(h->launchers.at, h->launchers.n, sizeof *h->launchers.at, compare_launchers);
	for (size_t i = h->lines.n; i-- > 0; h->kernels.at[h->lines.at[i].kernel].first_line = i)
		h->kernels.at[h->lines.at[i].kernel].n_lines++;
	for (size_t i = h->launchers.n; i-- > 0;
	     h->kernels.at[h->launchers.at[i].kernel].first_launcher = i)
		h->kernels.at[h->launchers.at[i].kernel].n_launchers++;
	for (size_t i = 0; i < h->kernels.n; i++)
		if (h->kernels.at[i].samples > 0)
			h->kernels.at[kept++] = h->kernels.at[i];
	h->kernels.n = kept;
	if (kept)
		qsort(h->kernels.at, kept, sizeof *h->kernels.at, compare_kernels);
}

bool view_hot_open(const struct model *m, struct view_hot *h)
{
	*h = (struct view_hot){0};
	struct gathering g = {.m = m,
			      .h = h,
			      .samples = view_find_metric(m, MODEL_ROLE_SAMPLES),
			      .apportioned = view_find_metric(m, MODEL_ROLE_APPORTIONED),
			      .seconds = view_find_metric(m, MODEL_ROLE_KERNEL_TIME),
			      .launches = view_find_metric(m, MODEL_ROLE_KERNELS),
			      .measured = view_find_metric(m, MODEL_ROLE_MEASURED),
			      .expected = view_find_metric(m, MODEL_ROLE_EXPECTED)};
	if (g.samples == MODEL_NONE)
		return true;
	bool ok = list_stalls(&g) && gather(&g);
	map_free(&g.kernels);
	map_free(&g.lines);
	map_free(&g.launchers);
	free(g.stall_of);
	h->samples = view_total(m, g.samples);
	h->apportioned = view_total(m, g.apportioned);
	if (ok)
		put_in_order(h);
	else
		view_hot_close(h);
	return ok;
}

void view_hot_close(struct view_hot *h)
{
	vec_free(&h->kernels);
	vec_free(&h->lines);
	vec_free(&h->launchers);
	vec_free(&h->values);
	free(h->stalls);
	*h = (struct view_hot){0};
}
