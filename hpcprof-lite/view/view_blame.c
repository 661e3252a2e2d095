/* SPDX-License-Identifier: BSD-3-Clause */
/* See view_blame.h. Test: tests/unit/prof_gpu/test_blame_text.c. */
#include "hpcprof-lite/view/view_blame.h"

#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_values.h"

#include <stdio.h>
#include <stdlib.h>

struct gathering {
	const struct model *m;
	struct view_blame *b;
	struct map lines; /* (function; file, line) -> number */
	struct map pairs; /* (lines; kernel, rest) -> pairs */
	uint64_t n_lines;
};

/* Equal for contexts of the same line of a function. MAP_NONE: memory is short. */
static uint64_t number_line(struct gathering *g, uint32_t context)
{
	const struct model_context *c = &g->m->contexts[context];
	uint64_t place =
		c->kind == MODEL_CONTEXT_LINE ? (uint64_t)c->file << 32 | c->line : UINT64_MAX;
	uint64_t id = map_put(&g->lines, c->function, place, g->n_lines);
	g->n_lines += id == g->n_lines;
	return id;
}

/* The function of the kernel around a context; MODEL_NONE: it is in no kernel. */
static uint32_t kernel_of(const struct model *m, uint32_t context)
{
	while (context != MODEL_NONE && !view_is_kernel(m, context))
		context = m->contexts[context].parent;
	return context != MODEL_NONE ? m->contexts[context].function : MODEL_NONE;
}

static bool add(struct gathering *g, const struct model_gpu_blame *x)
{
	uint32_t kernel = kernel_of(g->m, x->waiting);
	uint64_t waiting = number_line(g, x->waiting), cause = number_line(g, x->cause);
	if (kernel == MODEL_NONE)
		return true;
	if (waiting == MAP_NONE || cause == MAP_NONE)
		return false;
	uint64_t rest = (uint64_t)x->metric << 15 | (uint64_t)x->kind << 11 |
			(uint64_t)x->operation << 3 | (uint64_t)x->is_chained << 2 |
			(uint64_t)x->is_carried << 1 | x->is_before;
	uint64_t id = map_put(&g->pairs, waiting << 32 | cause, (uint64_t)kernel << 32 | rest,
			      g->b->pairs.n);
	struct view_blame_pair *p = id == MAP_NONE        ? NULL
				    : id == g->b->pairs.n ? vec_push(&g->b->pairs)
							  : &g->b->pairs.at[id];
	if (!p)
		return false;
	/* damaged files may have entries without a sample */
	bool is_new = p->waiting == 0;
	double samples = p->samples + (double)x->n, most = p->most,
	       issued = p->issued + (double)x->n_issued,
	       bytes = p->issued_bytes + (double)x->bytes_issued, cycles = p->cycles + x->cycles;
	if (is_new || (double)x->n > most)
		*p = (struct view_blame_pair){.kernel = kernel,
					      .waiting = x->waiting,
					      .cause = x->cause,
					      .most = (double)x->n,
					      .metric = x->metric,
					      .kind = (enum structure_wait_kind)x->kind,
					      .operation = (enum structure_operation)x->operation,
					      .is_carried = x->is_carried,
					      .is_chained = x->is_chained,
					      .is_before = x->is_before,
					      .is_same_line = waiting == cause};
	p->samples = samples;
	p->issued = issued;
	p->issued_bytes = bytes;
	p->cycles = cycles;
	return true;
}

static bool add_unblamed(struct gathering *g, const struct model_total *t)
{
	uint32_t kernel = kernel_of(g->m, t->context);
	size_t i = 0;
	if (kernel == MODEL_NONE)
		return true;
	while (i < g->b->unblamed.n && g->b->unblamed.at[i].kernel != kernel)
		i++;
	if (i == g->b->unblamed.n && !vec_push(&g->b->unblamed))
		return false;
	g->b->unblamed.at[i].kernel = kernel;
	g->b->unblamed.at[i].samples += t->sum[MODEL_POINT];
	return true;
}

static int compare(const void *pa, const void *pb)
{
	const struct view_blame_pair *a = pa, *b = pb;
	if (a->kernel != b->kernel)
		return a->kernel < b->kernel ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	if (a->waiting != b->waiting)
		return a->waiting < b->waiting ? -1 : 1;
	if (a->cause != b->cause)
		return a->cause < b->cause ? -1 : 1;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	if (a->operation != b->operation)
		return a->operation < b->operation ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->is_chained - b->is_chained) * 4 + (a->is_carried - b->is_carried) * 2 +
	       a->is_before - b->is_before;
}

bool view_blame_open(const struct model *m, struct view_blame *b)
{
	struct gathering g = {.m = m, .b = b};
	bool ok = true;
	*b = (struct view_blame){0};
	for (size_t i = 0; ok && i < m->n_gpu_blames; i++)
		ok = add(&g, &m->gpu_blames[i]);
	uint32_t unblamed = view_find_metric(m, MODEL_ROLE_UNBLAMED);
	for (size_t i = 0; ok && unblamed != MODEL_NONE && i < m->n_totals; i++)
		ok = m->totals[i].metric != unblamed || add_unblamed(&g, &m->totals[i]);
	map_free(&g.lines);
	map_free(&g.pairs);
	if (!ok)
		view_blame_close(b);
	else if (b->pairs.n)
		qsort(b->pairs.at, b->pairs.n, sizeof *b->pairs.at, compare);
	return ok;
}

void view_blame_close(struct view_blame *b)
{
	vec_free(&b->pairs);
	vec_free(&b->unblamed);
}

double view_blame_unblamed(const struct view_blame *b, uint32_t kernel)
{
	for (size_t i = 0; i < b->unblamed.n; i++)
		if (b->unblamed.at[i].kernel == kernel)
			return b->unblamed.at[i].samples;
	return 0;
}

size_t view_blame_find(const struct view_blame *b, uint32_t kernel, size_t *n)
{
	size_t first = 0;
	*n = 0;
	while (first < b->pairs.n && b->pairs.at[first].kernel != kernel)
		first++;
	while (first + *n < b->pairs.n && b->pairs.at[first + *n].kernel == kernel)
		++*n;
	return first;
}

static bool is_around(const struct model *m, uint32_t outer, uint32_t context)
{
	return context >= outer && context < outer + m->contexts[outer].subtree_n;
}

uint32_t view_blame_loop(const struct model *m, const struct view_blame_pair *p)
{
	for (uint32_t c = p->cause; c != MODEL_NONE && !is_around(m, c, p->waiting);
	     c = m->contexts[c].parent)
		if (m->contexts[c].kind == MODEL_CONTEXT_LOOP)
			return c;
	return MODEL_NONE;
}

void view_blame_words(const struct view_blame_pair *p, char *to, size_t n_bytes)
{
	const char *what = structure_operation_name(p->operation),
		   *before = p->is_carried ? " of the iteration before" : "",
		   *where = p->is_same_line ? " in the same line" : " at";
	if (p->is_before)
		snprintf(to, n_bytes, "instruction before,%s", where);
	else if (p->kind == STRUCTURE_WAIT_WARPS)
		snprintf(to, n_bytes, "warps that come from%s",
			 p->is_same_line ? " the same line" : "");
	else if (p->operation == STRUCTURE_CALL)
		snprintf(to, n_bytes, "called function%s%s", before, where);
	else if (p->operation == STRUCTURE_OTHER_OPERATION)
		snprintf(to, n_bytes, "other instruction%s%s", before, where);
	else if (p->kind == STRUCTURE_WAIT_OPERANDS)
		snprintf(to, n_bytes, "operands of %s%s%s", what, before, where);
	else
		snprintf(to, n_bytes, "%s%s%s", what, before, where);
}
